// The driver's connection, for statements that do not go through the query builder, which would parse the loader's long texts.
import type { Scalar } from '../../engine.ts';

/** The members of the driver's connection that the engine uses besides knex. */
export interface PgConnection {
  query(config: { values?: readonly unknown[]; [member: string]: unknown }, callback?: Callback): unknown;
  end(): Promise<void>;
  /** `drain`: no statement is running any more. `end`: the connection has ended. */
  on(event: 'drain' | 'end', listener: () => void): unknown;
  off(event: 'drain' | 'end', listener: () => void): unknown;
  /** knex's own mark: the pool no longer hands out this connection. */
  __knex__disposed?: unknown;
}

type Callback = (error: Error | null, result: PgResult) => void;

export interface PgResult {
  rowCount: number | null;
  rows: never[];
}

export const runStatement = (
  connection: PgConnection,
  text: string,
  values: readonly unknown[] = [],
): Promise<PgResult> =>
  new Promise((resolve, reject) => {
    connection.query({ text, values }, (error, result) => (error === null ? resolve(result) : reject(error)));
  });

/** Encodes values as one array parameter. */
export const arrayText = (values: readonly (Scalar | undefined)[]): string =>
  `{${values.map((value) => (typeof value === 'string' ? `"${value.replace(/["\\]/g, '\\$&')}"` : (value ?? 'NULL'))).join(',')}}`;
