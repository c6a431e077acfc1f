// Turns a record into a row by the table's declaration. What the columns cannot hold exactly stays in `extra`,
// so that columns and `extra` together give the record back; a null field and an absent one are the same.
import type { Json, JsonObject } from '../core/glossary.ts';
import type { Row, Scalar } from './engine.ts';
import { type ColumnType, recordColumns, type Table } from './table.ts';

/** The row, or in plain words why the record has none. */
export type MappedRow = { row: Row } | { misfit: string };
export type RowMapping = (record: JsonObject) => MappedRow;

interface Field {
  /** Position of the column that this field fills. */
  position?: number;
  type?: ColumnType;
  /** Position of the column whose value this field repeats. */
  repeats?: number;
  fields?: Map<string, Field>;
}

export function rowMapping(table: Table): RowMapping {
  const columns = recordColumns(table);
  const fields = fieldTree(table);
  const required = columns.flatMap((column, position) => (column.required ? [{ column, position }] : []));
  return (record) => {
    const row: Scalar[] = new Array(columns.length + 1).fill(null);
    const state: MappingState = { row, filled: 0, misfit: undefined };
    fillRepeated(fields, record, row);
    const rest = fill(fields, record, state, '');
    const absent = required.find(({ position }) => row[position] === null);
    if (absent !== undefined) return { misfit: `${absent.column.from.join('.')}: missing` };
    if (rest !== undefined) row[columns.length] = JSON.stringify(rest);
    if (rest !== undefined && !isStorable(row[columns.length] as string, ESCAPED)) state.misfit ??= 'extra';
    if (state.misfit !== undefined)
      return { misfit: `${state.misfit}: holds a character no warehouse can store` };
    return { row };
  };
}

interface MappingState {
  row: Scalar[];
  /** Columns filled so far. */
  filled: number;
  /** Path of the first text that cannot be stored. */
  misfit: string | undefined;
}

function fieldTree(table: Table): Map<string, Field> {
  const root = new Map<string, Field>();
  const at = (path: readonly string[]): Field => {
    let fields = root;
    let field: Field = {};
    for (const [depth, name] of path.entries()) {
      field = fields.get(name) ?? {};
      fields.set(name, field);
      if (depth < path.length - 1) {
        field.fields ??= new Map();
        fields = field.fields;
      }
    }
    return field;
  };
  for (const [position, column] of recordColumns(table).entries()) {
    Object.assign(at(column.from), { position, type: column.type });
    if (column.again !== undefined) Object.assign(at(column.again), { repeats: position, type: column.type });
  }
  return root;
}

/** Fills columns whose own field is absent from the field that repeats it; the own field wins later. */
function fillRepeated(fields: Map<string, Field>, object: JsonObject, row: Scalar[]): void {
  for (const [name, field] of fields) {
    const value = object[name];
    if (field.fields !== undefined && isObject(value)) fillRepeated(field.fields, value, row);
    if (field.repeats !== undefined && field.type !== undefined && value !== undefined) {
      const held = hold(value, field.type);
      if (held !== undefined) row[field.repeats] = held;
    }
  }
}

/** Fills columns from `object`; returns what is left of it, undefined where nothing is. */
function fill(
  fields: Map<string, Field>,
  object: JsonObject,
  state: MappingState,
  path: string,
): JsonObject | undefined {
  let rest: JsonObject | undefined;
  const filledBefore = state.filled;
  const repeated: string[] = [];
  const keep = (name: string, value: Json) => {
    rest ??= Object.create(null) as JsonObject;
    rest[name] = value;
  };
  for (const name of Object.keys(object)) {
    const value = object[name] as Json;
    if (value === null || value === undefined) continue;
    const field = fields.get(name);
    if (field?.fields !== undefined && isObject(value)) {
      const left = fill(field.fields, value, state, `${path}${name}.`);
      if (left !== undefined) keep(name, left);
    } else if (field?.position !== undefined && field.type !== undefined) {
      if (!fillColumn(field.position, field.type, value, state, path + name)) keep(name, value);
    } else if (field?.repeats !== undefined && state.row[field.repeats] === value) {
      repeated.push(name);
    } else {
      keep(name, value);
    }
  }
  // An object of which only a repeated value is known would not be told from an absent one.
  if (state.filled === filledBefore) for (const name of repeated) keep(name, object[name] as Json);
  return rest;
}

/** Writes the column; false where it could not hold the value exactly and `extra` has to keep it. */
function fillColumn(
  position: number,
  type: ColumnType,
  value: Json,
  state: MappingState,
  path: string,
): boolean {
  const held = hold(value, type);
  if (held === undefined) return false;
  if (typeof held === 'string' && !isStorable(held, PLAIN)) state.misfit ??= path;
  state.row[position] = held;
  state.filled++;
  return type === 'json' || held === value;
}

/** The value as the column holds it, or undefined where the column cannot hold it. */
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
    case 'text':
    case 'date':
      return typeof value === 'string' ? value : undefined;
    case 'json':
      return JSON.stringify(value);
  }
}

const INTEGER = /^-?\d{1,19}$/;
const INSTANT = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3})\d*Z$/;

/** To the millisecond; a finer fraction is kept in `extra` because the text is then not equal. */
function holdInstant(value: string): string | undefined {
  if (value.length === 24) return value;
  const match = INSTANT.exec(value);
  return match === null ? undefined : `${match[1]}Z`;
}

const PLAIN = /\0/;
/** NUL and lone surrogates as JSON.stringify writes them. */
const ESCAPED = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/;

/** PostgreSQL stores no NUL and no lone surrogate; both engines refuse them alike. */
const isStorable = (text: string, forbidden: RegExp): boolean => text.isWellFormed() && !forbidden.test(text);

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
