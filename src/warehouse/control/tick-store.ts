// The ticks of a job, from its stored runs: when the schedule last started it, and whether that run was cut off.
// Manual runs and backfills are not part of the schedule and do not count.
import type { Knex } from 'knex';
import type { Engine } from '../engine.ts';

export interface TickRecord {
  paused: boolean;
  lastRunId: string | null;
  lastMs: number | undefined;
  unfinishedMs: number | undefined;
}

interface TickRun {
  run_id: string;
  status: string;
  started_at: string;
  tick_at: string | null;
  error_code: string | null;
}

/** How often in a row a cut-off run is repeated: a job that crashes its process must not loop. */
const MOST_REPEATS = 3;

/** Error codes of runs that were interrupted. */
export const CUT_OFF: readonly (string | null)[] = ['stopped', 'lease_lost'];

export const readTicks = (engine: Engine, job: string): Promise<TickRecord> =>
  engine.read(async (sql) => {
    const runs = await lastTickRuns(sql, job, MOST_REPEATS);
    const control = await sql('sync_control').where({ job }).first('paused');
    const [last] = runs;
    const mayRepeat = runs.length < MOST_REPEATS || !runs.every(isCutOff);
    const isUnfinished = last !== undefined && isCutOff(last) && mayRepeat;
    return {
      paused: Boolean(control?.paused),
      lastRunId: last?.run_id ?? null,
      lastMs: last && Math.max(Date.parse(last.started_at), tickOf(last)),
      unfinishedMs: isUnfinished ? tickOf(last) : undefined,
    };
  });

/** The last run that the schedule started; null if there is none. */
export const lastTickRun = (engine: Engine, job: string): Promise<string | null> =>
  engine.read(async (sql) => (await lastTickRuns(sql, job, 1))[0]?.run_id ?? null);

/** Newest first by lease token, because the clock may have been set back. Runs from before there were leases come last. */
const lastTickRuns = (sql: Knex, job: string, most: number): Promise<TickRun[]> =>
  sql('sync_run')
    .where({ job })
    .whereIn('cause', ['schedule', 'catch-up'])
    .orderByRaw('lease_token desc nulls last, started_at desc, run_id desc')
    .limit(most)
    .select('run_id', 'status', 'started_at', 'tick_at', 'error_code');

const tickOf = ({ tick_at, started_at }: TickRun): number => Date.parse(tick_at ?? started_at);

const isCutOff = ({ status, error_code }: TickRun): boolean => status === 'abandoned' || CUT_OFF.includes(error_code);
