// What a SQL engine has to offer. Engines differ in what they do inside; nobody else asks which one it is.
import type { Knex } from 'knex';
import type { z } from 'zod';
import type { ColumnType, Table } from './table.ts';

/** A row in the order of the table's record columns, with the JSON text of `extra` (or null) at the end. */
export type Row = readonly Scalar[];
export type Scalar = string | number | boolean | null;

/** What the loader writes beside the record. */
export interface Stamp {
  runId: string;
  /** ISO instant of the load. */
  at: string;
}

export interface LoadCounts {
  inserted: number;
  updated: number;
  unchanged: number;
}

/** The part of a table that a slice has read whole: rows in it that were not met have vanished. {} is all. */
export type Extent = { [column: string]: { in: (string | number)[] } | { from: string; to: string } };

/** A transaction in progress. Everything done through it commits together or not at all. */
export interface Transaction {
  readonly sql: Knex;
  /**
   * Upserts by key; a row whose content is the same is not written. No key may occur twice in `rows`. What the
   * table declares as its history and revisions is written with it.
   */
  load(table: Table, rows: readonly Row[], stamp: Stamp): Promise<LoadCounts>;
  /** Marks the rows of `extent` whose keys (in the table's key order) are not in `seen`; tells how many. */
  markMissing(table: Table, extent: Extent, seen: readonly Row[], stamp: Stamp): Promise<number>;
}

export interface Engine {
  readonly name: string;
  /** Column types in the engine's words. */
  readonly types: Readonly<Record<ColumnType, string>>;
  /** One transaction; the writes of this process run one after another. */
  write<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /** Reads a committed state; never waits for a write. */
  read<T>(work: (sql: Knex) => Promise<T>): Promise<T>;
  /** The greatest `column` of the rows of each key in `by`; a key without rows is left out. */
  latest(table: Table, by: string, column: string, keys: readonly number[]): Promise<Map<number, string>>;
  /** DDL that the engine adds after `create table name (…)`. */
  tableSuffix(table: Table): string;
  /** Columns of an existing table, or undefined where it does not exist. */
  columnsOf(sql: Knex, table: string): Promise<string[] | undefined>;
  /** For doctor: how the database is set up, and what about it is risky. */
  inspect?(): Promise<EngineFacts>;
  /** Idempotent and safe before any use. */
  close(): Promise<void>;
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
  /** Whether there is a warehouse already, without making one; an engine that cannot tell has none. */
  exists?(settings: Record<string, unknown>): Promise<boolean>;
  /** `settings` have passed the schema. */
  open(settings: Record<string, unknown>): Promise<Engine>;
}
