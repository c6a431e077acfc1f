// The status document: one shape for `roadbook status --json` and /api/status. It is read from the warehouse only, so
// that any process can produce it.
import type { Config } from '../../config/schema.ts';
import { type Clock, isoInstant } from '../../core/time/clock.ts';
import type { SessionState } from '../../fleet/session/session.ts';
import { nextTick, type Schedule } from '../../schedule/ticks.ts';
import type { QueueFacts } from '../../sync/dispatch/dispatcher.ts';
import type { NamedJob } from '../../sync/job.ts';
import { isCounted } from '../../sync/pull/plan/scopes.ts';
import { type OutboxAttention, outboxAttention } from '../../sync/push/attention.ts';
import { type PushIssue, pushIssues } from '../../sync/push/push-issues.ts';
import type { ConfigState } from '../../warehouse/control/config-state.ts';
import { readControls } from '../../warehouse/control/job-controls.ts';
import {
  INTERRUPTED_CODES,
  jobHistory,
  type LastRun,
  type PendingRetry,
  retryOf,
} from '../../warehouse/control/runs.ts';
import { type TableDrift, tableDrift } from '../../warehouse/control/verification.ts';
import type { Engine } from '../../warehouse/engine.ts';
import type { OutboxState } from '../../warehouse/outbox/entry.ts';
import { oldestUnknown, outboxCounts } from '../../warehouse/outbox/lists.ts';
import { countRows, type RowCounts } from '../../warehouse/queries/row-counts.ts';
import { tableFreshness } from '../../warehouse/queries/table-freshness.ts';
import { baseTables } from '../../warehouse/schema/catalog.ts';
import { type DaemonStatus, daemonHealth, daemonStatuses } from './daemon-status.ts';
import { type DeadlineStatus, deadlineHealth, deadlineStatus } from './deadline.ts';
import { driftHealth } from './drift.ts';
import { type Health, healthOf, outboxHealth, overallHealth } from './health.ts';

export interface StatusDependencies {
  version: string;
  config: Config;
  /** The daemon's last result of reading the file; undefined if no daemon ever ran. */
  configState: ConfigState | undefined;
  /** The error of the current file; null if it is valid. */
  configError: string | null;
  configLoadedAt: string;
  jobs: readonly NamedJob[];
  engine: Engine;
  clock: Clock;
  session: SessionState;
  /** Cached counts for frequent callers. Default: count every table. */
  rowCounts?: RowCounts;
  /** Counts of the queue that the daemons share; absent or null if there is no queue. */
  queueFacts?(): Promise<QueueFacts | null>;
}

export type JobStatusDependencies = Pick<StatusDependencies, 'config' | 'configState' | 'jobs' | 'engine' | 'clock'>;

type ShownRun = Pick<LastRun, 'run_id' | 'status' | 'started_at' | 'finished_at' | 'error'>;

export interface JobStatus {
  name: string;
  enabled: boolean;
  paused: boolean;
  schedule: string;
  timezone: string;
  health: Health;
  last_run: ShownRun | null;
  last_success_at: string | null;
  next_tick_at: string | null;
  /** The next try of a run that failed for a passing reason; null if there is none. */
  retry: PendingRetry | null;
}

export interface TableStatus {
  name: string;
  rows: number;
  last_change_at: string | null;
  freshness_seconds: number | null;
}

export interface StatusDocument {
  health: Health;
  version: string;
  config: { loaded_at: string; error: string | null };
  session: SessionState;
  jobs: JobStatus[];
  tables: TableStatus[];
  outbox: Record<OutboxState, number>;
  /** Pushes that need a person, by reason. */
  attention: OutboxAttention[];
  /** What the ERP offered in the last day and the service does not have, or not completely. */
  push_issues: PushIssue[];
  /** Present if a deadline is configured. */
  deadline?: DeadlineStatus;
  quarantine: number;
  /** The drift of each verified table. */
  verification: TableDrift[];
  /** Every daemon on this warehouse. */
  daemons: DaemonStatus[];
  /** Present if the daemons share a queue. */
  queue?: QueueFacts;
}

/** The document, and the instants behind the ages in it. */
export interface StatusFacts {
  document: StatusDocument;
  /** For each table, the instant up to which its oldest scope is up to date. */
  readAt: Record<string, string | null>;
  /** Since when the outcome of the oldest unknown push is unknown. */
  unknownSince: string | null;
}

export async function jobStatuses(dependencies: JobStatusDependencies): Promise<JobStatus[]> {
  const controls = await readControls(dependencies.engine);
  return Promise.all(
    dependencies.jobs.map(({ name }) => jobStatus(name, controls.get(name)?.paused ?? false, dependencies)),
  );
}

export const statusDocument = async (dependencies: StatusDependencies): Promise<StatusDocument> =>
  (await statusFacts(dependencies)).document;

export async function statusFacts(dependencies: StatusDependencies): Promise<StatusFacts> {
  const jobs = await jobStatuses(dependencies);
  const tables = await Promise.all(baseTables.map(({ name }) => tableStatus(name, dependencies)));
  const unknownSince = await oldestUnknown(dependencies.engine);
  const attention = await outboxAttention(dependencies.engine, isoInstant(dependencies.clock.now()));
  const issues = await pushIssues(dependencies.engine, dependencies.clock.now());
  const deadline = await deadlineStatus(dependencies);
  const verification = await tableDrift(dependencies.engine);
  const queue = (await dependencies.queueFacts?.()) ?? null;
  const daemons = await daemonStatuses(dependencies.engine, dependencies.clock);
  const document: StatusDocument = {
    health: overallHealth([
      ...jobs.map(({ health }) => health),
      outboxHealth([...attention, ...issues]),
      deadlineHealth(deadline),
      daemonHealth(daemons, dependencies.configState !== undefined),
      driftHealth(verification, dependencies.config),
    ]),
    version: dependencies.version,
    config: { loaded_at: dependencies.configLoadedAt, error: dependencies.configError },
    session: dependencies.session,
    jobs,
    tables: tables.map(({ status }) => status),
    outbox: await outboxCounts(dependencies.engine),
    attention,
    push_issues: issues,
    ...(deadline !== null && { deadline }),
    quarantine: await countRows(dependencies.engine, 'sync_quarantine'),
    verification,
    daemons,
    ...(queue !== null && { queue }),
  };
  const readAt = Object.fromEntries(tables.map(({ status, freshAt }) => [status.name, freshAt]));
  return { document, readAt, unknownSince };
}

async function jobStatus(name: string, paused: boolean, dependencies: JobStatusDependencies): Promise<JobStatus> {
  const { config, engine, clock } = dependencies;
  const { enabled = false, schedule = '', timezone = 'UTC' } = config.jobs[name] ?? {};
  const { last, finished, lastSuccessAt } = await jobHistory(engine, name, clock.now());
  const cron = { cron: schedule, timezone };
  const next = enabled && !paused ? nextTick(cron, clock.now()) : undefined;
  return {
    name,
    enabled,
    paused,
    schedule,
    timezone,
    health: healthOf({
      ...cron,
      enabled,
      paused,
      lastStatus: last?.status,
      ended: finished && {
        status: finished.status,
        hadError: finished.error_code !== null,
        wasCutOff: INTERRUPTED_CODES.includes(finished.error_code),
      },
      lastStartMs: instantMs(last?.started_at),
      lastEndMs: instantMs(last?.finished_at),
      scheduledSinceMs: instantMs(scheduledSince(dependencies, name, cron)),
      nowMs: clock.now(),
    }),
    last_run: last === undefined ? null : shownRun(last),
    last_success_at: lastSuccessAt,
    next_tick_at: next === undefined ? null : isoInstant(next),
    retry: next === undefined || last === undefined ? null : retryOf(last),
  };
}

const shownRun = ({ run_id, status, started_at, finished_at, error }: LastRun): ShownRun => ({
  run_id,
  status,
  started_at,
  finished_at,
  error,
});

const instantMs = (at: string | null | undefined): number | undefined =>
  at === null || at === undefined ? undefined : Date.parse(at);

/** Since when a daemon uses this schedule; undefined if the daemon uses another one. */
function scheduledSince({ configState }: JobStatusDependencies, name: string, schedule: Schedule): string | undefined {
  const used = configState?.schedules[name];
  return used?.cron === schedule.cron && used.timezone === schedule.timezone ? used.since : undefined;
}

async function tableStatus(name: string, dependencies: StatusDependencies) {
  const { config, jobs, engine, clock, rowCounts } = dependencies;
  const fillers = jobs
    .filter(({ tables }) => tables.some((table) => table.name === name))
    .map((job) => {
      const scopes = job.scopes?.(config.jobs[job.name]?.options ?? {});
      return {
        job: job.name,
        tracks: (scope: string) => scopes === undefined || isCounted(scope, scopes),
        partScopes: [scopes?.vehicle, scopes?.driver].filter((scope) => scope !== undefined),
      };
    });
  const { lastChangeAt, freshAt } = await tableFreshness(engine, fillers);
  const rows = await (rowCounts?.of(name) ?? countRows(engine, name));
  const seconds = freshAt === null ? null : Math.max(0, Math.round((clock.now() - Date.parse(freshAt)) / 1_000));
  const status: TableStatus = { name, rows, last_change_at: lastChangeAt, freshness_seconds: seconds };
  return { status, freshAt };
}
