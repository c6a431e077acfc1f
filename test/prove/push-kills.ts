// Proves the promise of the outbox with real deaths: the process is killed with -9 at every I/O step of a push,
// in turn, while the service answers in four ways. Prints the figures and puts them into docs/reliability.md.
// Run with: node test/prove/push-kills.ts [kills for each way]
import { join } from 'node:path';
import { writeSection } from '../support/doc-section.ts';
import { type KillReport, killModes, sweepKills } from '../support/push-kills.ts';

const DEFAULT_KILLS = 130;
const kills = Number(process.argv[2] ?? DEFAULT_KILLS);
const FILE = join(import.meta.dirname, '../../docs/reliability.md');

const print = (text: string): void => void process.stdout.write(`${text}\n`);

const row = ({ mode, kills, steps, plans, twice, lost, open }: KillReport): string =>
  `| ${[mode, kills, steps, plans, twice, lost, open].join(' | ')} |`;

const HEAD = `| the service is | kills | steps of a whole run | plans | twice | lost | unresolved |
|---|---|---|---|---|---|---|`;

const section = (
  reports: readonly KillReport[],
): string => `The real process (\`roadbook run push-route-plans\`) takes, sends, confirms and tells a new plan, and is killed with -9
at the first I/O step of that, then at the second, and so on. The next process meets what the death left and is killed
at the same step of its own; the one after goes to its end. All on one warehouse and one drop folder.
Steps are counted where they happen, not by time: before and after each commit of the warehouse, when a request is
made, when it is written, when its answer arrives, before and after each change of a file. After the last kill the
job runs until nothing is open. What the service really accepted is read from the ledger of the sandbox. The look
before a first send (\`check_before_send\`) is off, so that the outbox has to keep the promise by itself.

${HEAD}
${reports.map(row).join('\n')}

${reports.reduce((sum, report) => sum + report.kills, 0)} kills: ${reports.reduce((sum, report) => sum + report.twice, 0)} plans twice, ${reports.reduce((sum, report) => sum + report.lost, 0)} plans lost, ${reports.reduce((sum, report) => sum + report.open, 0)} left unresolved.

Made by \`node test/prove/push-kills.ts\`. A sample of it runs with every \`npm test\` (test/scenario/push-kills.test.ts).
`;

const reports = await Promise.all(killModes.map((mode) => sweepKills({ mode, kills, stride: 1 })));
for (const report of reports) print(row(report));
writeSection(FILE, 'No plan twice, none lost', section(reports));
const failed = reports.some(({ twice, lost, open }) => twice + lost + open > 0);
process.exitCode = failed ? 1 : 0;
