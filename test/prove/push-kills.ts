// Proves the promise of the outbox with real deaths: the process is killed with -9 at every I/O step of a push,
// in turn, while the service answers in four ways. Prints the figures and writes docs/reliability.md.
// Run with: node test/prove/push-kills.ts [kills for each way]
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type KillReport, killModes, sweepKills } from '../support/push-kills.ts';

const DEFAULT_KILLS = 130;
const kills = Number(process.argv[2] ?? DEFAULT_KILLS);
const FILE = join(import.meta.dirname, '../../docs/reliability.md');

const print = (text: string): void => void process.stdout.write(`${text}\n`);

const row = ({ mode, kills, steps, plans, twice, lost, open }: KillReport): string =>
  `| ${[mode, kills, steps, plans, twice, lost, open].join(' | ')} |`;

const HEAD = `| the service is | kills | steps of a whole run | plans | twice | lost | unresolved |
|---|---|---|---|---|---|---|`;

const page = (reports: readonly KillReport[]): string => `# Reliability

## No plan twice, none lost
The real process (\`roadbook run push-route-plans\`) takes, sends, confirms and tells a new plan, and is killed with -9
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

## What a start finds, wherever the process died
| it died | the outbox says | what the next run does |
|---|---|---|
| before the batch was committed | nothing | the source gives the batch again |
| after that, before the file's journal was written | ready | the batch is given again and is already known |
| after the journal, before a claim | ready | searches the service, then sends |
| after the claim, before the first byte | sending, of a dead run | unknown; searched for until it is believed absent; sent |
| while the request or the answer was on its way | sending, of a dead run | unknown; searched for: confirmed where it is there, sent where it is not |
| after the answer, before its commit | sending, of a dead run | the same: found and confirmed, never sent again |
| after that commit, before the ERP was told | confirmed or rejected, not told | tells it |
| after telling, before that was noted | confirmed or rejected, not told | tells it again; the source takes it once |
| while a file was moved | told | the source finishes the move from its journal |

A claim is committed with \`synchronous = full\`, so it also outlives a power cut.
`;

const reports = await Promise.all(killModes.map((mode) => sweepKills({ mode, kills, stride: 1 })));
for (const report of reports) print(row(report));
writeFileSync(FILE, page(reports));
const failed = reports.some(({ twice, lost, open }) => twice + lost + open > 0);
process.exitCode = failed ? 1 : 0;
