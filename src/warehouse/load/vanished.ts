// Marks what has vanished from a part of a table that was read whole. Mostly nothing has: then as many rows are
// stored there as were met there, and to count them is enough.
import { chunks } from '../../core/chunks.ts';
import type { LoadMetadata, Row, RowRange, Transaction } from '../engine.ts';
import { recordColumns, type Table } from '../schema/table.ts';

/** What a reading met. */
export interface Met {
  /** Loaded rows that are inside the range, each key once. */
  inside: number;
  /** The keys of all loaded rows and of what could not be loaded. */
  keys(): Row[];
}

/** Owners a statement, far below what any engine binds. */
const OWNERS = 500;

/** To be called after the rows were loaded, in the same transaction. Tells how many rows were marked. */
export async function markVanished(
  tx: Transaction,
  { table, range }: { table: Table; range: RowRange },
  met: Met,
  metadata: LoadMetadata,
): Promise<number> {
  // Every row that was met is stored by now, so an equal number is the same rows.
  if ((await tx.countPresent(table, range)) === met.inside) return 0;
  return tx.markMissing(table, range, met.keys(), metadata);
}

/** The keys of rows of `range` that this load has marked; `range` names them one by one. */
export async function justMarked(
  { sql }: Transaction,
  { table, range }: { table: Table; range: RowRange },
  { at, runId }: LoadMetadata,
): Promise<(string | number)[]> {
  const [key = ''] = table.key;
  const ids: (string | number)[] = [];
  for (const [column, bound] of Object.entries(range)) {
    for (const owners of 'in' in bound ? chunks(bound.in, OWNERS) : []) {
      const marked = sql(table.name).whereIn(column, owners).where({ _missing_since: at, _run_id: runId });
      ids.push(...(await marked.select(`${key} as id`)).map(({ id }: { id: string | number }) => id));
    }
  }
  return ids;
}

/** Tells whether a row is inside the range. */
export function insideOf(table: Table, range: RowRange): (row: Row) => boolean {
  const columns = recordColumns(table);
  const bounds = Object.entries(range).map(([name, bound]) => {
    const position = columns.findIndex((column) => column.name === name);
    const values = 'in' in bound ? new Set<unknown>(bound.in) : undefined;
    return { position, values, ...('in' in bound ? { from: '', to: '' } : bound) };
  });
  return (row) =>
    bounds.every(({ position, values, from, to }) => {
      const value = row[position];
      if (values !== undefined) return values.has(value);
      return typeof value === 'string' && value >= from && value < to;
    });
}
