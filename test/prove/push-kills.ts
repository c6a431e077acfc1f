// Proves the promise of the outbox with real deaths: the process is killed with -9 at I/O steps of a push, in turn,
// and again while it recovers, while the service answers in four ways. Prints the figures and writes its
// section of docs/explanation/reliability.md. The arguments are the distances between the steps of first deaths, 0 for none at all:
//   node test/prove/push-kills.ts [plans] [other kinds] [all on PostgreSQL]
import PQueue from 'p-queue';
import { stopPostgres } from '../support/databases/postgres.ts';
import { type KillCase, killModes, otherCases, planCase } from '../support/kills/kill-cases.ts';
import { type Death, type KillReport, sweepKills } from '../support/kills/push-kills.ts';
import { giveSection } from '../support/proofs/reliability-page.ts';
import type { EngineName } from '../support/warehouse/engines.ts';

const [plans = 1, others = 12, onPostgres = 24] = process.argv.slice(2).map(Number);
const AT_ONCE = 4;
const ROUNDS_A_LINE = 50;
/** Share of the steps that may end without both deaths, by the chance with which the service answers. */
const MOST_MISSED = 0.02;

const print = (text: string): void => void process.stdout.write(`${text}\n`);

const row = (report: KillReport): string => {
  const { job, engine, mode, steps, aimed, rounds, killed, again, items, twice, lost, open } = report;
  const figures = [steps, aimed, rounds, killed, again, items, twice, lost, open];
  return `| ${[job, engine, mode, ...figures].join(' | ')} |`;
};

const HEAD = `| job | warehouse | the service is | steps of a run | steps aimed at | rounds | kills of a first run | kills of a recovery | items | twice | lost | unresolved |
|---|---|---|---|---|---|---|---|---|---|---|---|`;

type Figure = 'aimed' | 'missed' | 'rounds' | 'killed' | 'again' | 'twice' | 'lost' | 'open';
const sum = (reports: readonly KillReport[], figure: Figure): number =>
  reports.reduce((all, report) => all + report[figure], 0);

const total = (job: string, reports: readonly KillReport[]): string => {
  const own = reports.filter((report) => report.job === job);
  return `- ${job}: ${sum(own, 'killed')} first runs and ${sum(own, 'again')} recoveries killed, ${sum(own, 'twice')} twice, ${sum(own, 'lost')} lost, ${sum(own, 'open')} left unresolved.`;
};

const section = (
  reports: readonly KillReport[],
): string => `The real process (\`roadbook run push-route-plans\` and its siblings) takes, sends, confirms and acknowledges a new item, and
is killed with -9 at an I/O step of that. The next process recovers from that death and is killed during the recovery,
at a step of its own; the third process completes. The same follows with another item, at a later step, until no run
reaches that step. All rounds share one warehouse and one drop folder.
Steps are counted where they happen, not by time: before and after each commit of the warehouse, when a request is
made, when it is written, when its answer arrives, before and after each change of a file. The run that is counted
finds the schema made. In each way of answering, a first run dies at
${distances()}.
Where steps are skipped, each way of answering begins at another step.
The steps of the second deaths go round by themselves, over the length that recoveries have: the two deaths meet in pairs
from all parts of both. After the last kill the job runs until nothing is open. The ledger of the sandbox
shows what the service really accepted.

${HEAD}
${reports.map(row).join('\n')}

${[...new Set(reports.map(({ job }) => job))].map((job) => total(job, reports)).join('\n')}

${sum(reports, 'rounds')} rounds killed ${sum(reports, 'killed')} first runs and ${sum(reports, 'again')} recoveries. In ${sum(reports, 'rounds') - sum(reports, 'killed')} the first run was over before its step came: the
step lay beyond the end, or the answers were others than those of the run that was counted. In ${sum(reports, 'killed') - sum(reports, 'again')} the recovery was over
before: it had less to do than those before it. Such a step was aimed at again with another item; of ${sum(reports, 'aimed')} steps,
${sum(reports, 'missed')} never had both deaths.

Made by \`node test/prove/push-kills.ts ${plans} ${others} ${onPostgres}\`. A sample of it runs with every \`npm run prove -- --quick\` (test/prove-quick/push-kills.test.ts).
`;

/** How far apart the steps of first deaths are. */
function distances(): string {
  const strides = [
    ['plans', plans],
    ['the other kinds', others],
    ['all of them on PostgreSQL', onPostgres],
  ] as const;
  return strides
    .filter(([, stride]) => stride > 0)
    .map(([what, stride]) => `${stride === 1 ? 'every step' : `one step in ${stride}`} (${what})`)
    .join(', ');
}

function* every(stride: number, first: number): Iterable<Death> {
  for (let at = first; ; at += stride) yield { at };
}

const sweepsOf = (kind: KillCase, stride: number, engine: EngineName) =>
  (stride === 0 ? [] : killModes).map((mode, index) => {
    const phase = index / killModes.length;
    const first = 1 + Math.floor(phase * stride);
    return { kind, mode, engine, phase, deaths: every(stride, first) };
  });

const sweeps = [
  ...sweepsOf(planCase, plans, 'sqlite'),
  ...otherCases.flatMap((kind) => sweepsOf(kind, others, 'sqlite')),
  ...[planCase, ...otherCases].flatMap((kind) => sweepsOf(kind, onPostgres, 'postgres')),
];
const began = Date.now();
let ended = 0;
let rounds = 0;
function reportProgress(): void {
  const minutes = ((Date.now() - began) / 60_000).toFixed(1);
  process.stderr.write(`push-kills: ${rounds} rounds, ${ended} of ${sweeps.length} sweeps, after ${minutes} min\n`);
}
function onRound(): void {
  if (++rounds % ROUNDS_A_LINE === 0) reportProgress();
}

const queue = new PQueue({ concurrency: AT_ONCE });
const reports = await Promise.all(
  sweeps.map((sweep) =>
    queue.add(async () => {
      const report = await sweepKills({ ...sweep, onRound });
      ended++;
      print(row(report));
      return report;
    }),
  ),
);
reportProgress();
await stopPostgres();

/** Deaths that did not happen prove nothing. */
const idle = reports.filter(({ missed }) => missed > 0);
for (const { job, engine, mode, missed, aimed } of idle)
  process.stderr.write(`${job} on ${engine}, ${mode}: ${missed} of ${aimed} steps were not followed by both deaths\n`);

const isWrong = sum(reports, 'twice') + sum(reports, 'lost') + sum(reports, 'open') > 0;
if (isWrong || sum(reports, 'missed') > MOST_MISSED * sum(reports, 'aimed')) process.exitCode = 1;
else
  giveSection('Nothing twice, nothing lost', section(reports), {
    run: `pushes killed at ${distances()}, and again during recovery`,
    many: `${sum(reports, 'killed')} first runs and ${sum(reports, 'again')} recoveries killed`,
    lost: '0 twice, 0 lost, 0 unresolved',
  });
