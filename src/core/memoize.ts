// Caches the latest results of a pure function.

export function memoize<Arguments extends (number | string)[], T>(limit: number, compute: (...given: Arguments) => T) {
  const known = new Map<string, T>();
  return (...given: Arguments): T => {
    const key = given.join(':');
    const hit = known.get(key);
    if (hit !== undefined) return hit;
    const value = compute(...given);
    if (known.size >= limit) known.delete(known.keys().next().value as string);
    known.set(key, value);
    return value;
  };
}
