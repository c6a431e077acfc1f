// The interface of a SQL engine. Engines differ only inside: no other code depends on which one is in use.
import type { Knex } from 'knex';
import type { z } from 'zod';
import type { Dialect } from './schema/dialect.ts';
import type { Column, Table } from './schema/table.ts';
import type { View } from './schema/view.ts';

/** A row in the order of the table's record columns, with the JSON text of `extra` (or null) at the end. */
export type Row = readonly Scalar[];
export type Scalar = string | number | boolean | null;

/** The local day of an ISO instant; null if it has none that every engine can store. */
export type DayOf = (instant: string) => string | null;

/** Vehicles and local days of event_day. The bounds are included. */
export interface EventDays {
  /** Null stands for events without a vehicle; undefined for all vehicles. */
  vehicles?: ReadonlySet<Scalar>;
  first: string;
  last: string;
}

/** Rows of a table, encoded as the engine sends them to the database. */
export interface EncodedRows {
  readonly count: number;
  /** The time zone of their days. */
  readonly dayOf: DayOf;
  /** The days of event_day that the rows belong to; undefined for other tables. */
  readonly eventDays: EventDays | undefined;
  /** Decodes the rows, which takes time. */
  rows(): readonly Row[];
}

/** The load metadata, which the loader writes beside the record. */
export interface LoadMetadata {
  runId: string;
  /** ISO instant of the load. */
  at: string;
  /**
   * ISO instant at which the read began. A row written between `readAt` and `at` may be newer than the read. A row
   * stamped later than `at` was written by a clock that was ahead, so its time proves nothing.
   */
  readAt: string;
  /** The stored rows differ from the service, so figures derived from them may too: they are computed anew, not added to. */
  isRepair?: boolean;
}

export interface LoadCounts {
  inserted: number;
  updated: number;
  unchanged: number;
}

/**
 * The part of a table that a slice has read in full: stored rows in it that were not read have vanished. {} is all. `from` is
 * included, `to` is not.
 */
export type RowRange = { [column: string]: { in: (string | number)[] } | { from: string; to: string } };

/** SQL expressions. They refer to the existing row by the table's name and to the new row as `excluded`. */
export interface StoreOptions {
  /** Which existing rows may be overwritten; default: all. */
  where?: string;
  /** The value of a column where the row exists already; default: the value in the new row. */
  set?: Readonly<Record<string, string>>;
}

/** A transaction in progress. All its writes commit together or not at all. */
export interface Transaction {
  readonly sql: Knex;
  /**
   * Upserts rows by key. A row whose content is unchanged is not written. No key may occur twice in `rows`. Also writes
   * the history and the revisions that the table declares. Throws StaleRead instead of overwriting a row that was
   * written after the read began.
   */
  load(table: Table, rows: readonly Row[], metadata: LoadMetadata): Promise<LoadCounts>;
  /** As `load`, for rows that `encodeRows` has encoded. */
  loadEncoded(table: Table, rows: readonly EncodedRows[], metadata: LoadMetadata): Promise<LoadCounts>;
  /**
   * Writes all columns of control-table rows, by key. With `where` it returns the keys of the rows that were written. No key
   * may occur twice.
   */
  store<R extends object>(table: Table, rows: readonly R[], options?: StoreOptions): Promise<R[]>;
  /** True if `range` has any row that is not marked as missing. */
  hasPresent(table: Table, range: RowRange): Promise<boolean>;
  /** Counts the rows of `range` that are not marked as missing. */
  countPresent(table: Table, range: RowRange): Promise<number>;
  /** Marks the rows of `range` whose keys (in the table's key order) are not in `seen`. Returns how many, or throws StaleRead. */
  markMissing(table: Table, range: RowRange, seen: readonly Row[], metadata: LoadMetadata): Promise<number>;
}

export interface WriteOptions {
  /** The write loads or deletes many rows: heartbeats, claims and outcomes run before it. */
  isLong?: boolean;
  /**
   * The write touches only these tables and the control rows of its own job. An engine may run it in parallel with loads
   * of other tables. Every other write runs alone.
   */
  tables?: readonly string[];
}

/** The values of a row in the order of its columns. */
export type Values = readonly unknown[];

/** Yields the rows of a statement in batches; `?` marks a binding. */
export type Scan = (
  statement: string,
  bindings?: readonly Scalar[],
  /** The answer is small, however many rows the database reads for it. */
  options?: { isSmall?: boolean },
) => AsyncIterable<Values[]>;

/** How an engine creates the declared schema. src/warehouse/schema/converge.ts sets the order of the steps. */
export interface Ddl {
  /** Creates the container of the tables (such as a schema) if it is absent. The first step of every upgrade. */
  prepareSchema(sql: Knex): Promise<void>;
  /** Name, type and constraint of a column in the engine's SQL. */
  columnDefinition(column: Column, table: Table): string;
  /** The statements that create a table with its key. Indexes are created separately. */
  createStatements(table: Table): string[];
  /** The SQL expressions that differ between engines, for views. */
  readonly dialect: Dialect;
  /** Creates the view, or replaces its query. */
  replaceView(sql: Knex, name: string, query: string): Promise<void>;
  /** Columns of a table or view; undefined if it does not exist. */
  columnsOf(sql: Knex, table: string): Promise<string[] | undefined>;
  indexesOf(sql: Knex, table: string): Promise<string[]>;
  /** The last step of every upgrade, such as comments on tables and columns. Changes only what differs. */
  finishSchema(sql: Knex, declared: readonly (Table | View)[]): Promise<void>;
}

export interface Engine extends Ddl {
  readonly name: string;
  /** Where a queue shared by several processes is stored; absent if the engine cannot hold one. */
  readonly queueHome?: QueueHome;
  /** Reads the stored time zone, so that rows are encoded with its days. A load uses the one stored by then in any case. */
  useStoredDays(): Promise<unknown>;
  /** Encodes rows before the transaction begins, to keep it short. The caller may drop `rows` afterwards. */
  encodeRows(table: Table, rows: readonly Row[]): EncodedRows;
  /** Runs one transaction. Writes run one after another, short ones before waiting long ones. See WriteOptions. */
  write<T>(work: (tx: Transaction) => Promise<T>, how?: WriteOptions): Promise<T>;
  /**
   * Reads a committed state and never waits for a write. `work` may run twice. Every engine returns the same values:
   * instants as ISO text with Z and milliseconds, days as text, booleans as 1 and 0, JSON as text, integers as numbers
   * up to 2^53.
   */
  read<T>(work: (sql: Knex) => Promise<T>): Promise<T>;
  /**
   * A short transaction in parallel with the writer, for short-lived state that processes share. `now` asks the database
   * for its time, in ms since 1970. Absent if the engine cannot write in parallel.
   */
  shortTransaction?<T>(work: (sql: Knex, now: () => Promise<number>) => Promise<T>): Promise<T>;
  /** All reads of `work` see one committed state, however long `work` takes. Rows arrive in batches. */
  snapshot<T>(work: (scan: Scan) => Promise<T>): Promise<T>;
  /** For each key of `bounds`: the greatest `column` up to the bound, over rows whose `by` is the key. Omits keys without rows. */
  latest(table: Table, by: string, column: string, bounds: ReadonlyMap<number, string>): Promise<Map<number, string>>;
  /** Checks the database for damage and returns the findings as text. Also updates statistics and tidies files. */
  upkeep(): Promise<string[]>;
  /** Writes a consistent copy to a new file. Reads and writes continue meanwhile. */
  backup(file: string): Promise<void>;
  /**
   * Removes overwritten and deleted values from the tables, and from the files if the engine can rewrite them. Returns false
   * if a reader still keeps them alive.
   */
  scrub(): Promise<boolean>;
  /** For doctor: how the database is set up, and any risk in that. */
  inspect?(): Promise<EngineFacts>;
  /** Idempotent and safe before any use. */
  close(): Promise<void>;
}

/** The place of a queue in the warehouse's database. */
export interface QueueHome {
  /** Address of the database, password included. */
  url: string;
  /** The queue's own schema. */
  schema: string;
  /** True if the schema exists: a user that may not create schemas can still work in it. */
  isMade(): Promise<boolean>;
}

export interface EngineFacts {
  /** Short description of the setup. */
  found: string;
  /** The folder whose disk needs free space; null if that is on another machine. */
  folder: string | null;
  /** A known risk of this setup; null if there is none. */
  concern: { found: string; hint: string } | null;
}

/** A kind of engine: its settings schema, and how to open it. */
export interface EngineKind {
  readonly settings: z.ZodObject;
  /** True if the opened engine has a `queueHome`. */
  readonly hasQueueHome?: boolean;
  /** Checks for an existing warehouse without creating one; absent if `open` creates nothing. */
  exists?(settings: Record<string, unknown>): Promise<boolean>;
  /** `settings` are validated by the schema. */
  open(settings: Record<string, unknown>): Promise<Engine>;
}
