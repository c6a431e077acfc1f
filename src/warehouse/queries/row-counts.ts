// Row counts for callers that ask repeatedly. Counting a large table takes time, so its count is cached until a new count
// takes no more than a hundredth of the time since. A small table is counted each time. This uses real time on purpose:
// it limits the work of this machine.
import type { Engine } from '../engine.ts';

export type RowCounts = ReturnType<typeof createRowCounts>;

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

export function createRowCounts(engine: Pick<Engine, 'read'>) {
  const counts = new Map<string, Count>();

  async function count(table: string): Promise<number> {
    const countedAt = performance.now();
    const rows = await countRows(engine, table);
    counts.set(table, { rows, countedAt, tookMs: performance.now() - countedAt });
    return rows;
  }

  return {
    async of(table: string): Promise<number> {
      const known = counts.get(table);
      if (known === undefined || known.rows <= SMALL_ROWS) return count(table);
      if (performance.now() - known.countedAt > known.tookMs * CACHE_FACTOR) {
        // The caller gets the cached count without waiting, and so do others until this count ends. If it fails, a later
        // call starts another.
        known.countedAt = performance.now();
        count(table).catch(() => undefined);
      }
      return known.rows;
    },
  };
}
