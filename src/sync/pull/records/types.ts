// The records of a slice in each step: loads as the service sent them, mapped rows, and rows prepared for the transaction.
// Only types, so that the steps need not import each other.
import type { RecordFields } from '../../../fleet/endpoint.ts';
import type { InvalidRecord } from '../../../warehouse/control/quarantine.ts';
import type { EncodedRows, Row, RowRange } from '../../../warehouse/engine.ts';
import type { Table } from '../../../warehouse/schema/table.ts';

/** Records for one table, as the service sent them. */
export interface Load {
  table: Table;
  /** The call that returned the records; absent if the columns alone describe them. */
  endpoint?: RecordFields;
  records: readonly unknown[];
  /** Records that the job itself rejects, each with its reason; they go to quarantine. */
  rejected?: readonly { record: unknown; reason: string }[];
}

/** Every record of a load is either a row or an invalid record. */
export interface Mapped {
  rows: Row[];
  invalid: InvalidRecord[];
  /** The key of each invalid record; undefined if it cannot be read. */
  invalidKeys: (Row | undefined)[];
}

/** A load that is ready for the transaction. */
export interface Prepared {
  table: Table;
  encoded: readonly EncodedRows[];
  invalid: readonly InvalidRecord[];
  invalidKeys: readonly (Row | undefined)[];
  /** The number of rows inside each full-refresh range that was given. */
  inside: ReadonlyMap<FullRefreshRange, number>;
}

/** Further results of the single pass over the rows of a load. */
export interface PrepareOptions {
  /** Full-refresh ranges whose rows are counted. */
  fullRefresh?: readonly FullRefreshRange[];
  /** Called with every row. */
  each?: (row: Row) => void;
}

/** A part of a table that was read completely: its rows that were not seen have vanished. */
export interface FullRefreshRange {
  table: Table;
  range: RowRange;
  /** Each row was requested by id, so a record without a readable key cannot be one of these rows. */
  isSure?: boolean;
}
