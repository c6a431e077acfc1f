// SQL Server. The driver returns bigint as text, and a time without a zone as a Date whose UTC fields are that time.
import { Readable } from 'node:stream';
import { batchesOf, type Connection, type SqlClient, type SqlResult } from './client.ts';

interface Column {
  colName: string;
  type: { name: string };
}
interface Cell {
  value: unknown;
  metadata: Column;
}

/** Runs a text in the session itself: a setting made in `execSql` would end with that call. */
const runBatch = (connection: Connection, sql: string, { Request }: { Request: Connection }): Promise<void> =>
  new Promise((resolve, reject) =>
    connection.execSqlBatch(new Request(sql, (error: unknown) => (error ? reject(error) : resolve()))),
  );

export const mssql: SqlClient = {
  address: 'mssql://user:password@host:1433/database?encrypt=true',
  install: 'npm install --omit=dev tedious',
  settings: ({ connectMs, statementMs }, { options, port }) => ({
    // In an address it is text, which the driver rejects.
    ...(port !== undefined && { port: Number(port) }),
    connectionTimeout: connectMs,
    requestTimeout: statementMs,
    options: { ...(options as object), useUTC: true, useColumnNames: false },
  }),
  prepare: (connection, { lockMs }, knex) => runBatch(connection, `set lock_timeout ${lockMs}`, knex.driver),
  query: (connection, statement, _zone, knex) =>
    new Promise<SqlResult>((resolve, reject) => {
      const rows = new Readable({ objectMode: true, read: () => request.resume() });
      const request = new knex.driver.Request(statement, (error: Error | undefined) => {
        if (error) {
          reject(error);
          rows.destroy(error);
        } else rows.push(null);
        // A statement that is no query has no columns.
        resolve({ header: [], batches: batchesOf(rows) });
      });
      rows.on('error', () => undefined);
      request.once('columnMetadata', (columns: Column[]) =>
        resolve({ header: columns.map(({ colName }) => colName), batches: batchesOf(rows) }),
      );
      request.on('row', (cells: Cell[]) => {
        const row = cells.map(({ value, metadata }) => mssqlCell(value, metadata.type.name));
        if (!rows.push(row)) request.pause();
      });
      connection.execSqlBatch(request);
    }),
  run: (connection, { sql, bindings }, knex) =>
    new Promise((resolve, reject) => {
      // Without a count in any of its answers, as after `set nocount on`, the number is not known.
      let changed: number | undefined;
      const request = new knex.driver.Request(sql, (error: unknown) => (error ? reject(error) : resolve(changed)));
      const count = (rows: number | undefined): void => {
        if (rows !== undefined) changed = (changed ?? 0) + rows;
      };
      for (const event of ['done', 'doneInProc', 'doneProc']) request.on(event, count);
      // Knex knows which type a value needs, but its types do not say so.
      (knex as unknown as Connection)._assignBindings(request, bindings);
      connection.execSql(request);
    }),
  cut: (connection) => connection.close(),
};

/** A value of the driver as a cell, by the driver's name of its type. */
export function mssqlCell(value: unknown, type: string): unknown {
  if (!(value instanceof Date) || type === 'DateTimeOffset') return value;
  const wallClock = value.toISOString().slice(0, -1);
  if (type === 'Date') return wallClock.slice(0, 10);
  return type === 'Time' ? wallClock.slice(11) : wallClock;
}
