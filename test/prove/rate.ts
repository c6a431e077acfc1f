// npm run prove: one account's rate is one rate, for four daemons on one PostgreSQL; a 429 that one of them gets pauses
// all. Prints the figures and puts them into docs/explanation/reliability.md.
//   node test/prove/rate.ts [minutes]
import { type RateReport, shareRate } from '../support/daemons/rate.ts';
import { giveSection } from '../support/proofs/reliability-page.ts';

const minutes = Number(process.argv[2] ?? 4);
const PER_MINUTE = 300;
const CONCURRENCY = 8;
const WAY_MS = [0, 2_000] as const;
const PAUSE_SECONDS = 20;
/** A permit that was given, and the way to the service. */
const MOST_AFTER_SECONDS = 1.5 + WAY_MS[1] / 1_000;

const report = await shareRate({
  perMinute: PER_MINUTE,
  concurrency: CONCURRENCY,
  minutes,
  wayMs: WAY_MS,
  pauseSeconds: PAUSE_SECONDS,
});

const section = (r: RateReport): string => `
Four real daemons (\`roadbook start\`) share one PostgreSQL and one account with \`requests_per_minute: ${PER_MINUTE}\` and
\`concurrency: ${CONCURRENCY}\` in each. Each has a job with more to read than the rate allows. A request takes up to ${WAY_MS[1] / 1_000} s to the
service, each its own time. Half-way one daemon is killed with -9 and started again. At the end one request is answered
with 429 and \`Retry-After: ${PAUSE_SECONDS}\`. Arrivals are counted by the ledger of the sandbox.

| minutes | requests | most in any 60 s | fewest in any 60 s | after the 429, the last request under way | then silence |
|---|---|---|---|---|---|
| ${[minutes, r.requests, r.mostInAMinute, r.fewestInAMinute].join(' | ')} | ${r.pause.lastAfterSeconds} s | ${r.pause.silentSeconds} s |

Made by \`node test/prove/rate.ts ${minutes}\`. A sample of it, on a clock that the test moves, runs with every \`npm test\`
(test/conformance/engines/shared-rate.test.ts).
`;

process.stdout.write(`${JSON.stringify(report)}\n`);
const isRight =
  report.mostInAMinute <= PER_MINUTE &&
  report.fewestInAMinute >= PER_MINUTE * 0.9 &&
  report.pause.lastAfterSeconds <= MOST_AFTER_SECONDS &&
  report.pause.silentSeconds >= PAUSE_SECONDS - MOST_AFTER_SECONDS &&
  report.liveDaemons === 4 &&
  report.exits.every((code) => code === 0);
if (isRight)
  giveSection('One account, one rate', section(report), {
    run: 'four daemons under one limit of requests',
    many: `${PER_MINUTE} requests a minute allowed`,
    lost: `at most ${report.mostInAMinute}, at least ${report.fewestInAMinute} in any minute`,
  });
else process.exitCode = 1;
