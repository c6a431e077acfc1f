// Parses what the service sends without losing anything: an integer beyond 2^53 stays as decimal text. Any
// text that is broken, or nested so deep that nobody could write it down again, is one plain error.

export class UnreadableJson extends Error {
  constructor() {
    super('no JSON that can be read');
    this.name = 'UnreadableJson';
  }
}

/** Digits that may be beyond 2^53 = 9007199254740992, where a number may begin. */
const LONG_INTEGER = /(?:^|[[:,\s])-?(?:\d{17}|9\d{15})/;
const INTEGER = /^-?\d+$/;
const MOST_LEVELS = 100;

export function parseJson(text: string): unknown {
  const plain = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  let value: unknown;
  try {
    value = LONG_INTEGER.test(plain) ? JSON.parse(plain, keepLongIntegers) : JSON.parse(plain);
  } catch {
    // A SyntaxError quotes the text; a RangeError comes of nesting.
    throw new UnreadableJson();
  }
  if (isDeeper(value, MOST_LEVELS)) throw new UnreadableJson();
  return value;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) return value.some((item) => isDeeper(item, levels - 1));
  for (const key in value) {
    if (isDeeper((value as Record<string, unknown>)[key], levels - 1)) return true;
  }
  return false;
}

function keepLongIntegers(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const source = context?.source;
  return source !== undefined && INTEGER.test(source) ? source : value;
}
