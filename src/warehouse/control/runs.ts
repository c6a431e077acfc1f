// The runs as rows: opened before any work, closed with the counts, and found again when a process died.
import { hostname } from 'node:os';
import type { Knex } from 'knex';
import type { RunSummary } from '../../core/glossary.ts';
import { noCounts } from '../../core/glossary.ts';
import { isoInstant } from '../../core/time/clock.ts';
import type { Engine } from '../engine.ts';
import { controlTable, instant, integer, text } from '../schema/table.ts';
import type { Lease } from './leases.ts';
import { isAlive } from './this-process.ts';

const count = (meaning: string) => integer(meaning, { required: true });

export const syncRun = controlTable({
  name: 'sync_run',
  meaning: 'Every run of every job.',
  key: ['run_id'],
  columns: {
    run_id: text('Identifier of the run.'),
    job: text('Name of the job.', { required: true }),
    cause: text('What started it: schedule, catch-up, manual or backfill.', { required: true }),
    tick_at: instant('The planned instant; null for a manual run.'),
    status: text('running, ok, partial, failed or abandoned.', { required: true }),
    started_at: instant('When it started.', { required: true }),
    finished_at: instant('When it ended; null while it runs.'),
    host: text('Machine that ran it.', { required: true }),
    pid: count('Process that ran it.'),
    lease: text('Lease that it ran under.'),
    lease_token: integer('Token of that lease: orders the runs of a job, whatever the clocks said.'),
    slices: count('Slices worked on.'),
    requests: count('HTTP requests sent, each attempt counted.'),
    retries: count('Requests that were repeated.'),
    records: count('Records received: inserted + updated + unchanged + quarantined.'),
    inserted: count('Rows that were new.'),
    updated: count('Rows whose content changed.'),
    unchanged: count('Records equal to their row, which was not written.'),
    quarantined: count('Records that did not fit.'),
    sent: count('Things sent to the service.'),
    confirmed: count('Things the service confirmed.'),
    rejected: count('Things refused.'),
    unknown: count('Things whose outcome is not known yet.'),
    error_code: text('Stable word for the failure.'),
    error: text('The failure in plain words.'),
    error_hint: text('What to try.'),
  },
  indexes: [['job', 'started_at'], ['job', 'lease_token'], ['status']],
});

export type RunCause = 'schedule' | 'catch-up' | 'manual' | 'backfill';

export interface OpenRun {
  runId: string;
  job: string;
  cause: RunCause;
  tickAt: string | null;
  startedAt: string;
  lease?: Lease;
}

/** The runs that this process has open. */
const ownRuns = new Set<string>();

export async function openRun(engine: Engine, run: OpenRun): Promise<void> {
  ownRuns.add(run.runId);
  await engine.write(async ({ sql }) => {
    await sql('sync_run').insert({
      run_id: run.runId,
      job: run.job,
      cause: run.cause,
      tick_at: run.tickAt,
      status: 'running',
      started_at: run.startedAt,
      host: hostname(),
      pid: process.pid,
      lease: run.lease?.name ?? null,
      lease_token: run.lease?.token ?? null,
      ...noCounts(),
    });
  });
}

export async function closeRun(engine: Engine, summary: RunSummary): Promise<void> {
  const { job, run_id, started_at: _, error, ...closed } = summary;
  // Before the write: a run that cannot be closed is found as dead, and so is what it left behind.
  ownRuns.delete(run_id);
  await engine.write(async ({ sql }) => {
    await sql('sync_run')
      .where({ run_id })
      .update({
        ...closed,
        error_code: error?.code ?? null,
        error: error?.message ?? null,
        error_hint: error?.hint ?? null,
      });
    await pruneRuns(sql, job, Date.parse(summary.finished_at));
  });
}

/**
 * Runs of this machine whose process is gone are called abandoned; tells how many there were. Those under a lease
 * are left to whoever frees it.
 */
export async function abandonDeadRuns(engine: Engine, at: string): Promise<number> {
  const open = await engine.read((sql) =>
    sql('sync_run').where({ status: 'running', host: hostname(), lease: null }),
  );
  const dead = open
    .filter((run) => !isAlive(run.pid) || isFormerLife(run))
    .map(({ run_id }) => run_id as string);
  if (dead.length === 0) return 0;
  return engine.write(({ sql }) =>
    sql('sync_run')
      .whereIn('run_id', dead)
      .where({ status: 'running' })
      .update({ status: 'abandoned', finished_at: at }),
  );
}

/** A container that is started again gives its process the same number as before. */
const isFormerLife = ({ pid, run_id }: { pid: number; run_id: string }): boolean =>
  pid === process.pid && !ownRuns.has(run_id);

export interface LastRun {
  run_id: string;
  status: string;
  started_at: string;
  finished_at: string | null;
  tick_at: string | null;
  error_code: string | null;
  error: string | null;
}

export interface JobHistory {
  last: LastRun | undefined;
  /** The last one that has ended: while another runs, it tells how the job fares. */
  finished: LastRun | undefined;
  /** End of the last run in which nothing failed; records that did not fit are no failure. */
  lastSuccessAt: string | null;
}

const workedRuns = (sql: Knex, job: string) =>
  sql('sync_run').where({ job }).whereNot({ cause: 'backfill' }).whereIn('status', ['ok', 'partial']);

/** Whether some run brought something, even if a part of it failed. */
export const hasWorked = (engine: Engine, job: string): Promise<boolean> =>
  engine.read(async (sql) => (await workedRuns(sql, job).first('run_id')) !== undefined);

/** The live runs of a job; a backfill says nothing about how it fares. */
export function jobHistory(engine: Engine, job: string, nowMs: number): Promise<JobHistory> {
  const now = isoInstant(nowMs);
  return engine.read(async (sql) => {
    // A run of a time when the clock was ahead is not the newest for all that time.
    const runs: LastRun[] = await sql('sync_run')
      .where({ job })
      .whereNot({ cause: 'backfill' })
      .orderByRaw('case when started_at > ? then 1 else 0 end, started_at desc', [now])
      .limit(2)
      .select(
        'run_id',
        'status',
        'started_at',
        'finished_at',
        'tick_at',
        'error_code',
        'error',
        'error_hint',
      );
    const success = await workedRuns(sql, job)
      .whereNull('error_code')
      .where('started_at', '<=', now)
      .orderBy('started_at', 'desc')
      .first('finished_at');
    const [last] = runs;
    const finished = runs.find(({ status }) => status !== 'running');
    return { last, finished, lastSuccessAt: success?.finished_at ?? null };
  });
}

/**
 * How long the history of runs is kept. The last runs of a job stay however old they are, so that a job that runs once a month
 * still has a history.
 */
export const RUN_RETENTION = { keepMs: 90 * 86_400_000, keepLast: 100 };

/** Never a run that is under way. Costs one index lookup where nothing is old. Gives how many were deleted. */
export const pruneRuns = (sql: Knex, job: string, nowMs: number): Promise<number> =>
  sql('sync_run')
    .where({ job })
    .where('started_at', '<', isoInstant(nowMs - RUN_RETENTION.keepMs))
    .whereNot({ status: 'running' })
    .whereNotIn(
      'run_id',
      sql('sync_run')
        .where({ job })
        .orderBy('started_at', 'desc')
        .limit(RUN_RETENTION.keepLast)
        .select('run_id'),
    )
    .delete();
