// Reads a sheet of an XLSX workbook as a table. Date cells have no zone, so they become the wall-clock time that they show.
// Merged cells are empty except the first, as the folding of rows expects.

import { NO_RESULT } from '../rows/cell-values.ts';
import type { Table, TableRow } from '../rows/row-reader.ts';
import { cellsOf } from './csv-table.ts';
import { HEADER_ROWS, type HeaderRule, headerIndex, headerNames, noHeader } from './header-row.ts';
import { Unreadable } from './text-decoding.ts';
import { withTextCells } from './workbook-cells.ts';

export interface XlsxOptions {
  header?: HeaderRule;
  /** Name or number of the sheet, from 1; default: the first. */
  sheet?: string | number | undefined;
}

export async function xlsxTable(bytes: Buffer, { header: rule = {}, sheet = 1 }: XlsxOptions = {}): Promise<Table> {
  const rows = await readRows(bytes, sheet);
  const at = headerIndex(rows.slice(0, HEADER_ROWS), rule);
  if (at === undefined) throw new Unreadable(noHeader(sheetName(sheet), rule));
  const header = headerNames(rows[at] ?? []);
  return { header, rows: [...rowsOf(header, rows, at + 1)], place: { headerRow: at + 1, sheet: String(sheet) } };
}

const sheetName = (sheet: string | number): string =>
  typeof sheet === 'string' ? `sheet "${sheet}"` : sheet === 1 ? 'first sheet' : `sheet ${sheet}`;

async function readRows(given: Buffer, sheet: string | number): Promise<unknown[][]> {
  const bytes = await withTextCells(given);
  // Not the version for Node: it unpacks as it streams, and hangs forever on some damaged archives. Loaded on first use:
  // few feeds have workbooks.
  const { readSheet, SheetNotFoundError } = await import('read-excel-file/universal');
  try {
    return (await readSheet(new Uint8Array(bytes).buffer, sheet)) as unknown[][];
  } catch (error) {
    if (error instanceof SheetNotFoundError)
      throw new Unreadable(
        `has no ${sheetName(sheet)}, only ${(error as unknown as { sheets: string[] }).sheets.join(', ')}; correct \`sheet\` of the feed`,
      );
    const { code, name } = error as { code?: unknown; name?: unknown };
    const detail = typeof code === 'string' ? code : String(name);
    throw new Unreadable(`is not a readable XLSX workbook (${detail}); save it again as .xlsx`);
  }
}

/** Without empty cells at the end. Outside the header, a formula without a result is as good as empty. */
function trimmed(row: readonly unknown[], width: number): readonly unknown[] {
  const isEmpty = (cell: unknown, i: number): boolean => cell === null || (cell === NO_RESULT && i >= width);
  return row.slice(0, row.findLastIndex((cell, i) => !isEmpty(cell, i)) + 1);
}

function* rowsOf(header: readonly string[], sheet: readonly unknown[][], from: number): Iterable<TableRow> {
  for (let i = from; i < sheet.length; i++) {
    const cells = trimmed(sheet[i] ?? [], header.length).map((cell) => (cell instanceof Date ? dateText(cell) : cell));
    if (cells.length > header.length)
      throw new Unreadable(`row ${i + 1} has cells outside the header; no item of the file was read`, i + 1);
    yield { row: i + 1, cells: cellsOf(header, cells) };
  }
}

/** A time of day without a date is stored as a time of the first day of the calendar. */
function dateText(cell: Date): string {
  // Rounded to the second: cells store fractions of days.
  const text = new Date(Math.round(cell.getTime() / 1_000) * 1_000).toISOString().slice(0, 19);
  return text < '1901' ? text.slice('1900-01-00T'.length) : text;
}
