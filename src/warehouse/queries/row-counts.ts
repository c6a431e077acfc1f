// How many rows a table has, for who asks again and again. Counting a large table takes a while, so its count is
// kept until counting again would take no more than a hundredth of the time; a count is always one that was true.
// A small table is counted each time. Real time on purpose: what is bounded is the work of this machine.
import type { Engine } from '../engine.ts';

export interface RowCounts {
  of(table: string): Promise<number>;
}

/** A table of no more rows is counted each time, however slow the machine was just now. */
const SMALL_ROWS = 50_000;
/** The count of a large table is kept this many times as long as it took. */
const KEPT_TIMES = 100;

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
      const isOld = performance.now() - known.countedAt > known.tookMs * KEPT_TIMES;
      // Whoever asks need not wait for it; a failure is met by the next who counts.
      if (isOld) count(table).catch(() => undefined);
      return known.rows;
    },
  };
}
