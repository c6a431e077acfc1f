// npm run prove: the long proofs, each in a process of its own, three at a time because most of them wait a lot. The soak
// takes an hour by the clock and is beside all others. Those that are judged by times come last: the two of the daemons beside
// each other, then the rate, and the scale alone after the soak. Each prints its figures and gives its section of
// docs/explanation/reliability.md where it held; one that fails keeps its older section.
//   npm run prove -- --list                      names them
//   npm run prove -- --quick                     a bounded sample of each, in minutes; nothing is written
//   npm run prove -- --only fuzz scale           runs these
//   npm run prove -- --only fuzz 5000 500        with arguments in place of its defaults; its file explains them
//   npm run prove -- --only soak --minutes 60    for the proofs that take a duration
import { cpus } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import PQueue from 'p-queue';
import { measuredCommit } from '../support/proofs/measured-commit.ts';
import { rejectArguments } from '../support/proofs/reject-arguments.ts';
import { sayWhenRun, writeSection } from '../support/proofs/reliability-page.ts';
import { runProof } from '../support/proofs/run-proof.ts';
import { runSamples } from '../support/proofs/run-samples.ts';

/** The file of each proof and its arguments; the longest begin first. */
const PROOFS: Readonly<Record<string, readonly string[]>> = {
  'push-kills': ['push-kills.ts'],
  'pull-kills': ['pull-kills.ts'],
  soak: ['soak.ts', '60'],
  resources: ['resources.ts'],
  simulation: ['simulation.ts'],
  fuzz: ['fuzz.ts'],
  'push-many': ['push-many.ts'],
  'pull-cost': ['pull-cost.ts', '10000'],
  'many-vehicles': ['many-vehicles.ts', '100000'],
  'push-faults': ['push-faults.ts'],
  'push-mutants': ['push-mutants.ts'],
  'fault-matrix': ['fault-matrix.ts'],
  security: ['security.ts'],
  'daemons-sqlite': ['daemons.ts', '500', '1', 'sqlite'],
  'daemons-postgres': ['daemons.ts', '500', '1', 'postgres'],
  rate: ['rate.ts'],
  scale: ['scale.ts'],
};

/** Beside all others but the last row: it mostly waits, and it is not judged by times. */
const BESIDE = 'soak';
/** After all others, one row after the other; those of a row beside each other. */
const APART: readonly (readonly string[])[] = [['daemons-sqlite', 'daemons-postgres'], ['rate']];
/** When nothing else runs. */
const ALONE = 'scale';
const AT_ONCE = 3;
/** Their one argument. */
const LAST_MINUTES: readonly string[] = ['rate', 'soak'];

const { values, positionals } = asked();
if (values.quick) runSamples('prove-quick');
const isProof = (word: string): boolean => Object.hasOwn(PROOFS, word);
const chosen = [...(values.only ?? []), ...positionals.filter(isProof)];
const names = chosen.length === 0 ? Object.keys(PROOFS) : chosen;
const given = positionals.filter((word) => !isProof(word));
const own = values.minutes === undefined ? given : [values.minutes];
// The arguments of a proof are numbers and names of engines; any other word was meant as a proof.
const words = given.filter((word) => !/^(?:\d+|sqlite|postgres)$/.test(word));
const unknown = [...names.filter((name) => !isProof(name)), ...words];
if (unknown.length > 0) rejectArguments(`There is no proof ${unknown.join(', ')}; --list names them.`);
if (values.minutes !== undefined && !(Number(values.minutes) > 0)) rejectArguments('--minutes wants a number above 0.');
if (values.minutes !== undefined && !names.every((name) => LAST_MINUTES.includes(name)))
  rejectArguments(`--minutes goes with --only ${LAST_MINUTES.join(' or --only ')}.`);
if (given.length > 0 && (names.length !== 1 || values.minutes !== undefined))
  rejectArguments('Arguments are for one proof: name it with --only, and leave out --minutes.');
if (values.list) {
  process.stdout.write(`${Object.keys(PROOFS).join('\n')}\n`);
  process.exit();
}

interface Ended {
  name: string;
  minutes: number;
  hasHeld: boolean;
}

async function prove(name: string): Promise<Ended> {
  const [file = '', ...usual] = PROOFS[name] ?? [];
  process.stdout.write(`${name} begins\n`);
  const proof = resolve(import.meta.dirname, file);
  const { code, minutes, printed, section } = await runProof(proof, own.length > 0 ? own : usual);
  const end = section === undefined && code === 0 ? '0 and without a section' : code;
  process.stdout.write(`${name} ended with ${end} after ${minutes.toFixed(1)} min\n${printed}\n`);
  if (section !== undefined) writeSection(section);
  return { name, minutes, hasHeld: section !== undefined };
}

async function proveTogether(some: readonly string[], concurrency: number): Promise<Ended[]> {
  return new PQueue({ concurrency }).addAll(some.map((name) => () => prove(name)));
}

const began = Date.now();
const commit = measuredCommit();
const only = (some: readonly string[]): string[] => some.filter((name) => names.includes(name));
const beside = proveTogether(only([BESIDE]), 1);
const ended = await proveTogether(
  names.filter((name) => ![BESIDE, ...APART.flat(), ALONE].includes(name)),
  names.includes(BESIDE) ? AT_ONCE - 1 : AT_ONCE,
);
for (const row of APART) ended.push(...(await proveTogether(only(row), row.length)));
ended.push(...(await beside), ...(await proveTogether(only([ALONE]), 1)));

const failed = ended.filter(({ hasHeld }) => !hasHeld).map(({ name }) => name);
if (failed.length > 0) process.exitCode = 1;
if (chosen.length === 0) {
  const times = ended.map(({ name, minutes }) => `${name} ${minutes.toFixed(1)}`);
  const which =
    failed.length === 0
      ? 'None failed. All sections'
      : `Failed, and still with an older section: ${failed.join(', ')}. The other sections`;
  sayWhenRun(`${which} are from one run of \`npm run prove\` on commit ${commit}, on ${new Date(began).toISOString().slice(0, 10)}: ${Math.round((Date.now() - began) / 60_000)} minutes on a
machine with ${cpus().length} cores, ${AT_ONCE} proofs at a time, ${BESIDE} among them, then ${APART.map((row) => row.join(' beside ')).join(', then ')}, and ${ALONE} alone. Minutes of each: ${times.join(', ')}.`);
} else if (failed.length === 0) {
  sayWhenRun(`Since the last whole run, by itself: ${[...names, ...own].join(' ')}, on commit ${commit}.`, {
    isAdded: true,
  });
}
process.stdout.write(failed.length === 0 ? 'All held.\n' : `Failed: ${failed.join(', ')}\n`);

function asked() {
  try {
    return parseArgs({
      options: {
        only: { type: 'string', multiple: true },
        list: { type: 'boolean' },
        quick: { type: 'boolean' },
        minutes: { type: 'string' },
      },
      allowPositionals: true,
    });
  } catch (error) {
    return rejectArguments(
      `${(error as Error).message}\nThere are --only NAME..., --minutes MINUTES, --quick and --list.`,
    );
  }
}
