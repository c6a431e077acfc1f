// Converts a value of the warehouse for export files, the same for every engine.
import type { ViewColumnType } from '../schema/view.ts';

/** Dates and times are milliseconds since 1970. */
export type Cell = string | number | bigint | boolean | null;

export function cell(type: ViewColumnType, value: unknown): Cell {
  if (value === null || value === undefined) return null;
  switch (type) {
    case 'integer':
      return BigInt(value as string | number | bigint);
    case 'real':
      return Number(value);
    case 'boolean':
      return value === true || Number(value) === 1;
    case 'instant':
    case 'date':
      return milliseconds(value as string);
    case 'local':
      // Parsed as if it were UTC: local time is stored without a zone.
      return milliseconds(`${String(value).replace(' ', 'T')}Z`);
    default:
      return typeof value === 'string' ? value : JSON.stringify(value);
  }
}

/** Null for a text that is not a valid date. */
function milliseconds(value: string): number | null {
  const found = Date.parse(value);
  return Number.isNaN(found) ? null : found;
}
