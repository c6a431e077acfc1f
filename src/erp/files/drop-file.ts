// Reads one dropped file, whatever its format, into items and faults. A file that cannot be read to its end gives one
// fault and no item: what stands before the break may be half of what the ERP meant. A file that is gone is an error.
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { Json } from '../../core/glossary.ts';
import { csvTable, UnreadableTable } from '../formats/csv-table.ts';
import { parseJson, UnreadableJson } from '../formats/json-text.ts';
import { decodeWhole, UnreadableText } from '../formats/text-decoding.ts';
import { xlsxTable } from '../formats/xlsx-table.ts';
import type { Reading } from '../items/item.ts';
import { type ReaderContext, readRecords, readTable, type Table } from '../rows/row-reader.ts';

/** Largest JSON or XLSX file; they are read whole. */
export const MOST_WHOLE_BYTES = 64 * 1024 * 1024;

export const FORMATS: readonly string[] = ['.json', '.csv', '.xlsx'];

export interface DropFile {
  path: string;
  name: string;
  size: number;
}

type Readings = AsyncIterable<Reading> | Iterable<Reading>;

export async function* readDropFile(file: DropFile, context: ReaderContext): AsyncIterable<Reading> {
  const readings = await openFile(file, context);
  if ('reason' in readings) yield { fault: { origin: file.name, reason: readings.reason } };
  else yield* readings;
}

/** A file that was opened is readable to its end: a break after that means that it has changed. */
async function openFile(file: DropFile, context: ReaderContext): Promise<Readings | { reason: string }> {
  try {
    return await readFormat(file, context);
  } catch (error) {
    const reason = reasonOf(error);
    if (reason === undefined) throw error;
    return { reason };
  }
}

async function readFormat({ path, name, size }: DropFile, context: ReaderContext): Promise<Readings> {
  const format = extname(name).toLowerCase();
  if (format === '.csv') {
    // Read twice: the file may be larger than the memory.
    for await (const _ of csvRows(path, ({ rows }) => rows));
    return csvRows(path, (table) => readTable(table, name, context));
  }
  if (size > MOST_WHOLE_BYTES)
    throw new UnreadableTable('file larger than 64 MB; split it, or write it as CSV');
  const bytes = await readFile(path);
  if (format === '.xlsx') return readTable(await xlsxTable(bytes), name, context);
  return readRecords(recordsOf(parseJson(await decodeWhole(bytes))), name, context);
}

/** Closes the file wherever the reading ends. */
async function* csvRows<T>(
  path: string,
  read: (table: Table) => AsyncIterable<T> | Iterable<T>,
): AsyncIterable<T> {
  const stream = createReadStream(path);
  try {
    yield* read(await csvTable(stream));
  } finally {
    stream.destroy();
    if (!stream.closed) await new Promise<void>((resolve) => stream.once('close', resolve));
  }
}

const recordsOf = (document: Json): Json[] => (Array.isArray(document) ? document : [document]);

/** Why the file cannot be read, or undefined where the failure is not the file's. */
function reasonOf(error: unknown): string | undefined {
  if (
    error instanceof UnreadableText ||
    error instanceof UnreadableTable ||
    error instanceof UnreadableJson
  ) {
    return error.message;
  }
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EACCES' || code === 'EPERM')
    return `the file may not be read (${code}); check its permissions`;
  return undefined;
}
