// JSON.parse without its losses: an integer beyond 2^53 and a number beyond any double stay as text. What is nested deeper than
// anybody could write down again is refused, because later steps would run out of stack on it.

const INTEGER = /^-?\d+$/;
/** What is nested no deeper can be walked, written down and stored. */
export const MOST_LEVELS = 100;

/** Throws a SyntaxError for broken text, a RangeError for what is nested deeper than `levels`. */
export function parseLossless(text: string, levels = MOST_LEVELS): unknown {
  const plain = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  const value: unknown = JSON.parse(plain);
  // Parsing with a reviver takes several times as long, so it is done only where a digit may be lost.
  return holdsUnsafeNumber(value, levels) ? JSON.parse(plain, keepUnsafeNumbers) : value;
}

function holdsUnsafeNumber(value: unknown, levels: number): boolean {
  if (typeof value === 'number') return !Number.isSafeInteger(value) && isRounded(value);
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) throw new RangeError('nested too deep');
  let found = false;
  if (Array.isArray(value)) {
    for (const item of value) found = holdsUnsafeNumber(item, levels - 1) || found;
    return found;
  }
  for (const key in value) {
    found = holdsUnsafeNumber((value as Record<string, unknown>)[key], levels - 1) || found;
  }
  return found;
}

/** Whether digits may be gone: a fraction is as near as a double comes, infinity is no number of JSON. */
const isRounded = (value: number): boolean => Number.isInteger(value) || !Number.isFinite(value);

function keepUnsafeNumbers(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const source = context?.source;
  return source !== undefined && (INTEGER.test(source) || !Number.isFinite(value)) ? source : value;
}
