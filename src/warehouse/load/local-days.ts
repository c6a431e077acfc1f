// The local day of each row, which a load stores in `_day`.
import type { DayOf, EncodedRows, Row, Scalar } from '../engine.ts';
import { recordColumns, type Table } from '../schema/table.ts';

/** Before the time zone is known. The days are filled in with the zone; see maintenance/local-time.ts. */
export const noDay: DayOf = () => null;

/** The day of each row; undefined if the table has no days. */
export function daysOf(table: Table, rows: readonly Row[], dayOf: DayOf): Scalar[] | undefined {
  if (table.dayOf.length === 0) return undefined;
  const names = recordColumns(table).map(({ name }) => name);
  const positions = table.dayOf.map((name) => names.indexOf(name));
  return rows.map((row) => {
    const position = positions.find((at) => row[at] !== null);
    return position === undefined ? null : dayOf(row[position] as string);
  });
}

/** Encodes the rows of a former time zone again: the zone may change between their reading and their load. */
export const withDaysOf = <Rows extends EncodedRows>(
  dayOf: DayOf,
  table: Table,
  encoded: readonly Rows[],
  encode: (table: Table, rows: readonly Row[]) => Rows,
): readonly Rows[] =>
  table.dayOf.length === 0
    ? encoded
    : encoded.map((each) => (each.dayOf === dayOf ? each : encode(table, each.rows())));
