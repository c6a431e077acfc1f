// Caches the latest results of a pure function.

/**
 * `compute` declares its arguments one by one. Only these are passed on and remembered: a caller such as `map` gives more, and
 * a key made of those could be as large as all that is mapped.
 */
export function memoize<Arguments extends (number | string)[], T>(limit: number, compute: (...given: Arguments) => T) {
  const known = new Map<string, T>();
  return (...all: Arguments): T => {
    const given = all.slice(0, compute.length) as Arguments;
    const key = given.join(':');
    const hit = known.get(key);
    if (hit !== undefined) return hit;
    const value = compute(...given);
    if (known.size >= limit) known.delete(known.keys().next().value as string);
    known.set(key, value);
    return value;
  };
}
