// npm run prove: the long proofs, one after another; each prints its figures and fails by its exit code.
//   npm run prove -- --list             names them
//   npm run prove -- --only fuzz        runs one; may be repeated
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

/** The file of each and what it is told. */
const PROOFS: Readonly<Record<string, readonly string[]>> = {
  'pull-kills': ['pull-kills.ts', '50'],
  'pull-cost': ['pull-cost.ts', '10000'],
  'push-kills': ['push-kills.ts'],
  'push-faults': ['push-faults.ts'],
  'push-many': ['push-many.ts'],
  'daemons-sqlite': ['daemons.ts', '500', '1', 'sqlite'],
  'daemons-postgres': ['daemons.ts', '500', '1', 'postgres'],
  rate: ['rate.ts'],
  scale: ['scale.ts'],
  'many-vehicles': ['many-vehicles.ts', '100000'],
  'fault-matrix': ['fault-matrix.ts'],
  fuzz: ['fuzz.ts'],
  security: ['security.ts'],
  simulation: ['simulation.ts'],
  resources: ['resources.ts'],
  soak: ['soak.ts'],
  mutation: ['mutation.ts'],
};

const { values } = parseArgs({
  options: { only: { type: 'string', multiple: true }, list: { type: 'boolean' } },
});
const unknown = (values.only ?? []).filter((name) => !(name in PROOFS));
if (values.list || unknown.length > 0) {
  if (unknown.length > 0) process.stderr.write(`There is no proof ${unknown.join(', ')}; there are:\n`);
  process.stdout.write(`${Object.keys(PROOFS).join('\n')}\n`);
  process.exit(unknown.length > 0 ? 2 : 0);
}

for (const name of values.only ?? Object.keys(PROOFS)) {
  process.stdout.write(`${name}\n`);
  const [file = '', ...args] = PROOFS[name] ?? [];
  const path = resolve(import.meta.dirname, file);
  const { status } = spawnSync(process.execPath, [path, ...args], { stdio: 'inherit' });
  if (status !== 0) process.exitCode = 1;
}
