// Reads items and read errors from one dropped file of any format. A file that cannot be read to its end gives one read
// error and no item: its readable beginning may be half of what the ERP meant. A missing file throws.
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { text } from 'node:stream/consumers';
import { csvTable } from '../formats/csv-table.ts';
import { parseJson } from '../formats/json-text.ts';
import { decodeText, Unreadable } from '../formats/text-decoding.ts';
import { xlsxTable } from '../formats/xlsx-table.ts';
import type { Reading } from '../items/item.ts';
import { type ReaderContext, readRecords, readTable, type Table } from '../rows/row-reader.ts';

/** Largest JSON or XLSX file; these are read into memory. */
const MOST_BUFFERED_BYTES = 64 * 1024 * 1024;

export const FORMATS: readonly string[] = ['.json', '.csv', '.xlsx'];

export interface DropFile {
  path: string;
  name: string;
  size: number;
}

type Readings = AsyncIterable<Reading> | Iterable<Reading>;

/** `signal` aborts the read of a CSV file, which may be of any size. */
export async function* readDropFile(
  file: DropFile,
  context: ReaderContext,
  signal?: AbortSignal,
): AsyncIterable<Reading> {
  let readings: Readings;
  try {
    readings = await openFile(file, context, signal);
  } catch (error) {
    const reason = reasonOf(error);
    if (reason === undefined) throw error;
    readings = [{ readError: { origin: file.name, reason } }];
  }
  // A failure from here on means that the file has changed.
  yield* readings;
}

async function openFile(
  { path, name, size }: DropFile,
  context: ReaderContext,
  signal: AbortSignal | undefined,
): Promise<Readings> {
  const format = extname(name).toLowerCase();
  if (format === '.csv') {
    // The first pass only checks that the file is readable to its end: it may be too large for memory.
    for await (const _ of csvRows(path, signal, ({ rows }) => rows));
    return csvRows(path, signal, (table) => readTable(table, name, context));
  }
  if (size > MOST_BUFFERED_BYTES) throw new Unreadable('file larger than 64 MB; split it, or write it as CSV');
  const bytes = await readFile(path);
  if (format === '.xlsx') return readTable(await xlsxTable(bytes), name, context);
  const document = parseJson(await text(decodeText([bytes])));
  return readRecords(Array.isArray(document) ? document : [document], name, context);
}

/** Closes the file however the read ends. */
async function* csvRows<T>(
  path: string,
  signal: AbortSignal | undefined,
  read: (table: Table) => AsyncIterable<T> | Iterable<T>,
): AsyncIterable<T> {
  const stream = createReadStream(path, { signal });
  try {
    yield* read(await csvTable(stream));
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
