// The ERP's own columns by canonical path: where a field comes from, what its words mean, what stands in for an
// empty cell. Constants and defaults are filled in after folding, so that they never make an empty row look full.
import { Fatal } from '../../core/errors.ts';
import type { Json, JsonObject } from '../../core/glossary.ts';
import { didYouMean } from '../../core/text/near-word.ts';
import type { FeedKind } from '../feed-kinds.ts';
import { FLAT_COLUMNS } from '../items/fields.ts';
import { readCell } from './cell-values.ts';

export type Scalar = string | number | boolean;

export interface MappingRule {
  /** The ERP's column, exactly as the source names it. */
  column?: string;
  /** A constant instead of a column. */
  value?: Scalar;
  /** Stands in for an empty cell. */
  default?: Scalar;
  /** What the words of the column mean; others are taken as they are. */
  values?: Readonly<Record<string, Scalar>>;
}

/** By canonical path; a text is the name of a column. */
export type Mapping = Readonly<Record<string, string | MappingRule>>;

export interface Rename {
  path: string;
  column: string;
  values: Readonly<Record<string, Scalar>>;
}

export interface ReadyMapping {
  isEmpty: boolean;
  /** Columns that are read under another name. */
  renames: Rename[];
  /** What stands where a field is absent, by canonical path. */
  fill: JsonObject;
}

export function prepareMapping(kind: FeedKind, mapping: Mapping): ReadyMapping {
  const renames: Rename[] = [];
  const fill: JsonObject = {};
  for (const [path, given] of Object.entries(mapping)) {
    const rule = typeof given === 'string' ? { column: given } : given;
    const stands = rule.value ?? rule.default;
    if (stands !== undefined) fill[path] = fillValue(kind, path, stands);
    else checkPath(kind, path);
    if (rule.column !== undefined) renames.push({ path, column: rule.column, values: rule.values ?? {} });
  }
  return { isEmpty: Object.keys(mapping).length === 0, renames, fill };
}

function fillValue(kind: FeedKind, path: string, value: Scalar): Json {
  const read = readCell(checkPath(kind, path), value);
  if ('value' in read) return read.value;
  throw wrongMapping(path, `the value given ${read.fault}`, 'Correct the value in the mapping.');
}

function checkPath(kind: FeedKind, path: string) {
  const { types } = FLAT_COLUMNS[kind];
  const type = Object.hasOwn(types, path) ? types[path] : undefined;
  if (type !== undefined) return type;
  throw wrongMapping(
    path,
    `${kind} have no such field${didYouMean(path, Object.keys(types))}`,
    'The mapping is keyed by canonical path; docs/reference/erp-feeds.md lists the paths of each kind.',
  );
}

const wrongMapping = (path: string, what: string, hint: string): Fatal =>
  new Fatal(`The mapping of "${path}" cannot be used: ${what}`, { code: 'erp_mapping_wrong', hint });
