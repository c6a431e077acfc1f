// What the records of a slice are on their way: loads as the service sent them, mapped to rows, written down for the
// transaction. Types alone, so that the steps need not import each other.
import type { RecordFields } from '../../../fleet/endpoint.ts';
import type { InvalidRecord } from '../../../warehouse/control/quarantine.ts';
import type { Row, RowRange, WrittenRows } from '../../../warehouse/engine.ts';
import type { Table } from '../../../warehouse/schema/table.ts';

/** Records for one table, as the service sent them. */
export interface Load {
  table: Table;
  /** The call that brings them; absent where it tells no more of them than the columns do. */
  endpoint?: RecordFields;
  records: readonly unknown[];
  /** Records that the job itself cannot place, each with its reason; they go to quarantine. */
  refused?: readonly { record: unknown; reason: string }[];
}

/** Every record of a load is either a row or an invalid record. */
export interface Mapped {
  table: Table;
  rows: Row[];
  invalid: InvalidRecord[];
  /** The key of each invalid record; undefined where it cannot be read. */
  invalidKeys: (Row | undefined)[];
}

/** A load that is ready for the transaction. */
export interface Prepared {
  table: Table;
  written: readonly WrittenRows[];
  invalid: readonly InvalidRecord[];
  invalidKeys: readonly (Row | undefined)[];
  /** How many of the rows each full-refresh range holds that was known then. */
  inside: ReadonlyMap<FullRefreshRange, number>;
}

/** What else is wanted of the one pass over the rows of a load. */
export interface PrepareOptions {
  /** Full-refresh ranges whose rows are counted. */
  fullRefresh?: readonly FullRefreshRange[];
  /** Told of every row. */
  each?: (row: Row) => void;
}

/** A part of a table that was read whole: its rows that were not met have vanished. */
export interface FullRefreshRange {
  table: Table;
  range: RowRange;
  /** Keys that were met beside those of the loads. */
  alsoSeen?: readonly Row[];
  /** The service was asked for each by its id: a record without a readable key is none of them. */
  isSure?: boolean;
}
