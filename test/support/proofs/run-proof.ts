// One proof as a process of its own. It has held only if it ended with 0 and gave its section: a proof that stopped in
// the middle has neither failed nor shown anything. Its section counts for nothing where it did not hold.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { SectionDraft } from './reliability-page.ts';

export interface ProofEnd {
  minutes: number;
  code: number | null;
  printed: string;
  /** Of a proof that held. */
  section: SectionDraft | undefined;
}

export async function runProof(file: string, args: readonly string[]): Promise<ProofEnd> {
  const began = Date.now();
  const proof = fork(file, args, { silent: true });
  let section: SectionDraft | undefined;
  proof.on('message', (draft: SectionDraft) => {
    section = draft;
  });
  proof.stderr?.pipe(process.stderr, { end: false });
  const printed = proof.stdout === null ? '' : text(proof.stdout);
  const [code] = (await once(proof, 'close')) as [number | null];
  return {
    minutes: (Date.now() - began) / 60_000,
    code,
    printed: await printed,
    section: code === 0 ? section : undefined,
  };
}
