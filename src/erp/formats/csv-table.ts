// Streams a CSV file of any size as a table, row by row. The delimiter is detected from the header line. A parser error
// ends the table with a readable reason.
import { pipeline, Readable } from 'node:stream';
import type { CsvError, Parser } from 'csv-parse';
import { yieldToEventLoop } from '../../core/event-loop.ts';
import type { Table, TableRow } from '../rows/row-reader.ts';
import { decodeText, Unreadable } from './text-decoding.ts';

const DELIMITERS = [',', ';', '\t'];
/** A larger record means a missing quotation mark, not data. */
const LARGEST_RECORD = 1024 * 1024;
/** The parser lags a few chunks behind the text that it was given. */
const MOST_LAG = LARGEST_RECORD / 2;

/** Rows between two yields to the event loop: a chunk of the file may contain 64,000 empty rows. */
const ROWS_PER_TURN = 2_000;

/** Far more than the fields of any kind. */
const MOST_COLUMNS = 1_000;

export async function csvTable(chunks: AsyncIterable<Buffer>): Promise<Table> {
  const text = decodeText(chunks)[Symbol.asyncIterator]();
  const head = await firstLines(text);
  const records = parsed(joined(head, text), delimiterOf(head.join('')));
  const first = await records.next();
  if (first.done) throw new Unreadable('the file is empty; its first line must name the columns');
  const names = first.value.map((name) => name.trim());
  const header = names.slice(0, names.findLastIndex((name) => name !== '') + 1);
  if (header.length > MOST_COLUMNS)
    throw new Unreadable(`the header has more than ${MOST_COLUMNS} columns; remove those that are not needed`);
  return { header, rows: rowsOf(header, records) };
}

/** The first chunks, up to the end of the header line. They stay separate: the parser processes a chunk in one step. */
async function firstLines(text: AsyncIterator<string>): Promise<string[]> {
  const head: string[] = [];
  let size = 0;
  while (size < LARGEST_RECORD && !hasHeaderLine(head.join(''))) {
    const next = await text.next();
    if (next.done) break;
    head.push(next.value);
    size += next.value.length;
  }
  return head;
}

/** A line that is not empty, with its end. */
const hasHeaderLine = (head: string): boolean => /[\r\n]/.test(head.trimStart());

async function* joined(head: readonly string[], rest: AsyncIterator<string>): AsyncIterable<string> {
  for (const chunk of head) {
    yield chunk;
    await yieldToEventLoop();
  }
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}

/** The delimiter that occurs most often in the header line; column names contain none. */
function delimiterOf(head: string): string {
  const line = head.trimStart().split(/[\r\n]/, 1)[0] ?? '';
  const counts = DELIMITERS.map((delimiter) => line.split(delimiter).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ',';
}

async function* parsed(text: AsyncIterable<string>, delimiter: string): AsyncGenerator<string[]> {
  // Loaded on first use: many feeds have no CSV file.
  const { CsvError, parse } = await import('csv-parse');
  const parser = parse({
    delimiter,
    relax_column_count: true,
    skip_empty_lines: false,
    max_record_size: LARGEST_RECORD,
  });
  // An error of either stream ends the loop below.
  pipeline(Readable.from(inRecordLimit(text, parser)), parser, () => undefined);
  try {
    for await (const record of parser) yield record as string[];
  } catch (error) {
    throw error instanceof CsvError ? new Unreadable(csvReason(error)) : error;
  }
}

/** The parser's own limit does not count delimiters, so it lets a row of empty cells grow without end. */
async function* inRecordLimit(text: AsyncIterable<string>, { info }: Parser): AsyncIterable<string> {
  let { records } = info;
  let size = 0;
  for await (const chunk of text) {
    if (info.records !== records) size = 0;
    records = info.records;
    size += chunk.length;
    if (size > LARGEST_RECORD + MOST_LAG)
      throw new Unreadable(csvReason({ code: 'CSV_MAX_RECORD_SIZE', lines: info.lines }));
    yield chunk;
  }
}

/** Does not use the parser's own message, which may quote a field. */
function csvReason({ code, lines }: Pick<CsvError, 'code'> & { lines?: number }): string {
  const where = lines === undefined ? '' : ` near line ${lines}`;
  const what = /QUOTE/.test(code) ? 'a quotation mark is open or misplaced' : 'the lines cannot be read as CSV';
  return `${what}${where} (${code}); no item of the file was read`;
}

async function* rowsOf(header: readonly string[], records: AsyncIterable<string[]>): AsyncIterable<TableRow> {
  let row = 1;
  for await (const record of records) {
    row += 1;
    if (row % ROWS_PER_TURN === 0) await yieldToEventLoop();
    if (record.slice(header.length).some((cell) => cell.trim() !== '')) {
      throw new Unreadable(
        `row ${row} has more cells than the header; put quotation marks around texts that contain the delimiter; no item of the file was read`,
      );
    }
    yield { place: `row ${row}`, cells: cellsOf(header, record) };
  }
}

/** Only the cells of the record: a short row under a wide header must not cost more than its text. */
export const cellsOf = (header: readonly string[], record: readonly unknown[]): Record<string, unknown> =>
  Object.fromEntries(record.slice(0, header.length).map((cell, i) => [header[i], cell]));
