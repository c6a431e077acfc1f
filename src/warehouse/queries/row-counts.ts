// Row counts for callers that ask repeatedly. Counting a large table takes time, so its count is cached until a new count
// takes no more than a hundredth of the time since. A small table is counted each time. This uses real time on purpose:
// it limits the work of this machine.
import type { Engine } from '../engine.ts';

export interface RowCounts {
  of(table: string): Promise<number>;
}

/** A table with at most this many rows is counted each time, however slow the machine is. */
const SMALL_ROWS = 50_000;
/** The count of a large table is cached for this many times its duration. */
const CACHE_FACTOR = 100;

interface Count {
  rows: number;
  /** On the monotonic clock, ms. */
  countedAt: number;
  tookMs: number;
}

export const countRows = (engine: Pick<Engine, 'read'>, table: string): Promise<number> =>
  engine.read(async (sql) => Number((await sql(table).count({ rows: '*' }))[0]?.rows ?? 0));

export function createRowCounts(engine: Pick<Engine, 'read'>): RowCounts {
  const counts = new Map<string, Count>();
  const underWay = new Map<string, Promise<Count>>();

  const count = (table: string): Promise<Count> => {
    const running = underWay.get(table);
    if (running !== undefined) return running;
    const begun = performance.now();
    const counting = countRows(engine, table)
      .then((rows) => {
        const counted = { rows, countedAt: begun, tookMs: performance.now() - begun };
        counts.set(table, counted);
        return counted;
      })
      .finally(() => underWay.delete(table));
    underWay.set(table, counting);
    return counting;
  };

  return {
    async of(table) {
      const known = counts.get(table);
      if (known === undefined || known.rows <= SMALL_ROWS) return (await count(table)).rows;
      const isOld = performance.now() - known.countedAt > known.tookMs * CACHE_FACTOR;
      // The caller gets the cached count without waiting. If the new count fails, a later call starts another.
      if (isOld) count(table).catch(() => undefined);
      return known.rows;
    },
  };
}
