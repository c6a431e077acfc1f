// npm run prove: every pull job killed at counted steps spread over its run, and again while it recovers. Prints the
// figures and writes its section of docs/explanation/reliability.md.
//   node test/prove/pull-kills.ts [kills a job on SQLite] [kills a job on PostgreSQL]
import PQueue from 'p-queue';
import { stopPostgres } from '../support/databases/postgres.ts';
import { openGround, PULLS, type SweepResult, sweep } from '../support/kills/pull-kills.ts';
import { giveSection } from '../support/proofs/reliability-page.ts';
import type { EngineName } from '../support/warehouse/engines.ts';

const [sqliteKills = 25, postgresKills = 8] = process.argv.slice(2).map(Number);

/** Sweeps at a time: each makes one process after the other. On PostgreSQL they mostly wait. */
const AT_ONCE = { sqlite: 2, postgres: 4 };

const sweepAlone = async (engine: EngineName, job: string, kills: number): Promise<SweepResult> => {
  // One for each job: the service's clock stands still, and may not fall far behind.
  const ground = await openGround(engine);
  const result = await sweep(ground, { job, kills });
  await ground.close();
  process.stdout.write(`${JSON.stringify(result)}\n`);
  return result;
};

const sweepAll = async (engine: EngineName, kills: number): Promise<SweepResult[]> => {
  const jobs = kills === 0 ? [] : PULLS.map(({ name }) => name);
  const queue = new PQueue({ concurrency: AT_ONCE[engine] });
  return queue.addAll(jobs.map((job) => () => sweepAlone(engine, job, kills)));
};

const results = [...(await sweepAll('sqlite', sqliteKills)), ...(await sweepAll('postgres', postgresKills))];
await stopPostgres();

const sum = (figure: (result: SweepResult) => number): number =>
  results.reduce((all, result) => all + figure(result), 0);
const row = ({ job, engine, kills, again, steps, work, wrong }: SweepResult): string =>
  `| \`${job}\` | ${[engine, kills, again, steps, work.inserted, work.updated, work.marked, wrong.length].join(' | ')} |`;
const idle = results.filter(({ work }) => Math.min(...Object.values(work)) === 0);
for (const { job, engine } of idle) process.stderr.write(`${job} on ${engine} had too little to do\n`);

const section = `The real process (\`roadbook run <job>\`) pulls into a warehouse that holds an earlier, damaged state: of every three
rows one is missing, one has other figures and another status, and one has a copy under a key that the service does not know. So the
run inserts, updates and marks. It is killed with -9 at steps spread over its run, each time on a fresh copy; the process
that recovers is killed too, at a step that goes round faster, unless it ends before; the job is then
run once more. Afterwards every table, every mark of a vanished row, every status change and every covered scope has
to equal those of a run that was never killed. Steps are counted as above.

| job | warehouse | kills | of these during recovery | steps of a whole run | rows inserted | updated | marked | wrong |
|---|---|---|---|---|---|---|---|---|
${results.map(row).join('\n')}

${sum(({ kills }) => kills)} kills, ${sum(({ again }) => again)} of them during recovery: ${sum(({ wrong }) => wrong.length)} wrong. First deaths are ${sqliteKills} a job on SQLite and ${postgresKills} on
PostgreSQL; a job with fewer steps dies at each of them once.

Made by \`node test/prove/pull-kills.ts ${sqliteKills} ${postgresKills}\`. A sample of it runs with every \`npm run prove -- --quick\` (test/prove-quick/pull-kills.test.ts).
`;

if (sum(({ wrong }) => wrong.length) + idle.length > 0) process.exitCode = 1;
else
  giveSection('No row lost, none half written', section, {
    run: 'pulls killed at steps spread over their run, and again during recovery',
    many: `${sum(({ kills }) => kills)} kills`,
    lost: '0 wrong',
  });
