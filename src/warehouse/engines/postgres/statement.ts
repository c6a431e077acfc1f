// Runs a statement directly on the driver's connection. The query builder would parse the long texts of the loader.
import type { Scalar } from '../../engine.ts';
import type { PgConnection, PgResult } from './driver.ts';

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
