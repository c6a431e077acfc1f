// Maps the ERP's columns to canonical paths: the column of a field, the meaning of its words, the default of an empty cell.
// Constants and defaults are filled in after folding: before it, an empty row would no longer be empty.
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
  /** The value of an empty cell. */
  default?: Scalar;
  /** The meaning of words in the column; other words stay unchanged. */
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
  /** Columns with names of their own. */
  renames: Rename[];
  /** Values of absent fields, by canonical path. */
  fill: JsonObject;
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
  for (const [path, given] of Object.entries(mapping)) {
    const rule = typeof given === 'string' ? { column: given } : given;
    const constant = rule.value ?? rule.default;
    if (constant !== undefined) fill[path] = fillValue(kind, path, constant);
    else checkPath(kind, path);
    if (rule.column !== undefined) renames.push({ path, column: rule.column, values: rule.values ?? {} });
  }
  return { isEmpty: Object.keys(mapping).length === 0, renames, fill };
}

function fillValue(kind: FeedKind, path: string, value: Scalar): Json {
  const read = readCell(checkPath(kind, path), value);
  if ('value' in read) return read.value;
  throw wrongMapping(path, `its value ${read.issue}`, 'Correct the value in the mapping.');
}

function checkPath(kind: FeedKind, path: string) {
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
