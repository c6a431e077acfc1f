// Whether a record that was given back is the record that was sent: the same values, in the one normal form that the
// warehouse has for numbers as text, flags and date-times. Written without the product's own interpretations.

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Nothing said: null, absent, blank text, or an object in which nothing is said. */
const isNothing = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  (typeof value === 'string' && value.trim() === '') ||
  (isObject(value) && Object.values(value).every(isNothing));

/** The path of the first value that differs; undefined where none does. */
export function difference(sent: unknown, back: unknown, path = ''): string | undefined {
  if (isNothing(sent) && isNothing(back)) return undefined;
  if (isObject(sent) && isObject(back)) {
    for (const name of new Set([...Object.keys(sent), ...Object.keys(back)])) {
      const own = (from: Record<string, unknown>) => (Object.hasOwn(from, name) ? from[name] : undefined);
      const found = difference(own(sent), own(back), `${path}.${name}`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (Array.isArray(sent) && Array.isArray(back)) {
    if (sent.length !== back.length) return path;
    return sent.map((item, at) => difference(item, back[at], `${path}[${at}]`)).find((each) => each);
  }
  return isSameValue(sent, back) ? undefined : path;
}

const FLAGS: ReadonlyMap<unknown, boolean> = new Map<unknown, boolean>([
  [1, true],
  ['1', true],
  ['true', true],
  [0, false],
  ['0', false],
  ['false', false],
]);

/** SQLite reads decimals of extreme size to all digits but the last. */
function isNearest(sent: unknown, back: unknown): boolean {
  if (typeof sent !== 'number' || typeof back !== 'number') return false;
  const size = Math.abs(sent);
  return (size < 1e-20 || size > 1e20) && Math.abs(sent - back) <= 2 * Number.EPSILON * size;
}

function isSameValue(sent: unknown, back: unknown): boolean {
  if (sent === back || isNearest(sent, back)) return true;
  if (typeof back === 'boolean') return FLAGS.get(sent) === back;
  const isText = typeof sent === 'string' && typeof back === 'string';
  // A number that arrived as text, or the other way round, as it was written.
  if (!isText && String(sent).trim() === String(back)) return true;
  const [whole, wholeBack] = [wholeNumber(sent), wholeNumber(back)];
  // To the last digit.
  if (whole !== undefined && wholeBack !== undefined) return whole === wholeBack;
  if (typeof sent !== typeof back) return whole === undefined && Number(sent) === Number(back);
  if (typeof sent !== 'string' || typeof back !== 'string') return false;
  const instant = Date.parse(back);
  if (/^\d{4}-\d\d-\d\d$/.test(back)) return sent.startsWith(back);
  return /^\d{4}-.*Z$/.test(back) && momentOf(sent) === instant;
}

/** Undefined for a text that is no number, or has an exponent. */
function wholeNumber(value: unknown): bigint | undefined {
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : undefined;
  const digits = typeof value === 'string' ? /^[+]?(-?\d+)(?:\.0+)?$/.exec(value.trim())?.[1] : undefined;
  return digits === undefined ? undefined : BigInt(digits);
}

/** Forms of ISO 8601 that Date.parse does not take. */
const momentOf = (text: string): number =>
  Date.parse(
    text
      .trim()
      .replace(/ ?Z$/, 'Z')
      .replace(/([+-]\d\d)(\d\d)$/, '$1:$2'),
  );
