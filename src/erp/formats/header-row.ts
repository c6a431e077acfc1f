// Finds the header of a table. Spreadsheets often have a title and a date above it: the header is the row with the most
// names of columns.

export interface HeaderRule {
  /** Row of the header, from 1; default: found by its names. */
  row?: number | undefined;
  /** Whether a cell may be the name of a column. */
  isName?(cell: string): boolean;
}

/** The header is among the first rows, or where the feed says. */
export const HEADER_ROWS = 50;

const isBlank = (cell: unknown): boolean => cell === null || String(cell).trim() === '';

/** Why there is no header. */
export const noHeader = (where: string, { row }: HeaderRule): string =>
  row === undefined
    ? `the ${where} is empty; its first row must name the columns`
    : `row ${row} of the ${where} is empty; correct \`header_row\` of the feed`;

/** A single one may be a value: `Entrega` is a type of stop too. */
const FEWEST_NAMES = 2;

/** Index of the header. If no row has names of columns, the first row that is not blank; undefined if all are blank. */
export function headerIndex(rows: readonly (readonly unknown[])[], { row, isName }: HeaderRule): number | undefined {
  if (row !== undefined) return rows[row - 1]?.every(isBlank) === false ? row - 1 : undefined;
  const first = rows.findIndex((cells) => !cells.every(isBlank));
  if (first < 0) return undefined;
  const counts = rows.map((cells) =>
    differentNames(cells.filter((cell) => typeof cell === 'string' && isName?.(cell))),
  );
  const most = Math.max(...counts);
  return most < FEWEST_NAMES ? first : counts.indexOf(most);
}

const differentNames = (cells: readonly unknown[]): number =>
  new Set(cells.map((cell) => String(cell).trim().toLowerCase())).size;

/** The names of the columns, without empty ones at the end. */
export function headerNames(cells: readonly unknown[]): string[] {
  const names = cells.map((name) => (isBlank(name) ? '' : String(name).trim()));
  return names.slice(0, names.findLastIndex((name) => name !== '') + 1);
}
