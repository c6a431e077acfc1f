// docs/reference/metrics.md: the metrics are the declared ones.
import { GAUGES } from '../../src/status/metrics/gauges.ts';
import { TOTALS } from '../../src/status/metrics/run-counters.ts';

const HEAD = `# Health, metrics and the log

The tables of metrics are written by \`npm run docs\` from the declarations.

## Health
| word | meaning |
|---|---|
| \`ok\` | the last run succeeded, or one is under way, and no tick is overdue |
| \`late\` | a tick has passed without a run: by a minute and half of the period, at most 16 minutes; or a run has gone on past three of its ticks and for more than 16 minutes; or a part of the last run failed |
| \`failing\` | the last run failed, or its process died in it; a run that was asked to stop does not count |
| \`paused\` | disabled, or paused by a person |
| \`never ran\` | no run yet, and none overdue |

After an edit of a schedule, no tick before the edit counts as missed. Backfills do not count.

The overall health is at least \`late\` while an entry of the outbox needs a person, a plan of tomorrow missed its
\`deadline\`, or a table [drifts](../how-to/check-the-warehouse.md). It is \`failing\` while no daemon is alive: 20 s after
the last heartbeat of the last one, or after it was stopped. \`roadbook status\` and \`roadbook doctor\` say so.

## Metrics
\`GET /metrics\` has the text format of Prometheus and needs the token if one is set. [Get alerts](../how-to/alerts.md) shows
the scrape configuration.

Every name begins with \`roadbook_\`; labels are jobs, tables, states and daemons (\`host:pid\`), never an
identifier of a record. Beside these there are the metrics of the process (\`roadbook_process_…\`, \`roadbook_nodejs_…\`). The metrics
of the queue are there only if the daemons share one.`;

const COUNTERS = `Counted over the runs of this daemon since it started, while they are under way too. Add them up over all daemons:`;

const TAIL = `## The log
The log goes to stderr, one line for each event. On a terminal the lines are for people: local time, colours, one sentence.
Elsewhere they are JSON with \`job\` and \`run_id\`. \`--log-format json|pretty\` chooses the form.

- A run has one line when it ends, if it changed something or failed; counts of zero are left out. A run that found nothing
  new is logged at level debug, and so is the start of each run.
- The first run that meets an outage is logged with the reason and the time of its next try. Other runs that fail for the same
  reason are logged at level debug, until \`outage_over\` says how long it lasted.
- \`daemon_started\` and \`daemon_stopped\` frame the life of a daemon.
- \`--log-level debug\` adds a line for each slice.`;

export function metricsPage(): string {
  const gauges = GAUGES.map(({ name, labels = [], help }) => row(name, labels, help));
  const totals = TOTALS.map(({ name, help }) => row(`${name}_total`, ['job_name'], help));
  const runs = row('runs_total', ['job_name', 'status'], 'Runs that ended.');
  return `${[HEAD, tableOf(gauges), COUNTERS, tableOf([runs, ...totals]), TAIL].join('\n\n')}\n`;
}

const row = (name: string, labels: readonly string[], help: string): string =>
  `| \`roadbook_${name}${labels.length === 0 ? '' : `{${labels.join(',')}}`}\` | ${help} |`;

const tableOf = (rows: readonly string[]): string => ['| metric | meaning |', '|---|---|', ...rows].join('\n');
