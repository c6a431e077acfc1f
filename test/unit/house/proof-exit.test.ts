// A proof has passed only where it exits with 0 and prints its section; its dependencies must neither change its exit
// code nor keep it from exiting.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { runProof } from '../../support/proofs/run-proof.ts';

const support = (file: string): string => JSON.stringify(resolve(import.meta.dirname, '../../support', file));
const USES = `import { stopPostgres } from ${support('databases/postgres.ts')};
import { giveSection } from ${support('proofs/reliability-page.ts')};
await stopPostgres();
`;
const GIVES = `giveSection('Tiny', 'A body.', { run: 'a', many: 'b', lost: 'c' });
`;
const FAILS = `process.exitCode = 1;
`;
const WAITS = `await new Promise(() => {});
`;

const folder = mkdtempSync(join(tmpdir(), 'roadbook-proofs-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it.for([
  { proof: 'gives its section', script: GIVES, code: 0, hasHeld: true },
  { proof: 'gives none', script: '', code: 0, hasHeld: false },
  { proof: 'gives it and fails', script: GIVES + FAILS, code: 1, hasHeld: false },
  { proof: 'gives it and waits for what never comes', script: GIVES + WAITS, code: 13, hasHeld: false },
])('a proof that uses PostgreSQL and $proof exits with $code', async ({ proof, script, code, hasHeld }) => {
  const file = join(folder, `${proof.replaceAll(' ', '-')}.mjs`);
  writeFileSync(file, USES + script);
  const end = await runProof(file, []);
  expect({ code: end.code, hasHeld: end.section !== undefined }).toEqual({ code, hasHeld });
});
