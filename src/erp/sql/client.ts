// The contract of a database client: what the `sql` source needs of a driver beyond what knex offers. A client returns
// times without a zone as text and exact numbers, and can end a connection whose server no longer answers.
import type { Readable } from 'node:stream';
import type { Knex } from 'knex';

export interface Limits {
  connectMs: number;
  /** Longest wait for the end of a statement, and for the next rows of a query. */
  statementMs: number;
  /** Longest wait for a row that another session has locked. */
  lockMs: number;
}

export interface SqlResult {
  /** In the order of the query; a name may occur twice. */
  header: readonly string[];
  batches: AsyncIterable<readonly (readonly unknown[])[]>;
}

/** A connection as its driver returns it. */
// biome-ignore lint/suspicious/noExplicitAny: each client knows the type of its own driver.
export type Connection = any;

export interface SqlClient {
  /** The form of its address; none if that is the name of a file. */
  address?: string;
  /** The command that installs the driver, if it does not come with Roadbook. */
  install?: string;
  /** Settings of the driver; they override `given`, those of the feed. */
  settings(limits: Limits, given: Record<string, unknown>): Record<string, unknown>;
  /** Limits the waits of a new connection. */
  prepare(connection: Connection, limits: Limits, knex: Knex.Client): Promise<unknown>;
  /** Starts the query. `zone` is the zone of the configuration. */
  query(connection: Connection, statement: string, zone: string, knex: Knex.Client): Promise<SqlResult>;
  /** Resolves to the number of rows that the statement changed, undefined if the driver does not know it. */
  run(
    connection: Connection,
    statement: { sql: string; bindings: readonly unknown[] },
    knex: Knex.Client,
  ): Promise<number | undefined>;
  /** Ends the connection at once, also if the server does not answer. */
  cut(connection: Connection, knex: Knex.Client): void;
}

/** Rows that a client fetches at a time. */
export const BATCH_ROWS = 500;

/** The rows of a stream, as many at a time as have arrived. */
export async function* batchesOf<Row>(rows: Readable): AsyncGenerator<Row[]> {
  for await (const row of rows) {
    const batch: Row[] = [row];
    for (let next = rows.read(); next !== null; next = batch.length < BATCH_ROWS ? rows.read() : null) batch.push(next);
    yield batch;
  }
}
