// The status document: one shape for `roadbook status --json` and /api/status. It is read from the warehouse only, so
// that any process can produce it.
import type { Config } from '../../config/schema.ts';
import { isoInstant } from '../../core/time/clock.ts';
import type { SessionState } from '../../fleet/session/session.ts';
import type { Dispatcher } from '../../sync/dispatch/dispatcher.ts';
import { changedAnswers } from '../../sync/probe/answers.ts';
import { isCounted } from '../../sync/pull/plan/scopes.ts';
import { outboxAttention } from '../../sync/push/attention.ts';
import { pushIssues } from '../../sync/push/push-issues.ts';
import { quarantineTotal } from '../../warehouse/control/quarantine.ts';
import { LONGEST_REACH_MS, type TableDrift, tableDrift } from '../../warehouse/control/verification.ts';
import { pushOutbox } from '../../warehouse/outbox/entry.ts';
import { countUnclear, oldestUnknown, outboxCounts } from '../../warehouse/outbox/lists.ts';
import { countRows, type RowCounts } from '../../warehouse/queries/row-counts.ts';
import { type TableFreshness, tableFreshness } from '../../warehouse/queries/table-freshness.ts';
import { baseTables } from '../../warehouse/schema/catalog.ts';
import { daemonStatuses } from './daemon-status.ts';
import { deadlineStatus } from './deadline.ts';
import { overallHealth } from './health.ts';
import { type JobStatusDependencies, jobStatuses } from './job-status.ts';
import { healthReasons, withItemHealth } from './reasons.ts';
import { unfitAnswers } from './unfit-answers.ts';

export interface StatusDependencies extends JobStatusDependencies {
  version: string;
  /** The error of the current file; null if it is valid. */
  configError: string | null;
  configLoadedAt: string;
  session: SessionState;
  /** Cached counts for frequent callers. Default: count every table. */
  rowCounts?: RowCounts;
  /** Counts of the queue that the daemons share; null if there is no queue. */
  queueFacts: Dispatcher['facts'];
}

export type HealthDependencies = JobStatusDependencies & Pick<StatusDependencies, 'configError'>;

/** The document, and the instants behind the ages in it. */
export type StatusFacts = Awaited<ReturnType<typeof statusFacts>>;
export type StatusDocument = StatusFacts['document'];

const VERIFY_JOB = 'verify-warehouse';

/** The results of tables that an enabled job still pulls, and that are not out of date. */
export function currentDrift(
  verification: readonly TableDrift[],
  { jobs, config, nowMs }: Pick<HealthDependencies, 'jobs' | 'config'> & { nowMs: number },
): TableDrift[] {
  const pulled = new Set(
    jobs.filter(({ name }) => config.jobs[name]?.enabled).flatMap(({ tables }) => tables.map(({ name }) => name)),
  );
  return verification.filter(
    ({ table, verified_at }) => pulled.has(table) && nowMs - Date.parse(verified_at) <= LONGEST_REACH_MS,
  );
}

/** The tables with more differing rows in their final days than the configuration allows. */
export function driftAboveLimit(verification: readonly TableDrift[], config: Pick<Config, 'jobs'>): TableDrift[] {
  const limit = driftLimit(config);
  return limit === null ? [] : verification.filter(({ drift_ratio }) => drift_ratio > limit);
}

/** Null if no enabled job verifies: then nothing would ever show that the drift is gone. */
export function driftLimit({ jobs }: Pick<Config, 'jobs'>): number | null {
  const { enabled = false, options } = jobs[VERIFY_JOB] ?? {};
  return enabled && typeof options?.drift_limit === 'number' ? options.drift_limit : null;
}

/** What the health depends on, without the tables: for the document and for alerts. */
export async function healthFacts(dependencies: HealthDependencies) {
  const { engine, clock, config, configError, configState, jobs: declared } = dependencies;
  const at = isoInstant(clock.now());
  const found = {
    outbox: await outboxCounts(engine),
    unclear: await engine.read((sql) => countUnclear(sql, at)),
    issues: await pushIssues(engine, clock.now()),
    verification: currentDrift(await tableDrift(engine), { jobs: declared, config, nowMs: clock.now() }),
    attention: await outboxAttention(engine, at),
    deadline: await deadlineStatus(dependencies),
    quarantine: await quarantineTotal(engine),
    daemons: await daemonStatuses(engine, clock),
  };
  const pushes = declared.filter(({ tables }) => tables.includes(pushOutbox)).map(({ name }) => name);
  const jobs = await jobStatuses(dependencies);
  const facts = { ...found, jobs: jobs.map((job) => withItemHealth(job, found)) };
  return {
    ...facts,
    reasons: healthReasons({
      ...facts,
      drifted: driftAboveLimit(facts.verification, config),
      changed: await changedAnswers(engine),
      unfit: await unfitAnswers(engine, config),
      configError,
      config,
      pushes,
      hasDaemonRun: configState !== undefined,
    }),
    at,
  };
}

export async function statusFacts(dependencies: StatusDependencies) {
  const facts = await healthFacts(dependencies);
  const { jobs, deadline, outbox, attention, quarantine, daemons, verification, reasons, at } = facts;
  const tables = await Promise.all(baseTables.map(({ name }) => tableStatus(name, dependencies)));
  /** Since when the outcome of the oldest unknown push is unknown. */
  const unknownSince = await oldestUnknown(dependencies.engine);
  const queue = await dependencies.queueFacts();
  const document = {
    health: overallHealth([...jobs.map(({ health }) => health), ...reasons.map(({ health }) => health)]),
    version: dependencies.version,
    config: { loaded_at: dependencies.configLoadedAt, error: dependencies.configError },
    session: dependencies.session,
    jobs,
    tables: tables.map(({ status }) => status),
    outbox,
    /** Pushes that need a person, by reason. */
    attention,
    ...(deadline !== null && { deadline }),
    quarantine: quarantine.records,
    verification,
    daemons,
    ...(queue !== null && { queue }),
    /** Why the health is not `ok`, the worst first. */
    reasons,
    at,
  };
  /** For each table, the instant up to which its oldest scope is up to date. */
  const readAt = Object.fromEntries(tables.map(({ status, freshAt }) => [status.name, freshAt]));
  return { document, readAt, unknownSince };
}

/** Until when the stalest part of the table is up to date; null if nothing was read yet. */
export const tableFreshnessOf = (
  name: string,
  { config, jobs, engine }: Pick<StatusDependencies, 'config' | 'jobs' | 'engine'>,
): Promise<TableFreshness> => {
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
  return tableFreshness(engine, fillers);
};

async function tableStatus(name: string, dependencies: StatusDependencies) {
  const { engine, clock, rowCounts } = dependencies;
  const { lastChangeAt, freshAt } = await tableFreshnessOf(name, dependencies);
  const rows = await (rowCounts?.of(name) ?? countRows(engine, name));
  const seconds = freshAt === null ? null : Math.max(0, Math.round((clock.now() - Date.parse(freshAt)) / 1_000));
  const status = { name, rows, last_change_at: lastChangeAt, freshness_seconds: seconds };
  return { status, freshAt };
}
