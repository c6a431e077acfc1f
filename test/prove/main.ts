// npm run prove: the long proofs, one after another; each prints its figures and fails by its exit code.
//   npm run prove -- --list             names them
//   npm run prove -- --only fuzz        runs one; may be repeated
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

const PROOFS: Readonly<Record<string, readonly string[]>> = {
  'pull-kills': ['50'],
  'pull-cost': ['10000'],
  'push-kills': [],
  'push-many': [],
  daemons: [],
  'many-vehicles': ['100000'],
  'fault-matrix': [],
  fuzz: [],
  security: [],
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
  const file = resolve(import.meta.dirname, `${name}.ts`);
  const { status } = spawnSync(process.execPath, [file, ...(PROOFS[name] ?? [])], { stdio: 'inherit' });
  if (status !== 0) process.exitCode = 1;
}
