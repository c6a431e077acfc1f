// The runs as rows: opened before any work, closed with the counts. The next holder of a lease marks the run that a dead
// process left open under it as abandoned.
import { hostname } from 'node:os';
import type { Knex } from 'knex';
import { type RunSummary, zeroCounts } from '../../core/glossary.ts';
import { isoInstant } from '../../core/time/clock.ts';
import type { Engine } from '../engine.ts';
import { ATTENTION } from '../outbox/entry.ts';
import { controlTable, instant, integer, type RowOf, text } from '../schema/table.ts';
import { EVER } from './coverage.ts';
import type { Lease } from './leases.ts';

const count = (meaning: string) => integer(meaning, { required: true });

export const syncRun = controlTable({
  name: 'sync_run',
  meaning: 'Every run of every job.',
  key: ['run_id'],
  columns: {
    run_id: text('Identifier of the run.'),
    job: text('Name of the job.', { required: true }),
    cause: text('What started the run: schedule, catch-up, retry, manual or backfill.', { required: true }),
    tick_at: instant('The scheduled instant, also for a retry; null for a manual run.'),
    attempt: integer('Number of this try: 1, and one more for each run before it that failed for a passing reason.'),
    status: text('running, ok, partial, failed or abandoned.', { required: true }),
    started_at: instant('When the run started.', { required: true }),
    finished_at: instant('When the run ended; null while it runs.'),
    host: text('Machine of the run.', { required: true }),
    pid: count('Process id of the run.'),
    lease: text('Lease of the run.'),
    lease_token: integer('Token of that lease: sorts the runs of a job even if clocks were wrong.'),
    slices: count('Slices processed.'),
    requests: count('HTTP requests sent, including retries.'),
    retries: count('Requests that were retried.'),
    records: count('Records received: inserted + updated + unchanged + quarantined.'),
    inserted: count('New rows.'),
    updated: count('Rows whose content changed.'),
    unchanged: count('Records equal to their stored row, which was not written.'),
    quarantined: count('Invalid records.'),
    sent: count('Items sent to the service.'),
    confirmed: count('Items confirmed by the service.'),
    rejected: count('Items rejected.'),
    unknown: count('Items whose outcome is not known yet.'),
    error_code: text('Stable code of the failure.'),
    error: text('The failure in plain words.'),
    error_hint: text('What to try.'),
    retry_at: instant('When the run is tried again, because its failure may pass; null if it is not.'),
  },
  indexes: [['job', 'started_at'], ['job', 'lease_token'], ['status']],
});

export const RUN_CAUSES = ['schedule', 'catch-up', 'retry', 'manual', 'backfill'] as const;
export type RunCause = (typeof RUN_CAUSES)[number];

export interface OpenRun {
  runId: string;
  job: string;
  cause: RunCause;
  tickAt: string | null;
  /** Number of this try; default 1. */
  attempt?: number;
  startedAt: string;
  lease?: Lease;
}

export async function openRun(engine: Engine, run: OpenRun): Promise<void> {
  await engine.write(async ({ sql }) => {
    await sql('sync_run').insert({
      run_id: run.runId,
      job: run.job,
      cause: run.cause,
      tick_at: run.tickAt,
      attempt: run.attempt ?? 1,
      status: 'running',
      started_at: run.startedAt,
      host: hostname(),
      pid: process.pid,
      lease: run.lease?.name ?? null,
      lease_token: run.lease?.token ?? null,
      ...zeroCounts(),
    });
  });
}

/** `retryAt`: when the run is tried again; null if it is not. */
export async function closeRun(engine: Engine, summary: RunSummary, retryAt: string | null = null): Promise<void> {
  const { job, run_id, started_at: _, error, ...closed } = summary;
  await engine.write(async ({ sql }) => {
    await sql('sync_run')
      .where({ run_id })
      .update({
        ...closed,
        error_code: error?.code ?? null,
        error: error?.message ?? null,
        error_hint: error?.hint ?? null,
        retry_at: retryAt,
      });
    await pruneRuns(sql, job, Date.parse(summary.finished_at));
  });
}

const PROCESS_COLUMNS = ['host', 'pid', 'lease', 'lease_token'] as const;

/** Without the columns about the process. */
export type RunRow = Omit<RowOf<typeof syncRun>, (typeof PROCESS_COLUMNS)[number]>;

const LAST_RUN = [
  'run_id',
  'status',
  'started_at',
  'finished_at',
  'tick_at',
  'error_code',
  'error',
  'error_hint',
  'attempt',
  'retry_at',
] as const;

export type LastRun = Pick<RunRow, (typeof LAST_RUN)[number]>;

/** Without backfills: they say nothing about the health of the job. */
const ordinaryRuns = (sql: Knex, job: string) => sql('sync_run').where({ job }).whereNot({ cause: 'backfill' });

const workedRuns = (sql: Knex, job: string) => ordinaryRuns(sql, job).whereIn('status', ['ok', 'partial']);

/** True if any run succeeded, at least partially. */
export const hasWorked = (engine: Engine, job: string): Promise<boolean> =>
  engine.read(async (sql) => (await workedRuns(sql, job).first('run_id')) !== undefined);

/** The recent runs of a job, without backfills. */
export function jobHistory(engine: Engine, job: string, nowMs: number) {
  const now = isoInstant(nowMs);
  return engine.read(async (sql) => {
    // A run dated in the future is from when the clock was ahead. It sorts last, or it would stay the newest until then.
    const runs: LastRun[] = await ordinaryRuns(sql, job)
      .orderByRaw('case when started_at > ? then 1 else 0 end, started_at desc', [now])
      .limit(2)
      .select([...LAST_RUN]);
    const success = await workedRuns(sql, job)
      .where((or) => or.whereNull('error_code').orWhereIn('error_code', ITEM_CODES as readonly string[]))
      .where('started_at', '<=', now)
      .orderBy('started_at', 'desc')
      .first('finished_at');
    const { retry_at, attempt, error_code } = (await newestRun(sql, job)) ?? { retry_at: null };
    return {
      last: runs[0],
      /** When a run that failed for a passing reason is tried again, and the number of that try; null if none is. */
      retry: retry_at === null ? null : { at: retry_at, attempt: (attempt ?? 1) + 1, reason: error_code },
      /** The last run that has ended: it shows the health of the job while another run is under way. */
      finished: runs.find(({ status }) => status !== 'running'),
      /** End of the last run without a failure. Invalid records and the codes of single items do not count as a failure. */
      lastSuccessAt: (success?.finished_at ?? null) as string | null,
    };
  });
}

/** The failed runs since the last success: how many, and when the first of them began. Both are kept as long as the runs. */
export const failureStreak = (engine: Reader, job: string, sinceSuccess: string | null) =>
  engine.read(async (sql) => {
    const [row] = await ordinaryRuns(sql, job)
      .where('started_at', '>', sinceSuccess ?? EVER)
      .where((or) =>
        or
          .where({ status: 'abandoned' })
          .orWhereNotIn('error_code', [...INTERRUPTED_CODES, ...ITEM_CODES] as readonly string[]),
      )
      .count({ n: '*' })
      .min({ since: 'started_at' });
    return { failures_in_a_row: Number(row?.n ?? 0), failing_since: (row?.since as string | null) ?? null };
  });

/** How long runs are kept. */
const KEPT_MS = 90 * 86_400_000;
/** The last runs of a job stay regardless of their age, so that a monthly job still has a history. */
const KEPT_RUNS = 100;

/** Never deletes a run that is under way. Costs one index lookup if no run is old. */
const pruneRuns = (sql: Knex, job: string, nowMs: number): Promise<number> =>
  sql('sync_run')
    .where({ job })
    .where('started_at', '<', isoInstant(nowMs - KEPT_MS))
    .whereNot({ status: 'running' })
    .whereNotIn(
      'run_id',
      sql('sync_run').where({ job }).orderBy('started_at', 'desc').limit(KEPT_RUNS).select('run_id'),
    )
    .delete();

type Reader = Pick<Engine, 'read'>;

const COLUMNS = syncRun.columns
  .map(({ name }) => name)
  .filter((name) => !PROCESS_COLUMNS.some((column) => column === name));

/** Newest first, without backfills. */
export const latestRuns = (engine: Reader, job: string, limit: number): Promise<RunRow[]> =>
  engine.read((sql) => ordinaryRuns(sql, job).orderBy('started_at', 'desc').limit(limit).select(COLUMNS));

export interface RunSearch {
  jobs: readonly string[];
  /** Runs that began at or after this instant. */
  since?: string;
  statuses?: readonly string[];
  limit: number;
  offset?: number;
}

/** Newest first. */
export const searchRuns = (engine: Reader, search: RunSearch): Promise<RunRow[]> =>
  engine.read((sql) => {
    const { jobs, since, statuses, limit, offset = 0 } = search;
    const query = sql('sync_run').whereIn('job', [...jobs]);
    if (since !== undefined) query.where('started_at', '>=', since);
    if (statuses !== undefined) query.whereIn('status', [...statuses]);
    return query.orderBy('started_at', 'desc').orderBy('run_id', 'desc').limit(limit).offset(offset).select(COLUMNS);
  });

export const runNamed = (engine: Reader, runId: string): Promise<RunRow | undefined> =>
  engine.read((sql) => sql('sync_run').where({ run_id: runId }).first(COLUMNS));

/** How often in a row a cut-off run is repeated: a job that crashes its process must not loop. */
const MOST_REPEATS = 3;

/** Error codes of runs that were interrupted. */
export const INTERRUPTED_CODES: readonly (string | null)[] = ['stopped', 'lease_lost'];

/** Error codes of push runs that did all their work and found items that a person must see to. */
export const ITEM_CODES: readonly (string | null)[] = [
  ...ATTENTION,
  ...[
    'unknown',
    'not_acknowledged',
    'items_rejected',
    'items_partial',
    'differs',
    'deadline_missed',
    'stops_without_code',
  ],
];

/**
 * When the schedule last started the job, whether that run was cut off, and when a run that failed is tried again. Manual
 * runs count only for the retry: one that succeeds makes it needless, one that fails has one itself, and one that was cut
 * off changes nothing.
 */
export const readTicks = (engine: Engine, job: string) =>
  engine.read(async (sql) => {
    const runs = await lastRuns(sql, job)
      .whereIn('cause', [...TICK_CAUSES])
      .limit(MOST_REPEATS);
    const newest = await newestRun(sql, job);
    const control = await sql('sync_control').where({ job }).first('paused');
    const [last] = runs;
    const mayRepeat = runs.length < MOST_REPEATS || !runs.every(isCutOff);
    const isUnfinished = last !== undefined && isCutOff(last) && mayRepeat;
    const retryAt = newest?.retry_at ?? null;
    return {
      paused: Boolean(control?.paused),
      lastRunId: last?.run_id ?? null,
      lastMs: last && Math.max(Date.parse(last.started_at), tickOf(last)),
      unfinishedMs: isUnfinished ? tickOf(last) : undefined,
      tickMs: newest && tickOf(newest),
      retryMs: retryAt === null ? undefined : Date.parse(retryAt),
      attempt: retryAt === null ? (isUnfinished ? (last.attempt ?? 1) : 1) : (newest?.attempt ?? 1) + 1,
    };
  });

/** Only a daemon starts these. */
export const TICK_CAUSES: readonly RunCause[] = ['schedule', 'catch-up', 'retry'];

/**
 * The runs under the lease of the job; a requested period has another lease. Newest first by lease token, because the clock
 * may have been set back. Runs from before there were leases come last.
 */
const lastRuns = (sql: Knex, job: string): Knex.QueryBuilder<object, LastRun[]> =>
  sql('sync_run')
    .where({ job })
    .where((or) => or.where({ lease: job }).orWhereNull('lease'))
    .orderByRaw('lease_token desc nulls last, started_at desc, run_id desc')
    .select([...LAST_RUN]);

/** Without manual runs that were cut off. */
const newestRun = (sql: Knex, job: string): Promise<LastRun | undefined> =>
  lastRuns(sql, job)
    .where((or) =>
      or.whereIn('cause', [...TICK_CAUSES]).orWhere((manual) =>
        manual
          .where({ cause: 'manual' })
          .whereNot({ status: 'abandoned' })
          .where((code) => code.whereNull('error_code').orWhereNotIn('error_code', [...INTERRUPTED_CODES])),
      ),
    )
    .first();

const tickOf = ({ tick_at, started_at }: LastRun): number => Date.parse(tick_at ?? started_at);

const isCutOff = ({ status, error_code }: LastRun): boolean =>
  status === 'abandoned' || INTERRUPTED_CODES.includes(error_code);
