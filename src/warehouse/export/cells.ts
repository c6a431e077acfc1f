// A value of the warehouse as files carry it, whichever engine it came from.
import type { ViewColumnType } from '../schema/view.ts';

export type Cell = string | number | bigint | boolean | Date | null;

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
      return moment(value as string);
    case 'local':
      // As though it were UTC: a wall clock has no zone of its own.
      return moment(`${value}Z`);
    default:
      return typeof value === 'string' ? value : JSON.stringify(value);
  }
}

/** A text that is no moment has none; the warehouse keeps it. */
function moment(value: string): Date | null {
  const found = new Date(value);
  return Number.isNaN(found.getTime()) ? null : found;
}
