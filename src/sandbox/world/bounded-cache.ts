// Caches the latest results of a pure function.

export function memoize<T>(limit: number, compute: (key: string) => T): (key: string) => T {
  const known = new Map<string, T>();
  return (key) => {
    const hit = known.get(key);
    if (hit !== undefined) return hit;
    const value = compute(key);
    if (known.size >= limit) known.delete(known.keys().next().value as string);
    known.set(key, value);
    return value;
  };
}
