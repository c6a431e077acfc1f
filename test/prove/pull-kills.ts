// npm run prove: every pull job killed at counted steps spread over its run. Writes its section of docs/reliability.md.
//   node test/prove/pull-kills.ts 50
import { PULLS, type SweepResult, sweep } from '../support/pull-kills.ts';
import { writeSection } from '../support/reliability-page.ts';

const kills = Number(process.argv[2] ?? 50);
const results: SweepResult[] = [];
for (const job of Object.keys(PULLS)) {
  const result = await sweep(job, kills);
  results.push(result);
  process.stdout.write(
    `${job}: ${result.kills} kills over ${result.steps} steps, ${result.wrong.length} wrong\n`,
  );
}
const sum = (figure: (result: SweepResult) => number): number =>
  results.reduce((all, result) => all + figure(result), 0);
const all = sum((result) => result.kills);
const wrong = sum((result) => result.wrong.length);

writeSection(
  'No row lost, none half told',
  `The real process (\`roadbook run <job>\`) pulls into a warehouse that holds an earlier, damaged state, so that the run
inserts, updates and marks. It is killed with -9 at ${kills} steps spread over its run, each time on a fresh copy; the job is
then run once more. Afterwards every table, every mark of a vanished row, every status change and every covered scope
has to equal those of a run that was never killed. Steps are counted as above.

| job | kills | steps of a whole run | wrong |
|---|---|---|---|
${results.map((each) => `| \`${each.job}\` | ${each.kills} | ${each.steps} | ${each.wrong.length} |`).join('\n')}

${all} kills: ${wrong} wrong. A job with fewer steps than kills is killed at some of them more than once.

Made by \`node test/prove/pull-kills.ts ${kills}\`. A sample of it runs with every \`npm test\` (test/scenario/pull-kills.test.ts).
`,
  { run: 'pulls killed at every step', many: `${all} kills`, lost: `${wrong} wrong` },
);
process.exitCode = wrong === 0 ? 0 : 1;
