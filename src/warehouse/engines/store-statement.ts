// The statement that writes rows of a control table, all of them bound as one JSON text: binding each value by itself
// costs more than the write.
import { isStorableJson } from '../../core/storable-text.ts';
import type { Table } from '../table.ts';

const quote = (name: string): string => `"${name}"`;

/** `from` gives the rows; `guard` says which existing row may be written over, and may name `excluded`. */
export function storeStatement(table: Table, from: string, guard: string | undefined): string {
  const names = table.columns.map(({ name }) => name);
  const set = names
    .filter((name) => !table.key.includes(name))
    .map((name) => `${quote(name)} = excluded.${quote(name)}`);
  const key = table.key.map(quote).join(', ');
  return `insert into ${quote(table.name)} (${names.map(quote).join(', ')}) ${from} where true
    on conflict (${key}) do update set ${set.join(', ')}${guard === undefined ? '' : ` where ${guard}`} returning ${key}`;
}

/** The rows as JSON. What no database stores, such as a NUL in the words of a service, becomes a replacement character. */
export function rowsText(rows: readonly object[]): string {
  const text = JSON.stringify(rows);
  return isStorableJson(text) ? text : JSON.stringify(rows, (_name, value) => storable(value));
}

const storable = (value: unknown): unknown =>
  typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '\ufffd') : value;
