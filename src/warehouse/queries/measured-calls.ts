// How many calls the recent runs of a job took, from the stored runs.
import type { Engine } from '../engine.ts';

const LAST_RUNS = 21;
/** Fewer runs are not representative: the very first run reads the past. */
const LEAST_RUNS = 5;

/** `calls` is the median of the last runs. */
export const measuredCalls = (engine: Engine, job: string) =>
  engine.read(async (sql) => {
    const rows: { requests: number }[] = await sql('sync_run')
      .where({ job })
      .whereIn('cause', ['schedule', 'catch-up'])
      .whereIn('status', ['ok', 'partial'])
      .orderBy('started_at', 'desc')
      .limit(LAST_RUNS)
      .select('requests');
    if (rows.length < LEAST_RUNS) return undefined;
    const sorted = rows.map(({ requests }) => Number(requests)).toSorted((a, b) => a - b);
    return { calls: sorted[Math.floor(sorted.length / 2)] ?? 0, runs: rows.length };
  });

/** Number of vehicles that the service lists; undefined before the first pull. */
export const countVehicles = (engine: Engine): Promise<number | undefined> =>
  engine.read(async (sql) => {
    const [row] = await sql('vehicle').whereNull('_missing_since').count({ n: '*' });
    return Number(row?.n ?? 0) || undefined;
  });
