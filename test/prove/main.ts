// npm run prove: the long proofs, each in a process of its own, three at a time because most of them wait a lot; those
// that measure times are alone. Each prints its figures, gives its section of docs/reliability.md and fails by its exit
// code.
//   npm run prove -- --list             names them
//   npm run prove -- --only fuzz        runs one; may be repeated
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { cpus } from 'node:os';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import PQueue from 'p-queue';
import { type SectionDraft, sayWhenRun, writeSection } from '../support/reliability-page.ts';

/** The file of each and what it is told. */
const PROOFS: Readonly<Record<string, readonly string[]>> = {
  'pull-kills': ['pull-kills.ts', '50'],
  'daemons-sqlite': ['daemons.ts', '500', '1', 'sqlite'],
  'push-kills': ['push-kills.ts'],
  'daemons-postgres': ['daemons.ts', '500', '1', 'postgres'],
  'push-many': ['push-many.ts'],
  'pull-cost': ['pull-cost.ts', '10000'],
  'many-vehicles': ['many-vehicles.ts', '100000'],
  'push-faults': ['push-faults.ts'],
  'fault-matrix': ['fault-matrix.ts'],
  fuzz: ['fuzz.ts'],
  security: ['security.ts'],
  simulation: ['simulation.ts'],
  resources: ['resources.ts'],
  rate: ['rate.ts'],
  soak: ['soak.ts'],
  scale: ['scale.ts'],
};

/** What they measure takes the whole machine. */
const ALONE: readonly string[] = ['scale'];
const AT_ONCE = 3;

const { values } = parseArgs({
  options: { only: { type: 'string', multiple: true }, list: { type: 'boolean' } },
});
const unknown = (values.only ?? []).filter((name) => !(name in PROOFS));
if (values.list || unknown.length > 0) {
  if (unknown.length > 0) process.stderr.write(`There is no proof ${unknown.join(', ')}; there are:\n`);
  process.stdout.write(`${Object.keys(PROOFS).join('\n')}\n`);
  process.exit(unknown.length > 0 ? 2 : 0);
}

interface Ended {
  name: string;
  minutes: number;
  isRight: boolean;
}

async function prove(name: string): Promise<Ended> {
  const [file = '', ...args] = PROOFS[name] ?? [];
  const began = Date.now();
  process.stdout.write(`${name} begins\n`);
  const proof = fork(resolve(import.meta.dirname, file), args, { silent: true });
  proof.on('message', (draft: SectionDraft) => writeSection(draft));
  proof.stderr?.pipe(process.stderr, { end: false });
  const printed = proof.stdout === null ? '' : text(proof.stdout);
  const [code] = (await once(proof, 'close')) as [number | null];
  const minutes = (Date.now() - began) / 60_000;
  process.stdout.write(`${name} ended with ${code} after ${minutes.toFixed(1)} min\n${await printed}\n`);
  return { name, minutes, isRight: code === 0 };
}

const names = values.only ?? Object.keys(PROOFS);
const lanes = new PQueue({ concurrency: AT_ONCE });
const began = Date.now();
const ended = await lanes.addAll(
  names.filter((name) => !ALONE.includes(name)).map((name) => () => prove(name)),
);
for (const name of names.filter((each) => ALONE.includes(each))) ended.push(await prove(name));

const failed = ended.filter(({ isRight }) => !isRight).map(({ name }) => name);
if (failed.length > 0) process.exitCode = 1;
if (values.only === undefined) {
  const times = ended.map(({ name, minutes }) => `${name} ${minutes.toFixed(1)}`);
  sayWhenRun(`All sections are from one run of \`npm run prove\`, on ${new Date(began).toISOString().slice(0, 10)}: ${Math.round((Date.now() - began) / 60_000)} minutes on a
machine with ${cpus().length} cores, ${AT_ONCE} proofs at a time. ${failed.length === 0 ? 'None failed' : `Failed, and still with an older section: ${failed.join(', ')}`}. Minutes of each: ${times.join(', ')}.`);
} else if (failed.length === 0) {
  sayWhenRun(`Since the last whole run, by itself: ${names.join(', ')}.`, { isAdded: true });
}
process.stdout.write(failed.length === 0 ? 'All held.\n' : `Failed: ${failed.join(', ')}\n`);
