// Reads the first sheet of an XLSX workbook as a table. Date cells have no zone, so they become the wall-clock time that
// they show. Merged cells are empty except the first, as the folding of rows expects.

import { wallTime } from '../items/moments.ts';
import type { Table, TableRow } from '../rows/row-reader.ts';
import { cellsOf } from './csv-table.ts';
import { Unreadable } from './text-decoding.ts';

export async function xlsxTable(bytes: Buffer): Promise<Table> {
  const sheet = await firstSheet(bytes);
  const start = sheet.findIndex((row) => row.some((cell) => cell !== null));
  if (start < 0) throw new Unreadable('the first sheet is empty; its first row must name the columns');
  const header = trimmed(sheet[start] ?? []).map((name) => (name === null ? '' : String(name).trim()));
  return { header, rows: [...rowsOf(header, sheet, start + 1)] };
}

/** Limit for all unpacked parts of a workbook, in bytes; about two million cells. */
const LARGEST_UNPACKED = 64 * 1024 * 1024;

async function firstSheet(bytes: Buffer): Promise<unknown[][]> {
  await checkUnpackedSize(bytes);
  // Not the version for Node: it unpacks as it streams, and hangs forever on some damaged archives. Loaded on first use:
  // few feeds have workbooks.
  const { readSheet } = await import('read-excel-file/universal');
  try {
    return (await readSheet(new Uint8Array(bytes).buffer)) as unknown[][];
  } catch (error) {
    const { code, name } = error as { code?: unknown; name?: unknown };
    const detail = typeof code === 'string' ? code : String(name);
    throw new Unreadable(`is not a readable XLSX workbook (${detail}); save it again as .xlsx`);
  }
}

/** Checks the sizes in the archive's directory before unpacking: a few kilobytes may unpack to gigabytes of spaces. */
async function checkUnpackedSize(bytes: Buffer): Promise<void> {
  // The workbook reader unpacks every part, pictures too, with this package. It allocates the listed size, so a part cannot
  // exceed it.
  const { unzipSync } = await import('fflate');
  let unpacked = 0;
  const count = ({ originalSize }: { originalSize: number }): boolean => {
    unpacked += originalSize;
    return false;
  };
  try {
    unzipSync(bytes, { filter: count });
  } catch {
    return; // Not an archive: the workbook reader reports the reason.
  }
  if (unpacked > LARGEST_UNPACKED) throw new Unreadable('unpacks to more than 64 MB; split it, or write it as CSV');
}

/** Without empty cells at the end. */
function trimmed(row: readonly unknown[]): readonly unknown[] {
  return row.slice(0, row.findLastIndex((cell) => cell !== null) + 1);
}

function* rowsOf(header: readonly string[], sheet: readonly unknown[][], from: number): Iterable<TableRow> {
  for (let i = from; i < sheet.length; i++) {
    const cells = trimmed(sheet[i] ?? []).map((cell) => (cell instanceof Date ? wallTime(cell) : cell));
    if (cells.length > header.length)
      throw new Unreadable(`row ${i + 1} has cells outside the header; no item of the file was read`);
    yield { place: `row ${i + 1}`, cells: cellsOf(header, cells) };
  }
}
