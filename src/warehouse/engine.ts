// What a SQL engine has to offer. Engines differ in what they do inside; nobody else asks which one it is.
import type { Knex } from 'knex';
import type { z } from 'zod';
import type { Dialect } from './schema/dialect.ts';
import type { Column, Table } from './schema/table.ts';
import type { View } from './schema/view.ts';

/** A row in the order of the table's record columns, with the JSON text of `extra` (or null) at the end. */
export type Row = readonly Scalar[];
export type Scalar = string | number | boolean | null;

/** Rows of a table in the form in which an engine hands them to the database. */
export interface WrittenRows {
  readonly count: number;
  /** The rows again; takes time. */
  rows(): readonly Row[];
}

/** What the loader writes beside the record. */
export interface LoadMetadata {
  runId: string;
  /** ISO instant of the load. */
  at: string;
  /**
   * ISO instant at which the reading began. What was written between it and `at` may be newer than the reading. What
   * says that it was written later than that is of a clock that was ahead, and tells nothing.
   */
  readAt: string;
}

export interface LoadCounts {
  inserted: number;
  updated: number;
  unchanged: number;
}

/** The part of a table that a slice has read whole: rows in it that were not met have vanished. {} is all. */
export type RowRange = { [column: string]: { in: (string | number)[] } | { from: string; to: string } };

/** SQL over an existing row, by the name of its table, and over the new one as `excluded`. */
export interface StoreOptions {
  /** Which existing rows may be written over; default: all. */
  where?: string;
  /** What a column becomes where a row exists; default: what the new row has. */
  set?: Readonly<Record<string, string>>;
}

/** A transaction in progress. Everything done through it commits together or not at all. */
export interface Transaction {
  readonly sql: Knex;
  /**
   * Upserts by key; a row whose content is the same is not written. No key may occur twice in `rows`. What the
   * table declares as its history and revisions is written with it. Throws StaleRead rather than put a reading over a
   * row that was written after the reading began.
   */
  load(table: Table, rows: readonly Row[], metadata: LoadMetadata): Promise<LoadCounts>;
  /** The same for rows that the engine has written down before. */
  loadWritten(table: Table, rows: readonly WrittenRows[], metadata: LoadMetadata): Promise<LoadCounts>;
  /**
   * Writes whole rows of a control table by their keys. Gives the keys of the rows that were written. No key may occur
   * twice.
   */
  store<R extends object>(table: Table, rows: readonly R[], options?: StoreOptions): Promise<R[]>;
  /** Whether `range` has any row that is not marked as missing. */
  hasPresent(table: Table, range: RowRange): Promise<boolean>;
  /** Rows of `range` that are not marked as missing. */
  countPresent(table: Table, range: RowRange): Promise<number>;
  /** Marks the rows of `range` whose keys (in the table's key order) are not in `seen`; tells how many, or throws StaleRead. */
  markMissing(table: Table, range: RowRange, seen: readonly Row[], metadata: LoadMetadata): Promise<number>;
}

export interface WriteOptions {
  /** It loads or deletes many rows: heartbeats, claims and outcomes go first. */
  isLong?: boolean;
  /**
   * It writes these tables only, beside control rows that are its job's own. An engine that can runs it beside the loads
   * of other tables; every other write is alone.
   */
  tables?: readonly string[];
}

/** The rows of a statement with `?` for its bindings. */
export type Scan = (
  statement: string,
  bindings?: readonly Scalar[],
) => AsyncIterable<Record<string, unknown>[]>;

/** How an engine makes what is declared; the order of the steps is src/warehouse/schema/converge.ts's. */
export interface Ddl {
  /** Makes the place for the tables where it is absent; the first step of every upgrade. */
  prepareSchema(sql: Knex): Promise<void>;
  /** Name, type and constraint of a column in the engine's words. */
  columnDefinition(column: Column, table: Table): string;
  /** The statements that make a table that does not exist, with its key; its indexes follow. */
  createStatements(table: Table): string[];
  /** How views say what the engines write differently. */
  readonly dialect: Dialect;
  /** Makes a view, or puts another query in its place. */
  replaceView(sql: Knex, name: string, query: string): Promise<void>;
  /** Columns of an existing table or view, or undefined where it does not exist. */
  columnsOf(sql: Knex, table: string): Promise<string[] | undefined>;
  /** Names of the indexes of a table. */
  indexesOf(sql: Knex, table: string): Promise<string[]>;
  /** The last step of every upgrade, such as comments on what was declared. Changes only what differs. */
  finishSchema(sql: Knex, declared: readonly (Table | View)[]): Promise<void>;
}

export interface Engine extends Ddl {
  readonly name: string;
  /** The engine of the process, where this one is only for one run; what has to outlive a run is kept by it. */
  readonly base?: Engine;
  /** Where a queue that several processes share can live; absent where there is no such place. */
  readonly queueHome?: QueueHome;
  /** Does beforehand what a load needs no transaction for; the rows themselves need not be kept. */
  writeDown(table: Table, rows: readonly Row[]): WrittenRows;
  /** One transaction; writes run one after another, short ones before long ones that wait. See WriteOptions. */
  write<T>(work: (tx: Transaction) => Promise<T>, how?: WriteOptions): Promise<T>;
  /**
   * Reads a committed state; never waits for a write; may be done twice. The values are the same from every engine:
   * instants as ISO text with Z and milliseconds, days as text, booleans as 1 and 0, JSON as text, integers as
   * numbers where 2^53 allows.
   */
  read<T>(work: (sql: Knex) => Promise<T>): Promise<T>;
  /**
   * A short transaction beside the writer, for what processes share from moment to moment; `now` asks the database for
   * its time, in ms since 1970. Absent where every write has to take its turn.
   */
  beside?<T>(work: (sql: Knex, now: () => Promise<number>) => Promise<T>): Promise<T>;
  /** Reads one committed state through all of `work`, however long that takes; rows come by batches. */
  snapshot<T>(work: (scan: Scan) => Promise<T>): Promise<T>;
  /** The greatest `column` of the rows of each key in `by`, not beyond the key's bound; a key without is left out. */
  latest(
    table: Table,
    by: string,
    column: string,
    bounds: ReadonlyMap<number, string>,
  ): Promise<Map<number, string>>;
  /** Looks for damage and tells it in words; brings statistics and files into good order. */
  upkeep(): Promise<string[]>;
  /** Writes a consistent copy to a new file while work goes on. */
  backup(file: string): Promise<void>;
  /** Takes values that were overwritten or deleted out of the files; false where a reader still holds on to them. */
  scrub(): Promise<boolean>;
  /** For doctor: how the database is set up, and what about it is risky. */
  inspect?(): Promise<EngineFacts>;
  /** Idempotent and safe before any use. */
  close(): Promise<void>;
}

/** Beside the tables, in the same database. */
export interface QueueHome {
  /** Address of the database, password included. */
  url: string;
  /** Schema of its own. */
  schema: string;
  /** Whether the schema is there: a user that may not make schemas can still work in it. */
  isMade(): Promise<boolean>;
}

export interface EngineFacts {
  /** A few words on how it is set up. */
  found: string;
  /** The folder that has to have room for it; null where that is another machine's. */
  folder: string | null;
  /** What could go wrong with this set-up; null where nothing is known to. */
  concern: { found: string; hint: string } | null;
}

/** How an engine is found by its name: its own settings schema and the way to open it. */
export interface EngineKind {
  readonly settings: z.ZodObject;
  /** Whether an opened one has a `queueHome`. */
  readonly hasQueueHome?: boolean;
  /** Whether there is a warehouse already, without making one; an engine that cannot tell has none. */
  exists?(settings: Record<string, unknown>): Promise<boolean>;
  /** `settings` have passed the schema. */
  open(settings: Record<string, unknown>): Promise<Engine>;
}
