// Stores which evidence an executed stop must have, because the view bi_missing_proof cannot read the configuration.
// Written only if it differs.
import type { Engine } from '../engine.ts';
import { controlTable, text } from '../schema/table.ts';

export const proofRule = controlTable({
  name: 'proof_rule',
  meaning: 'The evidence that an executed stop must have, from `proof` in the configuration.',
  key: ['evidence', 'form_name'],
  columns: {
    evidence: text('picture, signature or checklist.'),
    form_name: text('Name of the form of a checklist; empty for other evidence.'),
  },
});

export interface ProofSettings {
  picture: boolean;
  signature: boolean;
  checklists: readonly string[];
}

export async function fillProofRules(engine: Engine, { picture, signature, checklists }: ProofSettings): Promise<void> {
  const wanted = [
    ...(picture ? [{ evidence: 'picture', form_name: '' }] : []),
    ...(signature ? [{ evidence: 'signature', form_name: '' }] : []),
    ...[...new Set(checklists)].map((form_name) => ({ evidence: 'checklist', form_name })),
  ];
  const nameOf = ({ evidence, form_name }: (typeof wanted)[number]): string => `${evidence} ${form_name}`;
  const stored: typeof wanted = await engine.read((sql) => sql('proof_rule').select('evidence', 'form_name'));
  if (new Set([...stored, ...wanted].map(nameOf)).size === wanted.length && stored.length === wanted.length) return;
  await engine.write(async ({ sql }) => {
    await sql('proof_rule').delete();
    for (const row of wanted) await sql('proof_rule').insert(row);
  });
}
