// Converts one cell of a flat row to the type of its column. Cells are texts, numbers, booleans or driver cells. An issue
// names the rule that a cell breaks. It quotes the cell only if it is a date or a number that could mean two things, or no
// value at all.
import { type Json, type JsonObject, scalarText } from '../../core/json.ts';
import type { Fields, FieldType } from '../items/fields.ts';
import { DATE_TIME } from '../items/moments.ts';
import { documentText } from '../items/value-forms.ts';
import { coordinate, type ValueFormats, type Written, writtenMoment, writtenNumber } from './written-values.ts';

export type ParsedCell = { value: Json } | { issue: string };

/** A value as the driver or the workbook gave it, or why there is none. */
class DriverCell {
  readonly text: string;
  /** Why the source cannot determine its value; otherwise it is a number as databases write it. */
  readonly issue: string | undefined;
  constructor(text: string, issue?: string) {
    this.text = text;
    this.issue = issue;
  }
}

export const unreadableCell = (issue: string, text = ''): object => new DriverCell(text, issue);

/** With all its digits. The feed's form of numbers does not apply: it is that of texts. */
export const databaseNumber = (text: string): object => new DriverCell(text);

/** The text of a cell, without spaces around it. */
export const cellText = (cell: unknown): string => scalarText(cell instanceof DriverCell ? cell.text : cell).trim();

/** What a spreadsheet shows for a formula that failed, in English and Portuguese, and for a column that is too narrow. */
const SPREADSHEET_ERROR =
  /^(?:#(?:N\/[AD]|DIV\/0!|REF!|VALUE!|VALOR!|NAME\?|NOME\?|N[UÚ]M!|NULL!|NULO!|SPILL!|DESPEJAR!|C[AÁ]LC!)|#{2,}|Erro?:5\d\d)$/i;

/** Stands for the result of a formula that was saved without it. */
export const NO_RESULT = '#NO RESULT';

/** Whether the cell is an error of a spreadsheet instead of a value. */
export const isSpreadsheetError = (cell: unknown): cell is string =>
  typeof cell === 'string' && (cell === NO_RESULT || SPREADSHEET_ERROR.test(cell.trim()));

/** A long number as a spreadsheet shows it in a narrow column. Different codes look the same then. */
const SHORTENED = /^-?\d(?:[,.]\d+)?E\+\d\d+$/i;

/** A date as the number of days by which a spreadsheet stores it, or a time as its fraction. */
const DAY_NUMBER = /^\d{5}(?:[.,]\d+)?(?:\s|$)|(?:^|\s)0?[.,]\d+$/;

const INEXACT = 'has more digits than can be read exactly; select it as text';

/** Why the cell of a path cannot be read; without a path, why its row cannot. */
export interface CellIssue {
  path?: string;
  reason: string;
}

const BOOLEAN_WORDS: Readonly<Record<string, boolean>> = {
  true: true,
  false: false,
  '1': true,
  '0': false,
  sim: true,
  não: false,
  nao: false,
  yes: true,
  no: false,
};

export const isEmptyCell = (cell: unknown): boolean =>
  cell === undefined || cell === null || (typeof cell === 'string' && cell.trim() === '');

/** The values of the cells by path, and the reasons why cells cannot be read. */
export function readCells(
  types: Fields,
  cells: Readonly<Record<string, unknown>>,
  formats: ValueFormats = {},
): { values: JsonObject; issues: CellIssue[] } {
  const values: JsonObject = {};
  const issues: CellIssue[] = [];
  for (const [path, cell] of Object.entries(cells)) {
    const read = readCell(types[path] ?? 'text', cell, formats, path);
    if ('value' in read) values[path] = read.value;
    else issues.push({ path, reason: `${path} ${read.issue}` });
  }
  return { values, issues };
}

export function readCell(type: FieldType, cell: unknown, formats: ValueFormats = {}, path = ''): ParsedCell {
  if (Array.isArray(cell) && (type === 'plates' || type === 'documents')) return { value: cell as Json };
  if (cell instanceof DriverCell)
    return cell.issue === undefined
      ? readCell(type, cell.text, { ...formats, decimal: 'point' }, path)
      : { issue: cell.issue };
  if (cell === NO_RESULT)
    return {
      issue: 'is a formula that was saved without its result; open the file in a spreadsheet program and save it',
    };
  if (isSpreadsheetError(cell))
    return { issue: `"${cell.trim()}" is an error of the spreadsheet; correct the formula or the width of the column` };
  if (typeof cell === 'object') return { issue: 'is not a single value' };
  switch (type) {
    case 'number':
      return numberOf(cell, (text) => writtenNumber(text, formats.decimal));
    case 'latitude':
    case 'longitude':
      return numberOf(cell, coordinate);
    case 'integer':
    case 'count':
    case 'category':
      return integerOf(cell, formats);
    case 'seconds':
      return integerOf(cell, formats, 'is not a whole number of seconds');
    case 'moment':
      return momentOf(String(cell).trim(), formats.byPath?.[path] ?? formats.dates);
    case 'boolean':
      return booleanOf(cell);
    case 'document':
      return shortened(cell) ?? { value: documentText(typeof cell === 'number' ? cell : String(cell)) };
    case 'plates':
    case 'documents':
      return { value: listOf(String(cell)) };
    default:
      // A code that is a number must not be rounded.
      if (typeof cell === 'number' && Math.abs(cell) > Number.MAX_SAFE_INTEGER) return { issue: INEXACT };
      return shortened(cell) ?? { value: String(cell).trim() };
  }
}

/** Not quoted: it may be the beginning of a tax number. */
const shortened = (cell: unknown): { issue: string } | undefined =>
  typeof cell === 'string' && SHORTENED.test(cell.trim())
    ? { issue: 'has lost digits in the spreadsheet; format the column as text and write the number again' }
    : undefined;

function numberOf(cell: unknown, read: (text: string) => Written<number>): ParsedCell {
  if (typeof cell === 'number') return { value: cell };
  return read(String(cell).trim()) ?? { issue: 'is not a number; write it as -23.55 or 1234.56' };
}

function integerOf(cell: unknown, { decimal }: ValueFormats, issue = 'is not a whole number'): ParsedCell {
  const read = typeof cell === 'number' ? { value: cell } : writtenNumber(String(cell).trim(), decimal);
  // A number that may mean two things keeps its own issue.
  if (read !== undefined && ('issue' in read || Number.isSafeInteger(read.value))) return read;
  return { issue };
}

/** A text without a known form stays unchanged: validation reports it. */
function momentOf(text: string, format: string | undefined): ParsedCell {
  const written = DATE_TIME.test(text) ? undefined : writtenMoment(text, format);
  if (written === undefined && DAY_NUMBER.test(text))
    return { issue: `"${text}" is a number, not a date; format the column as a date with its time` };
  return written ?? { value: text };
}

function booleanOf(cell: unknown): ParsedCell {
  if (typeof cell === 'boolean') return { value: cell };
  const value = BOOLEAN_WORDS[String(cell).trim().toLowerCase()];
  return value === undefined ? { issue: 'is neither true nor false; write true or false' } : { value };
}

/** One cell may hold several plates or documents. */
const listOf = (text: string): string[] =>
  text
    .split(/[|;,]/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
