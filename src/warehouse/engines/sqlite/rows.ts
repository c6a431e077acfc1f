// Encodes rows for SQLite: one JSON text per statement, joined from the texts of several loads.
import type { Row, WrittenRows } from '../../engine.ts';
import type { Table } from '../../schema/table.ts';
import { decodeFractions, encodeFractions } from './numbers.ts';
import { realPositions } from './upsert.ts';

export interface SqliteRows extends WrittenRows {
  /** JSON of the rows, without the brackets of the list. */
  readonly text: string;
}

export function writeDown(table: Table, rows: readonly Row[]): SqliteRows {
  const reals = realPositions(table);
  const text = JSON.stringify(encodeFractions(rows, reals)).slice(1, -1);
  return {
    count: rows.length,
    text,
    rows: () => decodeFractions(JSON.parse(`[${text}]`) as unknown[][], reals),
  };
}

/** Rows per statement. */
export const BATCH_ROWS = 12_000;

export const joinedText = (batch: readonly SqliteRows[]): string => `[${batch.map(({ text }) => text).join()}]`;
