// Rows as SQLite gets them: one JSON text a statement, put together from the texts of the loads.
import type { Row, WrittenRows } from '../../engine.ts';
import type { Table } from '../../schema/table.ts';
import { withHalved, withoutHalved } from './numbers.ts';
import { realPlaces } from './upsert.ts';

export interface SqliteRows extends WrittenRows {
  /** JSON of the rows, without the brackets of the list. */
  readonly text: string;
}

export function writeDown(table: Table, rows: readonly Row[]): SqliteRows {
  const reals = realPlaces(table);
  const text = JSON.stringify(withHalved(rows, reals)).slice(1, -1);
  return {
    count: rows.length,
    text,
    rows: () => withoutHalved(JSON.parse(`[${text}]`) as unknown[][], reals),
  };
}

/** Rows a statement. Between two statements SQLite waits for the main thread; a larger text takes more memory. */
const BATCH_ROWS = 12_000;

/** What goes into one statement each. */
export function statementBatches(written: readonly SqliteRows[]): SqliteRows[][] {
  const batches: SqliteRows[][] = [];
  let room = 0;
  for (const each of written) {
    if (each.count === 0) continue;
    const last = batches.at(-1);
    if (last === undefined || each.count > room) {
      batches.push([each]);
      room = BATCH_ROWS - each.count;
    } else {
      last.push(each);
      room -= each.count;
    }
  }
  return batches;
}

export const joinedText = (batch: readonly SqliteRows[]): string =>
  `[${batch.map(({ text }) => text).join()}]`;
