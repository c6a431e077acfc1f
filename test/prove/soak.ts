// npm run prove: a real daemon with chaos on, for minutes or hours. Prints the figures and writes its section of
// docs/explanation/reliability.md.
//   node test/prove/soak.ts [minutes]
import { giveSection } from '../support/proofs/reliability-page.ts';
import { type SoakReport, soak } from '../support/soak/soak.ts';
import type { Range } from '../support/soak/soak-figures.ts';

const minutes = Number(process.argv[2] ?? 10);

/** Limits of growth: MB, MB an hour, ms. RSS keeps the room of large bodies that arrived together. */
const LIMITS = { slope: 60, steady: 80, rssGrowth: 150, files: 8, walMb: 64, delayP99: 1_000 };
/** The growth of memory in a shorter run is that of its start. */
const LONG_ENOUGH = 10;

const report = await soak({ minutes, schedule: '*/5 * * * * *' });
process.stdout.write(`${JSON.stringify(report)}\n`);

const isJudged = report.minutes >= LONG_ENOUGH;
const faults = [
  ...(isJudged && report.held.slope > LIMITS.slope ? ['objects or buffers are held'] : []),
  ...(isJudged && report.rss.steady.least > LIMITS.steady ? ['memory grows steadily'] : []),
  ...(isJudged && report.rss.late - report.rss.early > LIMITS.rssGrowth ? ['memory grows'] : []),
  ...(report.files.late - report.files.early > LIMITS.files ? ['files stay open'] : []),
  ...(report.walMb > LIMITS.walMb ? ['the write-ahead log grows'] : []),
  ...(report.delayMs.p99 > LIMITS.delayP99 ? ['the event loop is held up'] : []),
  ...(report.twice + report.lost > 0 ? ['plans were lost or sent twice'] : []),
  ...report.wrong.map((table) => `pulled rows are wrong: ${table}`),
  ...(report.exit === 0 ? [] : ['the daemon did not end well']),
];

const n = (value: number, digits = 0): string => value.toFixed(digits);
const range = ({ least, most }: Range): string => `${n(least)} to ${n(most)}`;
const section = ({ rss, held, files, delayMs, ...r }: SoakReport): string => `
A real daemon (\`roadbook start\`) with every job due every five seconds, ${r.minutes} minutes long, against a service that answers
one request in seven or so wrongly: 5xx, 429, half an answer, rubbish, resets before and after the work, tokens that end,
bodies of 70 MB. A plan is dropped every two seconds. Afterwards every pull runs in fair weather, at most three times, and its rows
are compared with the sandbox's own state. Memory and open files are sampled once a second from inside the daemon.
"Early" is the mean of the second quarter, "late" that of the last.

| runs of the daemon | failed | requests | answers spoiled | plans | twice | lost | pulled rows compared | tables wrong |
|---|---|---|---|---|---|---|---|---|
| ${[r.runs, r.failed, r.requests, r.faults, r.items, r.twice, r.lost, r.compared, r.wrong.length].join(' | ')} |

| | early | late | most | growth |
|---|---|---|---|---|
| memory (RSS), MB | ${n(rss.early)} | ${n(rss.late)} | ${n(rss.most)} | ${range(rss.steady)} MB an hour, the middle change of its low points in the second half, with a certainty of 95 % |
| objects and buffers in use, MB | ${n(held.early)} | ${n(held.late)} | ${n(held.most)} | ${n(held.slope, 1)} MB an hour, the slope of their low points |
| open files | ${n(files.early)} | ${n(files.late)} | ${n(files.most)} | |
| write-ahead log, MB | | | ${n(r.walMb, 1)} | |
| event-loop delay, ms | mean ${n(delayMs.mean, 1)} | 99 % of seconds under ${n(delayMs.p99)} | ${n(delayMs.most)} | |

${
  isJudged
    ? `Kept: objects and buffers ${LIMITS.slope} MB an hour, RSS not surely more than ${LIMITS.steady} MB an hour, nor ${LIMITS.rssGrowth} MB from early to late,`
    : `The growth of memory was not judged: that of a run of less than ${LONG_ENOUGH} minutes is that of its start. Kept:`
}
${LIMITS.files} open files from early to late, log ${LIMITS.walMb} MB, delay ${LIMITS.delayP99} ms. RSS goes up in steps, because the allocator keeps the room of
large bodies for the next ones, and more of it the more of them arrive at one time. The run
does not rule out a leak of objects and buffers below its limit, nor one outside of them that is slower than the upper end
of the range of RSS: where that is wide it says little, and has to be longer (\`npm run prove -- --only soak --minutes 240\`).

Made by \`node test/prove/soak.ts ${minutes}\`. A sample of it runs with every \`npm run prove -- --quick\` (test/prove-quick/soak.test.ts).
`;

for (const fault of faults) process.stderr.write(`${fault}\n`);
if (faults.length > 0) process.exitCode = 1;
else
  giveSection('A soak with chaos on', section(report), {
    run: 'a real daemon under chaos',
    many: `${report.minutes} minutes, ${report.runs} runs, ${report.faults} answers spoiled`,
    lost: `${isJudged ? `objects and buffers ${n(report.held.slope)}, RSS ${range(report.rss.steady)} MB an hour` : 'growth of memory not judged'}; ${report.twice} plans twice, ${report.lost} lost; ${report.compared} pulled rows compared, 0 tables wrong`,
  });
