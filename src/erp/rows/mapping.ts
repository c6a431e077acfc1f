// Maps the ERP's columns to canonical paths: the column of a field, the meaning of its words, the default of an empty cell.
// Constants and defaults are filled in after folding: before it, an empty row would no longer be empty.
import { Fatal } from '../../core/errors.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import { didYouMean } from '../../core/text/near-word.ts';
import type { FeedKind } from '../feed-kinds.ts';
import { type FieldType, FLAT_COLUMNS } from '../items/fields.ts';
import { readCell } from './cell-values.ts';

export type Scalar = string | number | boolean;

export interface MappingRule {
  /** The ERP's column, exactly as the source names it. */
  column?: string;
  /** Several columns, whose cells are joined by a space: a date and its time. */
  columns?: readonly string[];
  /** The form of dates in the column, such as dd/MM/yyyy; date-times only. */
  format?: string;
  /** A constant instead of a column. */
  value?: Scalar;
  /** The value of an empty cell. */
  default?: Scalar;
  /** The meaning of words in the column; other words stay unchanged. */
  values?: Readonly<Record<string, Scalar>>;
}

/** By canonical path; a text is the name of a column. */
export type Mapping = Readonly<Record<string, string | MappingRule>>;

export interface Rename {
  path: string;
  columns: readonly string[];
  values: Readonly<Record<string, Scalar>>;
}

export interface ReadyMapping {
  isEmpty: boolean;
  /** Columns with names of their own. */
  renames: Rename[];
  /** Values of absent fields, by canonical path. */
  fill: JsonObject;
  /** Forms of dates, by canonical path. */
  formats: Record<string, string>;
}

/** By canonical path: why its rule cannot be used. */
export function mappingIssues(kind: FeedKind, mapping: Mapping): [path: string, failure: Fatal][] {
  return Object.entries(mapping).flatMap(([path, rule]): [string, Fatal][] => {
    try {
      prepareMapping(kind, { [path]: rule });
      return [];
    } catch (thrown) {
      if (thrown instanceof Fatal) return [[path, thrown]];
      throw thrown;
    }
  });
}

export function prepareMapping(kind: FeedKind, mapping: Mapping): ReadyMapping {
  const renames: Rename[] = [];
  const fill: JsonObject = {};
  const formats: Record<string, string> = {};
  for (const [path, given] of Object.entries(mapping)) {
    const rule: MappingRule = typeof given === 'string' ? { column: given } : given;
    const constant = rule.value ?? rule.default;
    const type = checkPath(kind, path);
    if (constant !== undefined) fill[path] = fillValue(type, path, constant);
    const columns = rule.columns ?? (rule.column === undefined ? [] : [rule.column]);
    if (columns.length > 0) renames.push({ path, columns, values: rule.values ?? {} });
    if (rule.format === undefined) continue;
    if (type !== 'moment') throw wrongMapping(path, 'only a date-time has a `format`', 'Remove `format`.');
    formats[path] = rule.format;
  }
  return { isEmpty: Object.keys(mapping).length === 0, renames, fill, formats };
}

function fillValue(type: FieldType, path: string, value: Scalar): Json {
  const read = readCell(type, value, { decimal: 'point' });
  if ('value' in read) return read.value;
  throw wrongMapping(path, `its value ${read.issue}`, 'Correct the value in the mapping.');
}

function checkPath(kind: FeedKind, path: string): FieldType {
  const { types } = FLAT_COLUMNS[kind];
  const type = Object.hasOwn(types, path) ? types[path] : undefined;
  if (type !== undefined) return type;
  throw wrongMapping(
    path,
    `${kind} have no such field${didYouMean(path, Object.keys(types))}`,
    'The keys of a mapping are canonical paths; docs/reference/erp-feeds.md lists the paths of each kind.',
  );
}

const wrongMapping = (path: string, what: string, hint: string): Fatal =>
  new Fatal(`The mapping of "${path}" cannot be used: ${what}`, { code: 'erp_mapping_wrong', hint });
