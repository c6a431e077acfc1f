// Truncates a record that is nested too deep to be stored. The record and every part of it that contains a truncation carry
// a mark, which copies keep: a truncated record is never stored as if it were complete.
import { MOST_LEVELS } from '../core/text/lossless-json.ts';

/** Levels that a record may use: the limit of a document, less the document itself and its list. */
export const RECORD_LEVELS = MOST_LEVELS - 2;
const PLACEHOLDER = `(nested deeper than ${RECORD_LEVELS} levels)`;
/** A symbol: a copy keeps it and JSON leaves it out. */
const TRUNCATED = Symbol('cut');

export const isCut = (raw: unknown): boolean => typeof raw === 'object' && raw !== null && TRUNCATED in raw;

/** The value, truncated below `levels`; the same value if it is not nested that deep. */
export function truncateDepth(value: unknown, levels = RECORD_LEVELS): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (levels === 0) return PLACEHOLDER;
  const parts = Object.entries(value);
  const kept = parts.map(([name, part]) => [name, truncateDepth(part, levels - 1)] as const);
  if (kept.every(([, part], at) => part === parts[at]?.[1])) return value;
  const copy = Array.isArray(value) ? kept.map(([, part]) => part) : Object.fromEntries(kept);
  return markTruncated(copy);
}

const markTruncated = <Part extends object>(part: Part): Part => Object.assign(part, { [TRUNCATED]: true });

/** A copy without those fields. The copy stays marked only if a remaining field contains a truncation. */
export function withoutFields(
  record: Readonly<Record<string, unknown>>,
  isLeftOut: (name: string, value: unknown) => boolean,
): Record<string, unknown> {
  const kept = Object.fromEntries(Object.entries(record).filter(([name, value]) => !isLeftOut(name, value)));
  return Object.values(kept).some(isCut) ? markTruncated(kept) : kept;
}
