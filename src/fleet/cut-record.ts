// A record that is nested deeper than can be stored, cut there. It says so itself, and so does every part of it that holds
// a cut, wherever they are copied to: what is not whole is never taken for the record.
import { MOST_LEVELS } from '../core/text/lossless-json.ts';

/** What a record in the list of a document may have of the levels of the whole. */
export const RECORD_LEVELS = MOST_LEVELS - 2;
const INSTEAD = `(nested deeper than ${RECORD_LEVELS} levels)`;
/** A symbol goes along with a copy and is not written down. */
const CUT = Symbol('cut');

export const isCut = (raw: unknown): boolean => typeof raw === 'object' && raw !== null && CUT in raw;

/** The value itself where nothing has to be cut. */
export function withoutDepth(value: unknown, levels = RECORD_LEVELS): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (levels === 0) return INSTEAD;
  const parts = Object.entries(value);
  const kept = parts.map(([name, part]) => [name, withoutDepth(part, levels - 1)] as const);
  if (kept.every(([, part], at) => part === parts[at]?.[1])) return value;
  const copy = Array.isArray(value) ? kept.map(([, part]) => part) : Object.fromEntries(kept);
  return markCut(copy);
}

const markCut = <Part extends object>(part: Part): Part => Object.assign(part, { [CUT]: true });

/** The record without those fields; what says of it that it is cut goes where nothing that is left holds the cut. */
export function withoutFields(
  record: Readonly<Record<string, unknown>>,
  isLeftOut: (name: string, value: unknown) => boolean,
): Record<string, unknown> {
  const kept = Object.fromEntries(Object.entries(record).filter(([name, value]) => !isLeftOut(name, value)));
  return Object.values(kept).some(isCut) ? markCut(kept) : kept;
}
