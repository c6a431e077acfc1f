// How long the history of runs is kept: old runs go, but never the last ones of a job, so that a job that runs once a
// month still has a history. A run under way is never touched.
import type { Knex } from 'knex';
import { isoInstant } from '../../core/time/clock.ts';

export const RUN_RETENTION = { keepMs: 90 * 86_400_000, keepLast: 100 };

/** Cheap where there is nothing to do: one look at the index. Tells how many went. */
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
