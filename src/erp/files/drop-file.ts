// Reads items and read errors from one dropped file of any format. A file that cannot be read to its end gives one read
// error and no item: its readable beginning may be half of what the ERP meant. A missing file throws.
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { Json } from '../../core/json.ts';
import { type CsvOptions, csvTable } from '../formats/csv-table.ts';
import type { HeaderRule } from '../formats/header-row.ts';
import { parseJsonBytes } from '../formats/json-text.ts';
import { type Encoding, inEncoding, Unreadable } from '../formats/text-decoding.ts';
import { xlsxTable } from '../formats/xlsx-table.ts';
import type { ParsedItem } from '../items/item.ts';
import { columnNameTest } from '../rows/column-names.ts';
import { cellAt } from '../rows/flat-columns.ts';
import { type ReaderContext, readRecords, readTable, type Table } from '../rows/row-reader.ts';

/** Largest JSON or XLSX file; these are read into memory. */
const MOST_BUFFERED_BYTES = 64 * 1024 * 1024;

export const FORMATS: readonly string[] = ['.json', '.csv', '.xlsx'];

export interface DropFile {
  path: string;
  name: string;
  size: number;
  /** Instead of a file at the path: an answer of the ERP. */
  content?: Uint8Array;
}

/** How the files of a feed are written; what is absent is found in the file. */
export interface FileFormat {
  encoding?: Encoding | undefined;
  /** Name or number of the sheet of a workbook; default: the first. */
  sheet?: string | number | undefined;
  /** Row of the header, from 1. */
  headerRow?: number | undefined;
}

export interface FileContext extends ReaderContext {
  file?: FileFormat;
  /** Dotted path to the list in a JSON document; empty if the document is the list. Default: the list, or one record. */
  records?: string;
}

type ParsedItems = AsyncIterable<ParsedItem> | Iterable<ParsedItem>;

/** `signal` aborts the read of a CSV file, which may be of any size. */
export async function* readDropFile(
  file: DropFile,
  context: FileContext,
  signal?: AbortSignal,
): AsyncIterable<ParsedItem> {
  let parsedItems: ParsedItems;
  try {
    parsedItems = await openFile(file, context, signal);
  } catch (error) {
    const reason = reasonOf(error);
    if (reason === undefined) throw error;
    const row = error instanceof Unreadable ? error.row : undefined;
    const place = row === undefined ? {} : { place: { row } };
    parsedItems = [{ readError: { origin: file.name, reason, ...place }, whole: 'unreadable' }];
  }
  // A failure from here on means that the file has changed.
  yield* parsedItems;
}

async function openFile(
  { path, name, size, content }: DropFile,
  context: FileContext,
  signal: AbortSignal | undefined,
): Promise<ParsedItems> {
  const format = extname(path).toLowerCase();
  const { encoding, sheet, headerRow } = context.file ?? {};
  const header: HeaderRule = { row: headerRow, isName: columnNameTest(context.kind, context.mapping) };
  if (format === '.csv') {
    // The first pass only checks that the file is readable to its end: it may be too large for memory.
    const found = await inEncoding(encoding, async (tried) => {
      for await (const _ of csvRows({ path, signal, header, ...tried }, ({ rows }) => rows));
      return tried;
    });
    return csvRows({ path, signal, header, ...found }, (table) => readTable(table, name, context));
  }
  if (size > MOST_BUFFERED_BYTES) throw new Unreadable('file larger than 64 MB; split it, or write it as CSV');
  const bytes = content === undefined ? await readFile(path) : Buffer.from(content);
  if (format === '.xlsx') return readTable(await xlsxTable(bytes, { header, sheet }), name, context);
  const document = await parseJsonBytes(bytes, encoding);
  const { records } = context;
  const list = records === undefined ? [document].flat() : listAt(document, records);
  return readRecords(list, name, context);
}

function listAt(document: Json, path: string): Json[] {
  const found = path === '' || document === null ? document : cellAt(document as Record<string, Json>, path);
  if (Array.isArray(found)) return found as Json[];
  throw new Unreadable(path === '' ? 'no list' : `no list at "${path}"`);
}

interface CsvRead extends CsvOptions {
  path: string;
  signal: AbortSignal | undefined;
}

/** Closes the file however the read ends. */
async function* csvRows<T>(
  { path, signal, ...options }: CsvRead,
  read: (table: Table) => AsyncIterable<T> | Iterable<T>,
): AsyncIterable<T> {
  const stream = createReadStream(path, { signal });
  try {
    yield* read(await csvTable(stream, options));
  } finally {
    stream.destroy();
    if (!stream.closed) await new Promise<void>((resolve) => stream.once('close', resolve));
  }
}

/** Why the file cannot be read, or undefined if the file is not the cause. */
function reasonOf(error: unknown): string | undefined {
  if (error instanceof Unreadable) return error.message;
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EACCES' || code === 'EPERM') return `no permission to read the file (${code}); check its permissions`;
  return undefined;
}
