// Reads one dropped file, whatever its format, into things and faults. A file that cannot be read is a fault of
// its own; only a file that is gone is an error, since then there is nothing to tell of.
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { Json } from '../core/glossary.ts';
import { csvTable, UnreadableTable } from './csv-table.ts';
import { parseJson, UnreadableJson } from './json-text.ts';
import { type ReaderContext, readRecords, readTable } from './row-reader.ts';
import { decodeWhole, UnreadableText } from './text-decoding.ts';
import type { Reading } from './things.ts';
import { xlsxTable } from './xlsx-table.ts';

/** Largest JSON or XLSX file; they are read whole. */
export const MOST_WHOLE_BYTES = 64 * 1024 * 1024;

export const FORMATS: readonly string[] = ['.json', '.csv', '.xlsx'];

export interface DropFile {
  path: string;
  name: string;
  size: number;
}

export async function* readDropFile(file: DropFile, context: ReaderContext): AsyncIterable<Reading> {
  try {
    yield* readFormat(file, context);
  } catch (error) {
    const reason = reasonOf(error);
    if (reason === undefined) throw error;
    yield { fault: { origin: file.name, reason } };
  }
}

async function* readFormat({ path, name, size }: DropFile, context: ReaderContext): AsyncIterable<Reading> {
  const format = extname(name).toLowerCase();
  if (format === '.csv') return yield* readTable(await csvTable(createReadStream(path)), name, context);
  if (size > MOST_WHOLE_BYTES) {
    yield { fault: { origin: name, reason: 'file larger than 64 MB; split it, or write it as CSV' } };
    return;
  }
  const bytes = await readFile(path);
  if (format === '.xlsx') return yield* readTable(await xlsxTable(bytes), name, context);
  yield* readRecords(recordsOf(parseJson(await decodeWhole(bytes))), name, context);
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
