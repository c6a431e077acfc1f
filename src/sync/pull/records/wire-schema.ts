// The wire schema of a table's records: each column describes its field, and the endpoint adds fields with a known form and
// no column. It validates the records that the table's compiled function does not accept.
import { z } from 'zod';
import type { RecordFields } from '../../../fleet/endpoint.ts';
import { day as date, decimal, flag, id, instant, integer, name, object, text } from '../../../fleet/wire.ts';
import { type Column, recordColumns, type Table } from '../../../warehouse/schema/table.ts';

const schemas = new WeakMap<Table, z.ZodType>();

/**
 * Cached by table, because its records have the same form from every call. Compiled on first use: most commands and most
 * runs never need it.
 */
export function wireSchema(table: Table, endpoint?: RecordFields): z.ZodType {
  const known = schemas.get(table);
  if (known !== undefined) return known;
  const made = z.compile(z.looseObject(shapeOf(table, endpoint)));
  schemas.set(table, made);
  return made;
}

type Shape = Record<string, z.ZodType>;
/** Fields by name; a map is an object of fields. */
type Fields = Map<string, z.ZodType | Fields>;

function shapeOf(table: Table, { identity = 'id', fields = {} }: RecordFields = {}): Shape {
  const root: Fields = new Map();
  // Columns that the job adds are not fields of the service.
  const columns = recordColumns(table).filter(({ added }) => !added);
  for (const column of columns) {
    const schema = column.name === identity ? identitySchema(column) : valueSchema(column);
    if (schema !== undefined) place(root, column.from, schema);
  }
  for (const [path, schema] of Object.entries(fields)) place(root, path.split('.'), schema);
  for (const column of columns) {
    const schema = valueSchema(column);
    if (column.alias !== undefined && schema !== undefined) placeAlias(root, column.alias, schema);
  }
  return shape(root);
}

const identitySchema = ({ type }: Column): z.ZodType => (type === 'integer' ? id : name);

/** Undefined if any value is valid; a value that the column cannot hold stays in `extra`. */
function valueSchema({ type, undocumented }: Column): z.ZodType | undefined {
  return undocumented || type === 'json' ? undefined : BLOCKS[type];
}

const BLOCKS = { integer, real: decimal, text, boolean: flag, instant, date };

function place(root: Fields, path: readonly string[], schema: z.ZodType): void {
  let fields = root;
  for (const name of path.slice(0, -1)) {
    const inner = fields.get(name);
    const next: Fields = inner instanceof Map ? inner : new Map();
    fields.set(name, next);
    fields = next;
  }
  fields.set(path.at(-1) ?? '', schema);
}

/** An alias is validated only in an object that other columns describe. */
function placeAlias(root: Fields, path: readonly string[], schema: z.ZodType): void {
  const parent = path
    .slice(0, -1)
    .reduce<Fields | z.ZodType | undefined>(
      (fields, name) => (fields instanceof Map ? fields.get(name) : undefined),
      root,
    );
  if (parent instanceof Map) parent.set(path.at(-1) ?? '', schema);
}

const shape = (fields: Fields): Shape =>
  Object.fromEntries([...fields].map(([name, field]) => [name, field instanceof Map ? object(shape(field)) : field]));
