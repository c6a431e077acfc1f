// Maps a record to a row by the table's declaration. Values that the columns cannot hold exactly stay in `extra`, so that
// columns and `extra` together restore the record. A null field counts as absent.
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { stableJson } from '../../core/text/stable-json.ts';
import { isStorable, isStorableJson } from '../../core/text/storable-text.ts';
import type { Row, Scalar } from '../engine.ts';
import { type ColumnType, indexedColumns, recordColumns, type Table } from '../schema/table.ts';

/** Returns the row, or why the record is invalid. */
export type RowMapping = (record: JsonObject) => { row: Row } | { invalid: string };

/** A field of the record: a column, the alias of one, or an object of fields. */
export interface Field {
  /** Dotted path, for messages. */
  path: string;
  /** Position of the column that this field fills. */
  position?: number;
  type?: ColumnType;
  /** Maximum length in characters, if the column is indexed. */
  longest?: number;
  /** Position of the column whose value this field repeats. */
  repeats?: number;
  fields?: Fields;
}

export type Fields = Map<string, Field>;

/** The mapping runs for every record, so it allocates nothing but the row and the rest for `extra`. */
export function rowMapping(table: Table): RowMapping {
  const columns = recordColumns(table);
  const fields = fieldTree(table);
  const repeated = columns.flatMap((column, position) => (column.alias === undefined ? [] : [{ ...column, position }]));
  const required = columns.flatMap((column, position) => (column.required ? [position] : []));
  let last: Row = [];
  return (record) => {
    const row: Scalar[] = new Array(columns.length + 1).fill(null);
    const state: MappingState = { row, last, filled: 0, invalid: undefined };
    if (repeated.length > 0) fillRepeated(fields, record, row);
    // Own fields first: repeated values are compared with them, whichever comes first in the record.
    for (const { from, type, position } of repeated) {
      const own = from.reduce<Json | undefined>((at, name) => (isJsonObject(at) ? at[name] : undefined), record);
      const held = own === undefined || own === null ? undefined : hold(own, type);
      if (held !== undefined) row[position] = held;
    }
    const rest = fill(fields, record, state);
    for (const position of required) {
      if (row[position] === null) return { invalid: `${columns[position]?.from.join('.')}: missing or too long` };
    }
    if (rest !== undefined) {
      const extra = stableJson(rest);
      row[columns.length] = extra;
      if (!isStorableJson(extra)) state.invalid ??= 'extra';
    }
    if (state.invalid === undefined) {
      last = row;
      return { row };
    }
    return { invalid: `${state.invalid}: holds a character no warehouse can store` };
  };
}

interface MappingState {
  row: Scalar[];
  /** The previous row. A text that it holds too needs no check, and all rows that repeat it share one copy in memory. */
  last: Row;
  filled: number;
  /** Path of the first text that cannot be stored. */
  invalid: string | undefined;
}

export function fieldTree(table: Table): Fields {
  const root: Fields = new Map();
  const at = (path: readonly string[]): Field => {
    let fields = root;
    let field: Field = { path: '' };
    for (const [depth, name] of path.entries()) {
      field = fields.get(name) ?? { path: path.slice(0, depth + 1).join('.') };
      fields.set(name, field);
      if (depth < path.length - 1) {
        field.fields ??= new Map();
        fields = field.fields;
      }
    }
    return field;
  };
  const indexed = indexedColumns(table);
  for (const [position, column] of recordColumns(table).entries()) {
    const longest = indexed.has(column.name) ? LONGEST_INDEXED : undefined;
    Object.assign(at(column.from), { position, type: column.type, longest });
    if (column.alias !== undefined) Object.assign(at(column.alias), { repeats: position, type: column.type, longest });
  }
  return root;
}

/** Fills columns from the fields that repeat them, in case the own field is absent. */
function fillRepeated(fields: Fields, object: JsonObject, row: Scalar[]): void {
  for (const [name, field] of fields) {
    const value = object[name];
    if (field.fields !== undefined && isJsonObject(value)) fillRepeated(field.fields, value, row);
    if (field.repeats !== undefined && field.type !== undefined && value !== undefined) {
      const held = hold(value, field.type);
      if (held !== undefined) row[field.repeats] = held;
    }
  }
}

/** Fills columns from `object`. Returns the rest of the object; undefined if nothing is left. */
function fill(fields: Fields, object: JsonObject, state: MappingState): JsonObject | undefined {
  let rest: JsonObject | undefined;
  let repeated: string | undefined;
  const filledBefore = state.filled;
  for (const name in object) {
    const value = object[name];
    if (value === null || value === undefined) continue;
    const field = fields.get(name);
    if (field === undefined) {
      rest = keep(rest, name, value);
    } else if (field.fields !== undefined && isJsonObject(value)) {
      const left = fill(field.fields, value, state);
      if (left !== undefined) rest = keep(rest, name, left);
    } else if (field.position !== undefined && field.type !== undefined) {
      if (!fillColumn(field, field.position, field.type, value, state)) rest = keep(rest, name, value);
    } else if (field.repeats !== undefined && state.row[field.repeats] === value) {
      repeated = name;
    } else {
      rest = keep(rest, name, value);
    }
  }
  // If an object holds only the repeated value, keep it: otherwise it could not be distinguished from an absent object.
  if (repeated !== undefined && state.filled === filledBefore) rest = keep(rest, repeated, object[repeated] as Json);
  return rest;
}

/** The object has no prototype, so that a field named __proto__ is an ordinary field. */
function keep(rest: JsonObject | undefined, name: string, value: Json): JsonObject {
  const kept = rest ?? (Object.create(null) as JsonObject);
  kept[name] = value;
  return kept;
}

/** Writes the column. Returns false if the column cannot hold the value exactly and `extra` has to keep it. */
function fillColumn(field: Field, position: number, type: ColumnType, value: Json, state: MappingState): boolean {
  const held = hold(value, type);
  if (held === undefined) return false;
  if (field.longest !== undefined && typeof held === 'string' && held.length > field.longest) return false;
  const same = held === state.last[position];
  const storable = type === 'json' ? isStorableJson : isStorable;
  if (!same && typeof held === 'string' && !storable(held)) state.invalid ??= field.path;
  state.row[position] = same ? (state.last[position] as Scalar) : held;
  state.filled++;
  return type === 'json' || held === value;
}

/** The value as the column stores it; undefined if the column cannot hold it. */
function hold(value: Json, type: ColumnType): Scalar | undefined {
  switch (type) {
    case 'integer':
      return Number.isInteger(value) || (typeof value === 'string' && INTEGER.test(value))
        ? (value as number | string)
        : undefined;
    case 'real':
      return typeof value === 'number' ? value : undefined;
    case 'boolean':
      return typeof value === 'boolean' ? value : undefined;
    case 'instant':
      return typeof value === 'string' ? holdInstant(value) : undefined;
    case 'date':
      return typeof value === 'string' && !value.startsWith(NO_YEAR) ? value : undefined;
    case 'text':
      return typeof value === 'string' ? value : undefined;
    case 'json':
      return stableJson(value);
  }
}

/** A PostgreSQL index entry holds at most 2,700 bytes. A longer text stays in `extra` on every engine. */
export const LONGEST_INDEXED = 500;

/** PostgreSQL has no year 0, so such a text stays in `extra`. */
const NO_YEAR = '0000';
const INTEGER = /^-?\d{1,19}$/;
const INSTANT = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3})\d*Z$/;

/** Rounds down to the millisecond. A text with a finer fraction also stays in `extra`, because it differs from the column. */
function holdInstant(value: string): string | undefined {
  if (value.startsWith(NO_YEAR)) return undefined;
  if (value.length === 24) return value;
  const match = INSTANT.exec(value);
  return match === null ? undefined : `${match[1]}Z`;
}
