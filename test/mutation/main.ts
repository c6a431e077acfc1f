// npm run mutate: changes the core in small ways, one at a time, and reports which changes no test notices. Fails where one
// of them is not explained in test/mutation/explained.ts. Writes docs/explanation/mutation.md after a whole run.
//   npm run mutate -- [area…]     some areas only (test/mutation/areas.ts). Results of the last run in
//                                 test-output/mutation are used again; without that folder all changes are tried.
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { rejectArguments } from '../support/proofs/reject-arguments.ts';
import { AREAS } from './areas.ts';
import { EXPLAINED, type Mutant } from './explained.ts';
import { type FileFigures, mutantsOf, mutateArea, outdated, unexplained } from './mutate.ts';

const asked = process.argv.slice(2);
const stranger = asked.find((name) => !Object.hasOwn(AREAS, name));
if (stranger !== undefined)
  rejectArguments(`There is no area named ${stranger}. Try one of ${Object.keys(AREAS).join(', ')}.`);
const areas = Object.entries(AREAS).filter(([name]) => asked.length === 0 || asked.includes(name));

const figures: FileFigures[] = [];
for (const [name, area] of areas) {
  process.stdout.write(`${name}\n`);
  const began = Date.now();
  figures.push(...(await mutateArea(name, area, asked.length === 0)));
  process.stdout.write(`${name}: ${Math.round((Date.now() - began) / 1_000)} s\n`);
}

const percent = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(1)} %`;
const sum = (of: (file: FileFigures) => number): number => figures.reduce((all, file) => all + of(file), 0);
const row = (name: string, mutants: number, killed: number, timedOut: number): string =>
  `| ${name} | ${mutants} | ${killed} | ${timedOut} | ${mutants - killed} | ${percent(killed, mutants)} |`;

const all = {
  mutants: sum(mutantsOf),
  killed: sum(({ killed }) => killed),
  ignored: sum(({ ignored }) => ignored),
};
const rows = figures.map((each) => row(`src/${each.file}`, mutantsOf(each), each.killed, each.timedOut));
rows.push(
  row(
    '**all**',
    all.mutants,
    all.killed,
    sum(({ timedOut }) => timedOut),
  ),
);

const show = ({ file, line, code, becomes }: Mutant): string => `${file}: ${line}\n  - ${code}\n  + ${becomes}\n`;
const survivors = figures.flatMap(({ survived }) => survived);
const [open, stale] = [unexplained(survivors), outdated(figures)];
process.stdout.write(`${rows.join('\n')}\n`);
for (const mutant of open) process.stdout.write(`survived and is not explained: ${show(mutant)}`);
for (const mutant of stale) process.stdout.write(`is explained and does not survive: ${show(mutant)}`);
process.exitCode = open.length + stale.length === 0 ? 0 : 1;

const because = Map.groupBy(EXPLAINED, ({ why }) => why);
const explanations = [...because].map(
  ([why, mutants]) =>
    `- ${why}\n${mutants.map(({ file, code, becomes }) => `  - ${file}: \`${code}\` → \`${becomes}\``).join('\n')}`,
);

if (asked.length === 0 && process.exitCode === 0)
  writeFileSync(
    resolve(import.meta.dirname, '../../docs/explanation/mutation.md'),
    `# Mutation testing
${all.mutants} changes, ${percent(all.killed, all.mutants)} noticed by a test, ${survivors.length} explained.

[Stryker](https://stryker-mutator.io) changes the core of retries, coverage, leases and the outbox in small ways, one at a
time: a condition turned around, a block left out, a word emptied. The tests of that area then have to fail. The
tests are quick ones on a real SQLite database; of ingest and sending, they are whole pushes to the sandbox. Pulls, kills and
PostgreSQL are not among them, so a change that survives here may be noticed there. Of the push, the order of its steps (run.ts), the
acknowledgements (acknowledge.ts) and the actions of a person (actions.ts) are not changed: scenarios and
killed pushes hold them. ${all.ignored} changes of log lines, of words for people and of the declarations of
tables were not tried.
Stryker leaves tables that are \`as const\` alone: the transitions of the outbox are held against a table of
their own in test/unit/push/push-outcome.test.ts.

| file | changes | noticed | of them by never ending | not noticed | score |
|---|---|---|---|---|---|
${rows.join('\n')}

The survivors, and why each may survive:

${explanations.join('\n')}

Made by \`npm run mutate\`. It fails where a change is not noticed and not explained in
test/mutation/explained.ts, or is explained and noticed all the same.
`,
  );
