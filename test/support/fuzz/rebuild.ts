// Gives a record back from its row: the inverse of the row mapping, written from the declarations alone.
import type { Json, JsonObject } from '../../../src/core/json.ts';
import { recordColumns, type Table } from '../../../src/warehouse/schema/table.ts';
import { exactJson } from './exact-json.ts';

export function rebuildRecord(table: Table, row: Record<string, unknown>): JsonObject {
  const record: JsonObject = {};
  for (const column of recordColumns(table)) {
    const value = row[column.name];
    if (value === null || value === undefined) continue;
    const restored = column.type === 'boolean' ? value === 1 || value === true : (value as Json);
    place(record, column.from, column.type === 'json' ? (exactJson(String(value)) as Json) : restored);
  }
  for (const column of recordColumns(table)) {
    const value = row[column.name];
    if (column.alias === undefined || value === null || value === undefined) continue;
    // A repeated value is restored only in an object that has another known field.
    const parent = column.alias
      .slice(0, -1)
      .reduce<Json | undefined>((at, name) => (at as JsonObject | undefined)?.[name], record);
    if (parent !== undefined) place(record, column.alias, value as Json);
  }
  return row.extra === null || row.extra === undefined
    ? record
    : merge(record, exactJson(String(row.extra)) as JsonObject);
}

function place(record: JsonObject, path: readonly string[], value: Json): void {
  let at = record;
  for (const name of path.slice(0, -1)) {
    at[name] ??= {};
    at = at[name] as JsonObject;
  }
  at[path.at(-1) as string] = value;
}

/** A value in `extra` wins: it is there because the column could not hold it exactly. */
function merge(record: JsonObject, extra: JsonObject): JsonObject {
  for (const [name, value] of Object.entries(extra)) {
    const known = record[name];
    record[name] = isObject(known) && isObject(value) ? merge(known, value) : value;
  }
  return record;
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The same record with nulls, and objects that hold nothing else, left out: null and absent are the same. */
export function withoutNulls(value: Json): Json | undefined {
  if (Array.isArray(value)) return value;
  if (!isObject(value)) return value === null ? undefined : value;
  const entries = Object.entries(value)
    .map(([name, inner]) => [name, Array.isArray(inner) ? inner : withoutNulls(inner)] as const)
    .filter(([, inner]) => inner !== undefined && !(isObject(inner) && Object.keys(inner).length === 0));
  return Object.fromEntries(entries) as JsonObject;
}
