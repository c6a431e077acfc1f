// Runs statements directly on a sqlite3 connection. knex takes more turns of the event loop per statement and does not
// report how many rows a statement wrote.
import type { Table } from '../../schema/table.ts';
import { COUNT_UPDATES, RESET_COUNTER, updateCounter } from './upsert.ts';

type Done = (error: Error | null) => void;

export interface Connection {
  exec(statements: string, done: Done): void;
  run(
    statement: string,
    bindings: Record<string, string>,
    done: (this: { changes: number }, error: Error | null) => void,
  ): void;
  get(statement: string, done: (error: Error | null, row: Updates) => void): void;
}

export interface Updates {
  updated: number;
  /** Updates of rows that were written after the read began. */
  stale: number;
}

/** Starts counting the updates of a table from 0. */
export async function prepareCounter(connection: Connection, table: Table, readAt: string): Promise<void> {
  // Both statements are queued at once; the driver runs them in order.
  const made = new Promise<void>((resolve, reject) => {
    connection.exec(updateCounter(table), (error) => (error === null ? resolve() : reject(error)));
  });
  await Promise.all([made, run(connection, RESET_COUNTER, { ':readAt': readAt })]);
}

/** Returns how many rows the last statement inserted or updated. */
export async function runBatch(
  connection: Connection,
  statements: readonly string[],
  bindings: Record<string, string>,
): Promise<number> {
  let changes = 0;
  for (const statement of statements) changes = await run(connection, statement, bindings);
  return changes;
}

const run = (connection: Connection, statement: string, bindings: Record<string, string>): Promise<number> =>
  new Promise((resolve, reject) => {
    connection.run(statement, bindings, function (error) {
      if (error === null) resolve(this.changes);
      else reject(error);
    });
  });

/** Updates since the counter was prepared. */
export const countUpdates = (connection: Connection): Promise<Updates> =>
  new Promise((resolve, reject) => {
    connection.get(COUNT_UPDATES, (error, row) => (error === null ? resolve(row) : reject(error)));
  });
