// npm run prove: the long proofs, one after another; each prints its figures and fails by its exit code.
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';

const PROOFS: readonly (readonly string[])[] = [
  ['pull-kills.ts', '50'],
  ['pull-cost.ts', '10000'],
  ['push-kills.ts'],
  ['push-many.ts'],
  ['daemons.ts'],
  ['scale.ts'],
];

for (const [file = '', ...args] of PROOFS) {
  process.stdout.write(`${file}\n`);
  const { status } = spawnSync(process.execPath, [resolve(import.meta.dirname, file), ...args], {
    stdio: 'inherit',
  });
  if (status !== 0) process.exitCode = 1;
}
