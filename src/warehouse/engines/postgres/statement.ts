// One statement on the driver's own connection, without the query builder between: the loader's texts are long.
import type { Scalar } from '../../engine.ts';
import type { PgConnection, PgResult } from './driver.ts';

/** Names come from declarations. */
export const quote = (name: string): string => `"${name}"`;

export const runStatement = (
  connection: PgConnection,
  text: string,
  values: readonly unknown[] = [],
): Promise<PgResult> =>
  new Promise((resolve, reject) => {
    connection.query({ text, values }, (error, result) => (error === null ? resolve(result) : reject(error)));
  });

/** Values as one array parameter. */
export const arrayText = (values: readonly (Scalar | undefined)[]): string =>
  `{${values.map((value) => (typeof value === 'string' ? `"${value.replace(/["\\]/g, '\\$&')}"` : (value ?? 'NULL'))).join(',')}}`;
