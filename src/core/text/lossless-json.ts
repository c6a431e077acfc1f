// JSON.parse without loss of digits: an integer beyond 2^53 and a number beyond the range of a double stay text. Values that
// are nested too deep are rejected, because later steps would overflow the stack.

const INTEGER = /^-?\d+$/;
/** Deepest nesting that later steps can traverse, serialize and store. */
export const MOST_LEVELS = 100;

/** Throws a SyntaxError for invalid JSON, a RangeError for nesting deeper than `levels`. */
export function parseLossless(text: string, levels = MOST_LEVELS): unknown {
  const plain = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  const value: unknown = JSON.parse(plain);
  // A reviver makes parsing several times slower, so it is used only if a digit may be lost.
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

/** Whether digits may be lost. Fractions are accepted as rounded; an infinite value stands for a number beyond the range. */
const isRounded = (value: number): boolean => Number.isInteger(value) || !Number.isFinite(value);

function keepUnsafeNumbers(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const source = context?.source;
  return source !== undefined && (INTEGER.test(source) || !Number.isFinite(value)) ? source : value;
}
