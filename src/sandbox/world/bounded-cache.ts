// Remembers the latest results of a pure function. Forgetting one costs time, never truth.

export function remember<T>(limit: number, compute: (key: string) => T): (key: string) => T {
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
