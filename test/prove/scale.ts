// npm run prove: a backfill on 1, 2, 4 and 8 processes that share one queue, and daemons that are killed and stopped
// through a long pull and a push of many plans. Prints the figures and puts them into docs/explanation/reliability.md.
//   node test/prove/scale.ts [days] [workers] [plans] [seed]

import { hitScaledDaemons, type Timed, timeBackfill } from '../support/daemons/scale.ts';
import { stopPostgres } from '../support/databases/postgres.ts';
import { giveSection } from '../support/proofs/reliability-page.ts';

const [days = 200, workers = 1, plans = 1_000, seed = 1] = process.argv.slice(2).map(Number);
const setting = { latencyMs: 200, workers, days };

const timed: Timed[] = [];
for (const processes of [1, 2, 4, 8]) {
  const result = await timeBackfill(processes, setting);
  timed.push(result);
  process.stdout.write(`${JSON.stringify({ ...result, rows: result.rows.length })}\n`);
}
const [alone] = timed;
if (alone === undefined) throw new Error('nothing was timed');
const isSame = timed.every(({ rows }) => JSON.stringify(rows) === JSON.stringify(alone.rows));
const ratio = (processes: number): number =>
  alone.ms / (timed.find((each) => each.processes === processes)?.ms ?? Number.POSITIVE_INFINITY);

const hit = await hitScaledDaemons({
  ...setting,
  workers: 2,
  seed,
  daemons: 4,
  plans,
  restMs: [2_000, 5_000],
});
process.stdout.write(`${JSON.stringify(hit)}\n`);
await stopPostgres();

const section = `
A backfill of daily summaries, ${alone.slices} slices of one call, against a service that takes 200 ms to answer and has
no limit. ${workers} slice${workers === 1 ? '' : 's'} at once in each process; the first line is \`local\`, the others share one queue. The rows are the same
in all of them: ${isSame ? 'yes' : 'no'}, ${alone.rows.length}.

| processes | seconds | times one |
|---|---|---|
${timed.map(({ processes, ms }) => `| ${processes} | ${(ms / 1_000).toFixed(1)} | ${ratio(processes).toFixed(1)} |`).join('\n')}

Four daemons with a queue, a pull of ${days} days and a push of ${plans} plans, killed with -9 and stopped with SIGSTOP for 1 to
40 s by a seeded choice until both are done. They also help a \`roadbook backfill\`, which has to end with 0: it ended with
${hit.backfillCode}. The ledger of the service shows what it accepted. The run of a daemon that was killed is cut off and repeated. A
run may end partial or failed only where it was asked to stop, where its own process stood still meanwhile, or where the
answer to a plan was lost and is read back later; any other counts as not explained.

| kills | stops | runs cut off | runs partial | runs failed | not explained | rows missing | plans lost | plans sent twice | runs left as running | runs that do not add up |
|---|---|---|---|---|---|---|---|---|---|---|
| ${[hit.kills, hit.stops, hit.abandoned, hit.partial, hit.failed, hit.unexplained.length, hit.missing, hit.plans.lost, hit.plans.twice, hit.leftRunning, hit.unbalanced].join(' | ')} |

Made by \`node test/prove/scale.ts ${days} ${workers} ${plans} ${seed}\` on a machine with two cores. Samples run with every
\`npm run prove -- --quick\` (test/prove-quick/scale-queue.test.ts).
`;
const isRight =
  isSame &&
  hit.backfillCode === 0 &&
  hit.unexplained.length === 0 &&
  hit.plans.lost + hit.plans.twice + hit.missing + hit.leftRunning + hit.unbalanced === 0;
if (isRight && ratio(4) >= 3.2 && ratio(8) >= 5)
  giveSection('Many daemons, one queue', section, {
    run: 'a backfill on 1 to 8 processes; daemons killed and stopped through a pull and a push',
    many: `${hit.kills} kills, ${hit.stops} stops, ${plans} plans`,
    lost: `${hit.plans.lost} plans lost, ${hit.plans.twice} twice, the same rows`,
  });
else process.exitCode = 1;
