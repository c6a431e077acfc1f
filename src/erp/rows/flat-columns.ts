// Which column of a flat source holds which canonical path. Decided once for a header, so that a wrong header is
// one fault that names every wrong column, not a fault for each row.
import { didYouMean } from '../../core/text/near-word.ts';
import type { FeedKind } from '../feed-kinds.ts';
import { FLAT_COLUMNS } from '../items/fields.ts';
import { isEmptyCell } from './cell-values.ts';
import type { ReadyMapping, Rename } from './mapping.ts';

export type Cells = Readonly<Record<string, unknown>>;

export interface FlatColumnsInUse {
  /** Why rows under this header cannot be read; empty where they can. */
  faults: string[];
  /** The cells that are not empty, by canonical path. */
  pick(cells: Cells): Record<string, unknown>;
}

/** What a table promises that single JSON objects do not: each row has every column of the header. */
export interface HeaderOptions {
  isTable: boolean;
}

export function columnsInUse(
  kind: FeedKind,
  mapping: ReadyMapping,
  header: readonly string[],
  { isTable }: HeaderOptions,
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
  const faults = unknown.map((column) => unknownColumn(column, Object.keys(types)));
  if (isTable) faults.push(...duplicates(header), ...missing(required, reads, mapping, header));
  return { faults, pick: (cells) => pick(reads, cells) };
}

const unknownColumn = (column: string, known: readonly string[]): string =>
  column.trim() === ''
    ? 'a column has cells but no name in the header; name it or remove it'
    : `unknown column "${shown(column)}"${didYouMean(column, known)}; rename it, remove it or map it`;

/** A header may be a megabyte of something else. */
const shown = (column: string): string => (column.length > 80 ? `${column.slice(0, 80)}…` : column);

function duplicates(header: readonly string[]): string[] {
  const seen = new Set<string>();
  const twice = new Set(header.filter((column) => seen.size === seen.add(column).size));
  return [...twice].map((column) => `the column "${shown(column)}" stands in the header twice; keep one`);
}

function missing(
  required: readonly string[],
  reads: readonly Rename[],
  { fill }: ReadyMapping,
  header: readonly string[],
): string[] {
  const gone = reads
    .filter(({ column }) => !header.includes(column))
    .map(
      ({ column, path }) => `the mapped column "${column}" (${path}) is missing${didYouMean(column, header)}`,
    );
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

/** A column by its name, or a dotted path into a nested object. */
export function cellAt(cells: Cells, column: string): unknown {
  if (Object.hasOwn(cells, column)) return cells[column];
  let at: unknown = cells;
  for (const step of column.split('.')) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return undefined;
    at = (at as Cells)[step];
  }
  return at;
}
