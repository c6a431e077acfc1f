// docs/reference/metrics.md: the metrics are the declared ones.
import { GAUGES } from '../../src/status/metrics/gauges.ts';
import { TOTALS } from '../../src/status/metrics/metrics.ts';

const HEAD = `# Health, metrics and the log

The tables of metrics are written by \`npm run docs\` from the declarations.

## Health
| word | meaning |
|---|---|
| \`ok\` | the last run did its work, or one is under way, and no tick is overdue |
| \`late\` | a tick has passed without a run: by a minute and half of the period, at most 16 minutes; or a run has gone on past three of its ticks and for more than 16 minutes; or a part of the last run failed |
| \`failing\` | the last run failed, or its process died in it; a run that was asked to stop does not count |
| \`paused\` | disabled, or paused by a person |
| \`never ran\` | no run yet, and none overdue |
| \`warning\` | nothing is late, but a person should look at something; a push job while items of its kind were rejected, are partial or not readable, differ from the ERP, or need a person; \`return-executions\` while stops have no code |

After an edit of a schedule, no tick before the edit counts as missed. Backfills do not count.

### Reasons
The overall health is the worst word of all jobs and of all \`reasons\`. Page, \`roadbook status\`, \`/api/status\` and alerts have
the same list. Each reason has a stable \`code\`, the word (\`health\`) it gives to the whole, a \`subject\`, a \`text\` with the
numbers, a \`hint\` or null, and a \`place\`: the view of the page that shows more, as in \`#/jobs/pull-events\`.

| code | word | while |
|---|---|---|
| \`no_daemon\` | \`failing\` | no daemon is alive: 20 s after the last heartbeat of the last one, or after it was stopped; not where none ever ran |
| \`job_failing\` | \`failing\` | the job is \`failing\` |
| \`job_late\` | \`late\` | the job is \`late\` |
| \`push_<reason>\` | \`late\` | an entry of the outbox [needs a person](../how-to/recover.md#entries-that-need-a-person) |
| \`deadline_missed\` | \`late\` | a plan was not confirmed by the \`deadline\` of the day before, and is not confirmed, cancelled or over yet |
| \`push_rejected\`, \`push_unreadable\`, \`push_partial\` | \`warning\` | items were rejected, or plans were taken without some of their stops. It ends when they are corrected, sent again or cancelled, or when their period is over, but not within a day. Also: files or feeds could not be read in the last day |
| \`push_differs\` | \`warning\` | the service has other content than the ERP offers, and no call to change it, such as a plan that the ERP changed after the push. It ends when the ERP offers again what was sent, when they are cancelled, or when their period is over, but not within a day; without a period, after a day |
| \`push_gone\` | \`warning\` | the service no longer returns a confirmed plan whose period is not over, until it is cancelled |
| \`push_stops_without_code\` | \`warning\` | in the last day, stops without an \`external_code\` had an outcome, which cannot be returned to the ERP |
| \`drift\` | \`late\` | more rows of final days differ from the service than [allowed](../how-to/check-the-warehouse.md) |
| \`service_changed\` | \`warning\` | the nightly [probe](service.md#what-a-probe-finds-out) found another answer than before; text and alert have both |
| \`service_unfit\` | \`warning\` | the newest answer of the nightly probe costs records or calls: a listing is cut off, or the configuration does not fit; instead of \`service_changed\` |
| \`push_unclear\` | \`warning\` | the outcome of a send is unknown, for less than ten minutes |
| \`push_without_feed\` | \`warning\` | \`push-route-plans\`, or another push job that the file lists, is enabled, and its kind has no feed; not to use another kind is normal, so without an entry in the file it is no reason |
| \`config_rejected\` | \`warning\` | the last edit of the configuration was rejected |
| \`job_paused\` | \`warning\` | a person paused the job; a disabled job is no reason |
| \`quarantine\` | \`warning\` | invalid records are in quarantine |
| \`daemon_silent\` | \`warning\` | a daemon makes no heartbeat, and another is alive; until one is started in its place, at least ten minutes and at most a day |
| \`job_never_ran\` | \`never ran\` | the job has not run yet, and is not overdue |

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
