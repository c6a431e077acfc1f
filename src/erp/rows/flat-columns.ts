// Matches the columns of a flat source to canonical paths. This is done once per header, so that a wrong header gives one
// issue for each wrong column, not one for each row.
import { memoize } from '../../core/memoize.ts';
import { firstNames } from '../../core/text/first-names.ts';
import { didYouMean } from '../../core/text/near-word.ts';
import type { FeedKind } from '../feed-kinds.ts';
import { FLAT_COLUMNS } from '../items/fields.ts';
import { cellText, isEmptyCell, isSpreadsheetError } from './cell-values.ts';
import { labelledPaths, suggestedPath } from './column-names.ts';
import type { ReadyMapping, Rename } from './mapping.ts';
import { withoutMidnight } from './written-values.ts';

export type Cells = Readonly<Record<string, unknown>>;

export interface FlatColumnsInUse {
  /** The columns of each path that is read. */
  reads: readonly Rename[];
  /** Columns that are not read; without a mapping each of them is an issue. */
  unread: string[];
  /** Why rows under this header cannot be read; empty if they can. */
  issues: string[];
  /** The non-empty cells, by canonical path. */
  pick(cells: Cells): Record<string, unknown>;
}

const MOST_UNKNOWN = 1_000;

/**
 * Matches the headers of one read. In a table each row has every column of the header; JSON objects may leave columns out, so
 * each object may have another header.
 */
export function columnMatcher(
  kind: FeedKind,
  mapping: ReadyMapping,
  { isTable }: { isTable: boolean },
): (header: readonly string[]) => FlatColumnsInUse {
  const { types, required } = FLAT_COLUMNS[kind];
  const renamed = new Set(mapping.renames.map(({ path }) => path));
  const mapped = new Set(mapping.renames.flatMap(({ columns }) => columns));
  // A mapping names the ERP's columns, so a label among them has its own meaning.
  const pathOfLabel = mapping.isEmpty ? labelledPaths(kind) : () => undefined;
  // The search for a similar name takes long, and the same name may be in many headers.
  const unknownIssue = memoize(MOST_UNKNOWN, (column: string) => unknownColumn(kind, column));
  return (header) => {
    const direct: Rename[] = [];
    const unread: string[] = [];
    for (const column of header) {
      const name = kind === 'route_plans' ? column : column.replace(/^data\./, '');
      const path = Object.hasOwn(types, name) ? name : pathOfLabel(column);
      if (path !== undefined && !renamed.has(path)) direct.push({ path, columns: [column], values: {} });
      else if (!mapped.has(column)) unread.push(column);
    }
    const reads = [...direct, ...mapping.renames];
    const issues = mapping.isEmpty ? unread.map((column) => unknownIssue(column)) : [];
    if (isTable) issues.push(...duplicates(header, reads), ...missing(required, reads, mapping, header));
    else if (header.length > 0 && !reads.some(({ columns }) => columns.some((column) => isIn(header, column))))
      issues.push(`has none of the mapped columns (${list([...mapped])}); its names are ${list(header)}`);
    return { reads, unread, issues, pick: (cells) => pick(reads, cells) };
  };
}

/** Whether a record with these names may have the column, which may be a dotted path. */
const isIn = (names: readonly string[], column: string): boolean =>
  names.includes(column) || names.includes(column.split('.', 1)[0] ?? column);

const MOST_NAMES = 10;

export const list = (names: readonly string[]): string => firstNames(names.map(shown), MOST_NAMES);

function unknownColumn(kind: FeedKind, column: string): string {
  if (column.trim() === '') return 'a column has no name in the header; name it or remove it';
  const path = suggestedPath(kind, column);
  const meant = path === undefined ? '' : ` (did you mean "${path}"?)`;
  return `unknown column "${shown(column)}"${meant}; rename it, remove it or map it`;
}

/** A wrong file may have a header of a megabyte. */
const shown = (column: string): string => (column.length > 80 ? `${column.slice(0, 80)}…` : column);

/** A column that nobody reads may occur twice, as the keys of two joined tables do. */
function duplicates(header: readonly string[], reads: readonly Rename[]): string[] {
  const names = new Set(reads.flatMap(({ columns }) => columns));
  const twice = [...names].filter((column) => header.indexOf(column) !== header.lastIndexOf(column));
  const repeated = twice.map(
    (column) => `the column "${shown(column)}" occurs twice in the header; keep one or rename one`,
  );
  const sameField = [...Map.groupBy(reads, ({ path }) => path)].flatMap(([path, own]) => {
    const columns = new Set(own.map((read) => read.columns.join(' + ')));
    return columns.size > 1 ? [`the columns ${list([...columns])} all mean ${path}; keep one`] : [];
  });
  return [...repeated, ...sameField];
}

function missing(
  required: readonly string[],
  reads: readonly Rename[],
  { fill }: ReadyMapping,
  header: readonly string[],
): string[] {
  const gone = reads
    .flatMap(({ columns, path }) => columns.map((column) => ({ column, path })))
    .filter(({ column }) => !header.includes(column))
    .map(({ column, path }) => `the mapped column "${column}" (${path}) is missing${didYouMean(column, header)}`);
  const given = new Set([...reads.map(({ path }) => path), ...Object.keys(fill)]);
  const absent = required.filter((path) => !given.has(path)).map((path) => `the column "${path}" is missing`);
  return [...gone, ...absent];
}

function pick(reads: readonly Rename[], cells: Cells): Record<string, unknown> {
  const picked: Record<string, unknown> = {};
  for (const { path, columns, values } of reads) {
    const [only = '', second] = columns;
    const cell = second === undefined ? cellAt(cells, only) : joined(columns.map((column) => cellAt(cells, column)));
    if (isEmptyCell(cell)) continue;
    const word = cellText(cell);
    picked[path] = Object.hasOwn(values, word) ? values[word] : cell;
  }
  return picked;
}

/** A single given cell stays as it is, without midnight: the cell with the time is empty. An error must not become part of a text. */
function joined(cells: readonly unknown[]): unknown {
  const given = cells.filter((cell) => !isEmptyCell(cell));
  const error = given.find(isSpreadsheetError);
  if (error !== undefined) return error;
  if (given.length > 1) return given.map(cellText).join(' ');
  const [only] = given;
  return typeof only === 'string' ? withoutMidnight(only) : only;
}

/** The cell of a column, by name or by a dotted path into a nested object. */
export function cellAt(cells: Cells, column: string): unknown {
  if (Object.hasOwn(cells, column)) return cells[column];
  let at: unknown = cells;
  for (const step of column.split('.')) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return undefined;
    at = (at as Cells)[step];
  }
  return at;
}
