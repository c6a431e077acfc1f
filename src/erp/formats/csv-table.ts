// Streams a CSV file of any size as a table, row by row. Delimiter and header are found in the first rows. A parser error
// ends the table with a readable reason.
import { pipeline, Readable } from 'node:stream';
import type { CsvError, Parser } from 'csv-parse';
import { yieldToEventLoop } from '../../core/event-loop.ts';
import type { Table, TableRow } from '../rows/row-reader.ts';
import { HEADER_ROWS, type HeaderRule, headerIndex, headerNames, noHeader } from './header-row.ts';
import { decodeText, type TextForm, Unreadable } from './text-decoding.ts';

const DELIMITERS = [',', ';', '\t'];
/** A larger record means a missing quotation mark, not data. */
const LARGEST_RECORD = 1024 * 1024;
/** The parser lags a few chunks behind the text that it was given. */
const MOST_LAG = LARGEST_RECORD / 2;

/** Rows between two yields to the event loop: a chunk of the file may contain 64,000 empty rows. */
const ROWS_PER_TURN = 2_000;

export interface CsvOptions extends TextForm {
  header?: HeaderRule;
}

export async function csvTable(chunks: AsyncIterable<Buffer>, options: CsvOptions = {}): Promise<Table> {
  const { header: rule = {}, encoding } = options;
  const text = decodeText(chunks, options)[Symbol.asyncIterator]();
  const head = await firstLines(text);
  const delimiter = delimiterOf(head.join(''), rule);
  const records = parsed(joined(head, text), delimiter);
  const first: string[][] = [];
  for (let next = await records.next(); !next.done; next = await records.next()) {
    if (first.push(next.value) >= HEADER_ROWS) break;
  }
  const at = headerIndex(first, rule);
  if (at === undefined) throw new Unreadable(noHeader('file', rule));
  const header = headerNames(first[at] ?? []);
  const place = { headerRow: at + 1, delimiter, ...(encoding !== undefined && { encoding }) };
  return { header, rows: rowsOf(header, first.slice(at + 1), records, at + 1), place };
}

/** The first chunks, up to the rows that may be the header. They stay separate: the parser processes a chunk in one step. */
async function firstLines(text: AsyncIterator<string>): Promise<string[]> {
  const head: string[] = [];
  let size = 0;
  let lines = 0;
  while (size < LARGEST_RECORD && lines < HEADER_ROWS) {
    const next = await text.next();
    if (next.done) break;
    head.push(next.value);
    size += next.value.length;
    lines += next.value.split(/\r\n|[\r\n]/, HEADER_ROWS + 1).length - 1;
  }
  return head;
}

async function* joined(head: readonly string[], rest: AsyncIterator<string>): AsyncIterable<string> {
  for (const chunk of head) {
    yield chunk;
    await yieldToEventLoop();
  }
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}

/** The delimiter that gives the most column names, otherwise the one that occurs most often in the header line. */
function delimiterOf(head: string, rule: HeaderRule): string {
  const lines = head.split(/\r\n|[\r\n]/, HEADER_ROWS);
  const found = DELIMITERS.map((delimiter) => {
    const rows = lines.map((line) => line.split(delimiter));
    const row = rows[headerIndex(rows, rule) ?? 0] ?? [];
    return { delimiter, names: row.filter((cell) => rule.isName?.(cell)).length, cells: row.length };
  });
  const [best] = found.toSorted((a, b) => b.names - a.names || b.cells - a.cells);
  return best?.delimiter ?? ',';
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

async function* rowsOf(
  header: readonly string[],
  first: readonly string[][],
  rest: AsyncIterable<string[]>,
  headerRow: number,
): AsyncIterable<TableRow> {
  let row = headerRow;
  for (const record of first) yield tableRow(header, record, ++row);
  for await (const record of rest) {
    row += 1;
    if (row % ROWS_PER_TURN === 0) await yieldToEventLoop();
    yield tableRow(header, record, row);
  }
}

function tableRow(header: readonly string[], record: readonly string[], row: number): TableRow {
  if (record.slice(header.length).some((cell) => cell.trim() !== '')) {
    throw new Unreadable(
      `row ${row} has more cells than the header; put quotation marks around texts that contain the delimiter; no item of the file was read`,
      row,
    );
  }
  return { row, cells: cellsOf(header, record) };
}

/** Only the cells of the record: a short row under a wide header must not cost more than its text. */
export const cellsOf = (header: readonly string[], record: readonly unknown[]): Record<string, unknown> =>
  Object.fromEntries(record.slice(0, header.length).map((cell, i) => [header[i], cell]));
