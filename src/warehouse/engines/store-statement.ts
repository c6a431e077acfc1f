// The statement that writes rows of a control table. All rows are bound as one JSON text, because binding each value
// separately costs more than the write.
import { isStorableJson, storable } from '../../core/text/storable-text.ts';
import type { StoreOptions } from '../engine.ts';
import { quote, type Table } from '../schema/table.ts';

/** `from` is the query that yields the rows. With `where` the statement returns the keys of the rows that it has written. */
export function storeStatement(table: Table, from: string, { where, set = {} }: StoreOptions = {}): string {
  const names = table.columns.map(({ name }) => name);
  const changes = names
    .filter((name) => !table.key.includes(name))
    .map((name) => `${quote(name)} = ${set[name] ?? `excluded.${quote(name)}`}`);
  const key = table.key.map(quote).join(', ');
  return `insert into ${quote(table.name)} (${names.map(quote).join(', ')}) ${from} where true
    on conflict (${key}) do update set ${changes.join(', ')}${where === undefined ? '' : ` where ${where} returning ${key}`}`;
}

export function rowsText(rows: readonly object[]): string {
  const text = JSON.stringify(rows);
  return isStorableJson(text) ? text : JSON.stringify(rows, (_name, value) => storableValue(value));
}

export const storableValue = (value: unknown): unknown => (typeof value === 'string' ? storable(value) : value);
