// The expected row for a record of the service, written from the declarations' source fields alone: values
// by path, instants as UTC. It shares nothing with the product's own mapping.
import { recordColumns, type Table } from '../../../src/warehouse/schema/table.ts';

type Fields = Record<string, unknown>;

export function expectedRow(table: Table, record: Fields): Fields {
  const entries = recordColumns(table).map(({ name, type, from }) => {
    const value = from.reduce<unknown>((at, step) => (at as Fields | null | undefined)?.[step], record);
    if (value === undefined || value === null) return [name, null];
    if (type === 'instant') return [name, new Date(value as string).toISOString()];
    if (type === 'boolean') return [name, value === true ? 1 : 0];
    return [name, value];
  });
  return Object.fromEntries(entries);
}

/** The same columns of a stored row. */
export const storedRow = (table: Table, row: Fields): Fields =>
  Object.fromEntries(
    recordColumns(table).map(({ name, type }) => {
      const value = row[name] ?? null;
      return [name, type === 'json' && value !== null ? JSON.parse(String(value)) : value];
    }),
  );

/** Rows by key, so that two sets can be compared in any order. */
export const byKey = (table: Table, rows: readonly Fields[]): Record<string, Fields> =>
  Object.fromEntries(
    rows
      .map((row): [string, Fields] => [table.key.map((name) => row[name]).join(' '), row])
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
