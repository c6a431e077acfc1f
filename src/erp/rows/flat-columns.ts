// Matches the columns of a flat source to canonical paths. This is done once per header, so that a wrong header gives one
// issue for each wrong column, not one for each row.
import { didYouMean } from '../../core/text/near-word.ts';
import type { FeedKind } from '../feed-kinds.ts';
import { FLAT_COLUMNS } from '../items/fields.ts';
import { isEmptyCell } from './cell-values.ts';
import type { ReadyMapping, Rename } from './mapping.ts';

export type Cells = Readonly<Record<string, unknown>>;

export interface FlatColumnsInUse {
  /** Why rows under this header cannot be read; empty if they can. */
  issues: string[];
  /** The non-empty cells, by canonical path. */
  pick(cells: Cells): Record<string, unknown>;
}

/** In a table each row has every column of the header; JSON objects may leave columns out. */
export function columnsInUse(
  kind: FeedKind,
  mapping: ReadyMapping,
  header: readonly string[],
  { isTable }: { isTable: boolean },
): FlatColumnsInUse {
  const { types, required } = FLAT_COLUMNS[kind];
  const renamed = new Set(mapping.renames.map(({ path }) => path));
  const direct: Rename[] = [];
  const unknown: string[] = [];
  for (const column of header) {
    const path = kind === 'route_plans' ? column : column.replace(/^data\./, '');
    if (Object.hasOwn(types, path)) {
      if (!renamed.has(path)) direct.push({ path, column, values: {} });
    } else if (mapping.isEmpty) unknown.push(column);
  }
  const reads = [...direct, ...mapping.renames];
  const issues = unknown.map((column) => unknownColumn(column, Object.keys(types)));
  if (isTable) issues.push(...duplicates(header, reads), ...missing(required, reads, mapping, header));
  return { issues, pick: (cells) => pick(reads, cells) };
}

const unknownColumn = (column: string, known: readonly string[]): string =>
  column.trim() === ''
    ? 'a column has no name in the header; name it or remove it'
    : `unknown column "${shown(column)}"${didYouMean(column, known)}; rename it, remove it or map it`;

/** A wrong file may have a header of a megabyte. */
const shown = (column: string): string => (column.length > 80 ? `${column.slice(0, 80)}…` : column);

/** A column that nobody reads may occur twice, as the keys of two joined tables do. */
function duplicates(header: readonly string[], reads: readonly Rename[]): string[] {
  const columns = new Set(reads.map(({ column }) => column));
  const twice = [...columns].filter((column) => header.indexOf(column) !== header.lastIndexOf(column));
  return twice.map((column) => `the column "${shown(column)}" occurs twice in the header; keep one or rename one`);
}

function missing(
  required: readonly string[],
  reads: readonly Rename[],
  { fill }: ReadyMapping,
  header: readonly string[],
): string[] {
  const gone = reads
    .filter(({ column }) => !header.includes(column))
    .map(({ column, path }) => `the mapped column "${column}" (${path}) is missing${didYouMean(column, header)}`);
  const given = new Set([...reads.map(({ path }) => path), ...Object.keys(fill)]);
  const absent = required.filter((path) => !given.has(path)).map((path) => `the column "${path}" is missing`);
  return [...gone, ...absent];
}

function pick(reads: readonly Rename[], cells: Cells): Record<string, unknown> {
  const picked: Record<string, unknown> = {};
  for (const { path, column, values } of reads) {
    const cell = cellAt(cells, column);
    if (isEmptyCell(cell)) continue;
    const word = String(cell).trim();
    picked[path] = Object.hasOwn(values, word) ? values[word] : cell;
  }
  return picked;
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
