// Past runs for people: the latest of a job, the runs of a period, a single run.
import { noCounts, type RunCounts } from '../../core/glossary.ts';
import type { Engine } from '../engine.ts';

type Reader = Pick<Engine, 'read'>;

export interface RunRow extends RunCounts {
  run_id: string;
  job: string;
  cause: string;
  tick_at: string | null;
  status: string;
  started_at: string;
  finished_at: string | null;
  error_code: string | null;
  error: string | null;
  error_hint: string | null;
}

const COLUMNS = [
  'run_id',
  'job',
  'cause',
  'tick_at',
  'status',
  'started_at',
  'finished_at',
  ...Object.keys(noCounts()),
  'error_code',
  'error',
  'error_hint',
];

/** Newest first, without backfills: they say nothing about the health of the job. */
export const latestRuns = (engine: Reader, job: string, limit: number): Promise<RunRow[]> =>
  engine.read((sql) =>
    sql('sync_run')
      .where({ job })
      .whereNot({ cause: 'backfill' })
      .orderBy('started_at', 'desc')
      .limit(limit)
      .select(COLUMNS),
  );

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

/** Runs that ended after this instant, in no particular order. */
export const runsEndedAfter = (engine: Reader, at: string): Promise<RunRow[]> =>
  engine.read((sql) => sql('sync_run').where('finished_at', '>', at).select(COLUMNS));
