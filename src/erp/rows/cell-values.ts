// Converts one cell of a flat row to the type of its column. Cells are texts, numbers or booleans. An issue names the rule
// that a cell breaks, never the cell's content.
import type { Json, JsonObject } from '../../core/glossary.ts';
import type { Fields, FieldType } from '../items/fields.ts';
import { documentText } from '../items/value-forms.ts';

export type CellReading = { value: Json } | { issue: string };

/** Stands for a cell whose value the source cannot determine. */
class UnreadableCell {
  readonly issue: string;
  constructor(issue: string) {
    this.issue = issue;
  }
}

export const unreadableCell = (issue: string): object => new UnreadableCell(issue);

const INEXACT = 'has more digits than can be read exactly; select it as text';

const PLAIN_NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
/** A single comma without a point is a decimal comma. */
const COMMA_NUMBER = /^[+-]?\d+,\d+$/;
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
): { values: JsonObject; reasons: string[] } {
  const values: JsonObject = {};
  const reasons: string[] = [];
  for (const [path, cell] of Object.entries(cells)) {
    const read = readCell(types[path] ?? 'text', cell);
    if ('value' in read) values[path] = read.value;
    else reasons.push(`${path} ${read.issue}`);
  }
  return { values, reasons };
}

export function readCell(type: FieldType, cell: unknown): CellReading {
  if (Array.isArray(cell) && (type === 'plates' || type === 'documents')) return { value: cell as Json };
  if (cell instanceof UnreadableCell) return { issue: cell.issue };
  if (typeof cell === 'object') return { issue: 'is not a single value' };
  if (typeof cell === 'number' && Math.abs(cell) > Number.MAX_SAFE_INTEGER) return { issue: INEXACT };
  switch (type) {
    case 'number':
    case 'latitude':
    case 'longitude':
      return numberOf(cell);
    case 'integer':
    case 'count':
    case 'category':
      return integerOf(cell);
    case 'boolean':
      return booleanOf(cell);
    case 'document':
      return { value: documentText(typeof cell === 'number' ? cell : String(cell)) };
    case 'plates':
    case 'documents':
      return { value: listOf(String(cell)) };
    default:
      return { value: String(cell).trim() };
  }
}

function numberOf(cell: unknown): CellReading {
  if (typeof cell === 'number') return { value: cell };
  const text = String(cell).trim();
  if (PLAIN_NUMBER.test(text)) return { value: Number(text) };
  if (COMMA_NUMBER.test(text)) return { value: Number(text.replace(',', '.')) };
  return { issue: 'is not a number; write it as -23.55, without thousands separators' };
}

function integerOf(cell: unknown): CellReading {
  const read = numberOf(cell);
  return 'value' in read && Number.isSafeInteger(read.value) ? read : { issue: 'is not a whole number' };
}

function booleanOf(cell: unknown): CellReading {
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
