// One cell of a flat row as the value its column holds. Cells are texts, numbers or truth values; what cannot
// be read is told by its rule, never by its content.
import type { Json } from '../../core/glossary.ts';
import type { FieldType } from '../items/fields.ts';
import { documentText } from '../items/identifiers.ts';

export type CellReading = { value: Json } | { fault: string };

const PLAIN_NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
/** One comma and no point can only be a decimal comma. */
const COMMA_NUMBER = /^[+-]?\d+,\d+$/;
const WORDS: Readonly<Record<string, boolean>> = {
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

export function readCell(type: FieldType, cell: unknown): CellReading {
  if (Array.isArray(cell) && (type === 'plates' || type === 'documents')) return { value: cell as Json };
  if (typeof cell === 'object') return { fault: 'holds no plain value' };
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
  return { fault: 'is not a number; write it as -23.55, without thousands separators' };
}

function integerOf(cell: unknown): CellReading {
  const read = numberOf(cell);
  return 'value' in read && Number.isSafeInteger(read.value) ? read : { fault: 'is not a whole number' };
}

function booleanOf(cell: unknown): CellReading {
  if (typeof cell === 'boolean') return { value: cell };
  const value = WORDS[String(cell).trim().toLowerCase()];
  return value === undefined ? { fault: 'is neither true nor false; write true or false' } : { value };
}

/** Several plates or documents in one cell. */
const listOf = (text: string): string[] =>
  text
    .split(/[|;,]/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
