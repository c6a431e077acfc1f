// Tables that repeat settings for views, which cannot read the configuration. Written only if they differ.
import type { Engine } from '../engine.ts';
import { controlTable, integer, type Table, text } from '../schema/table.ts';

export const tableJob = controlTable({
  name: 'table_job',
  meaning: 'Which job fills which table, and which coverage scopes determine the freshness of the table.',
  key: ['table_name', 'job'],
  columns: {
    table_name: text('Name of the table.'),
    job: text('Name of the job.'),
    scopes: text('Pattern (LIKE) of the scopes in sync_coverage that the job reads with its current settings.', {
      required: true,
    }),
    vehicle_scope: text('The scope of one vehicle, `%` for its id; null if the job does not read by vehicle.'),
    driver_scope: text(
      'The scope of the drivers of one vehicle, `%` for its id; null if the job does not read by driver.',
    ),
    reread_seconds: integer(
      'Seconds after its end in which the job still reads a day again; null if it does not read days.',
    ),
  },
});

export const proofRule = controlTable({
  name: 'proof_rule',
  meaning: 'The evidence that an executed stop must have, from `proof` in the configuration.',
  key: ['evidence', 'form_name'],
  columns: {
    evidence: text('picture, signature or checklist.'),
    form_name: text('Name of the form of a checklist; empty for other evidence.'),
  },
});

export const stopRule = controlTable({
  name: 'stop_rule',
  meaning: 'When a stop is late, from `stops` in the configuration; one row.',
  key: ['late_after_seconds'],
  columns: {
    late_after_seconds: integer('Seconds after its planned time from which a stop is late.'),
  },
});

export type TableJob = Record<'table_name' | 'job' | 'scopes', string> &
  Record<'vehicle_scope' | 'driver_scope', string | null> & { reread_seconds?: number | null };

export const fillTableJobs = (engine: Engine, wanted: readonly TableJob[]): Promise<void> =>
  fill(engine, tableJob, wanted);

interface ProofSettings {
  picture: boolean;
  signature: boolean;
  checklists: readonly string[];
}

export const fillProofRules = (engine: Engine, { picture, signature, checklists }: ProofSettings): Promise<void> =>
  fill(engine, proofRule, [
    ...(picture ? [{ evidence: 'picture', form_name: '' }] : []),
    ...(signature ? [{ evidence: 'signature', form_name: '' }] : []),
    ...[...new Set(checklists)].map((form_name) => ({ evidence: 'checklist', form_name })),
  ]);

export const fillStopRules = (engine: Engine, { lateAfterMs }: { lateAfterMs: number }): Promise<void> =>
  fill(engine, stopRule, [{ late_after_seconds: Math.round(lateAfterMs / 1_000) }]);

async function fill({ read, write }: Engine, { name, columns }: Table, wanted: readonly Record<string, unknown>[]) {
  const names = columns.map((column) => column.name);
  const sorted = (rows: readonly Record<string, unknown>[]): string =>
    JSON.stringify(rows.map((row) => JSON.stringify(names.map((column) => row[column] ?? null))).sort());
  const stored: Record<string, unknown>[] = await read((sql) => sql(name).select(names));
  if (sorted(stored) === sorted(wanted)) return;
  await write(async ({ sql }) => {
    await sql(name).delete();
    for (const row of wanted) await sql(name).insert(row);
  });
}
