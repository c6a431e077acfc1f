// Marks rows that have vanished from a range that was read in full. Usually none has: then the stored count equals the
// number of rows read, and counting is enough.
import { chunks } from '../../core/chunks.ts';
import type { LoadMetadata, Row, RowRange, Transaction } from '../engine.ts';
import { recordColumns, type Table } from '../schema/table.ts';

export interface ReadRows {
  /** Number of distinct loaded keys inside the range; 0 if not counted, so that the keys decide. */
  inside: number;
  /** The keys of all loaded rows and of invalid records. */
  keys(): Row[];
}

/** Owners per statement, far below the binding limit of any engine. */
const OWNERS = 500;

/** Call after loading the rows, in the same transaction. Returns how many rows were marked. */
export async function markVanished(
  tx: Transaction,
  { table, range }: { table: Table; range: RowRange },
  read: ReadRows,
  metadata: LoadMetadata,
): Promise<number> {
  // Every row that was read is stored by now, so equal counts mean the same rows.
  if ((await tx.countPresent(table, range)) === read.inside) return 0;
  return tx.markMissing(table, range, read.keys(), metadata);
}

/** The keys of the rows that this load has marked; `range` lists their owners. */
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

/** Returns a test whether a row is inside the range. */
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
