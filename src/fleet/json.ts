// Parses what the service sends without losing anything: an integer beyond 2^53 stays as decimal text. Any
// text that is broken, or nested so deep that nobody could write it down again, is one plain error.

export class UnreadableJson extends Error {
  constructor() {
    super('no JSON that can be read');
    this.name = 'UnreadableJson';
  }
}

const INTEGER = /^-?\d+$/;
const MOST_LEVELS = 100;

export function parseJson(text: string): unknown {
  const plain = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  try {
    const value: unknown = JSON.parse(plain);
    // Parsing with a reviver takes several times as long, so it is done only where a digit may be lost.
    return holdsUnsafeInteger(value, MOST_LEVELS) ? JSON.parse(plain, keepLongIntegers) : value;
  } catch {
    // A SyntaxError quotes the text; a RangeError comes of nesting.
    throw new UnreadableJson();
  }
}

function holdsUnsafeInteger(value: unknown, levels: number): boolean {
  if (typeof value === 'number') return !Number.isSafeInteger(value) && Number.isInteger(value);
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) throw new UnreadableJson();
  let found = false;
  if (Array.isArray(value)) {
    for (const item of value) found = holdsUnsafeInteger(item, levels - 1) || found;
    return found;
  }
  for (const key in value) {
    found = holdsUnsafeInteger((value as Record<string, unknown>)[key], levels - 1) || found;
  }
  return found;
}

function keepLongIntegers(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const source = context?.source;
  return source !== undefined && INTEGER.test(source) ? source : value;
}
