// Proves the promise of the outbox with real deaths: the process is killed with -9 at every I/O step of a push,
// in turn, while the service answers in four ways. Prints the figures and writes its section of docs/reliability.md.
// Run with:
//   node test/prove/push-kills.ts [kills of plans for each way] [kills of each other kind] [kills on PostgreSQL]
import PQueue from 'p-queue';
import type { EngineName } from '../support/engines.ts';
import { type KillCase, killModes, otherCases, planCases } from '../support/kill-cases.ts';
import { stopPostgres } from '../support/postgres.ts';
import { type KillReport, sweepKills } from '../support/push-kills.ts';
import { giveSection } from '../support/reliability-page.ts';

const [planKills = 66, otherKills = 26, postgresKills = 14] = process.argv.slice(2).map(Number);
const AT_ONCE = 4;

const print = (text: string): void => void process.stdout.write(`${text}\n`);

const LOOKS = { true: 'on', false: 'off', undefined: 'always' } as const;

const row = ({ job, engine, checks, mode, kills, steps, things, twice, lost, open }: KillReport): string =>
  `| ${[job, engine, LOOKS[`${checks}`], mode, kills, steps, things, twice, lost, open].join(' | ')} |`;

const HEAD = `| job | warehouse | look before a first send | the service is | kills | steps of a whole run | things | twice | lost | unresolved |
|---|---|---|---|---|---|---|---|---|---|`;

const sum = (reports: readonly KillReport[], figure: 'kills' | 'twice' | 'lost' | 'open'): number =>
  reports.reduce((all, report) => all + report[figure], 0);

const total = (job: string, reports: readonly KillReport[]): string => {
  const own = reports.filter((report) => report.job === job);
  return `- ${job}: ${sum(own, 'kills')} kills, ${sum(own, 'twice')} twice, ${sum(own, 'lost')} lost, ${sum(own, 'open')} left unresolved.`;
};

const section = (
  reports: readonly KillReport[],
): string => `The real process (\`roadbook run push-route-plans\` and its siblings) takes, sends, confirms and tells a new thing, and
is killed with -9 at an I/O step of that, then at a later one, and so on around. The next process meets what the death
left and is killed at the same step of its own, during recovery; the one after goes to its end. All on one warehouse and
one drop folder.
Steps are counted where they happen, not by time: before and after each commit of the warehouse, when a request is
made, when it is written, when its answer arrives, before and after each change of a file. The ways of answering begin
at different steps: together they meet every step of plans, and about four in five of the other kinds. After the last
kill the job runs until nothing is open. What the service really accepted is read from the ledger of the sandbox. Where the look before a first send
(\`check_before_send\`) is off, the outbox has to keep the promise by itself.

${HEAD}
${reports.map(row).join('\n')}

${[...new Set(reports.map(({ job }) => job))].map((job) => total(job, reports)).join('\n')}

Made by \`node test/prove/push-kills.ts ${planKills} ${otherKills} ${postgresKills}\`. A sample of it runs with every \`npm test\` (test/scenario/push-kills.test.ts).
`;

/** Far enough apart that the kills of one way reach around a whole run. */
const strideOf = (kills: number): number => Math.max(1, Math.round(130 / kills));

const sweepsOf = (kind: KillCase, kills: number, engine: EngineName) =>
  (kills === 0 ? [] : killModes).map((mode, index) => {
    const stride = strideOf(kills);
    return { kind, mode, kills, stride, engine, first: 1 + (index % stride) };
  });

const sweeps = [
  ...planCases.flatMap((kind) => sweepsOf(kind, planKills, 'sqlite')),
  ...otherCases.flatMap((kind) => sweepsOf(kind, otherKills, 'sqlite')),
  ...[...planCases, ...otherCases].flatMap((kind) => sweepsOf(kind, postgresKills, 'postgres')),
];
const queue = new PQueue({ concurrency: AT_ONCE });
const reports = await Promise.all(
  sweeps.map((sweep) =>
    queue.add(async () => {
      const report = await sweepKills(sweep);
      print(row(report));
      return report;
    }),
  ),
);
await stopPostgres();
if (sum(reports, 'twice') + sum(reports, 'lost') + sum(reports, 'open') > 0) process.exitCode = 1;
else
  giveSection('Nothing twice, nothing lost', section(reports), {
    run: 'pushes killed at every step, and again during recovery',
    many: `${sum(reports, 'kills')} kills`,
    lost: '0 twice, 0 lost, 0 unresolved',
  });
