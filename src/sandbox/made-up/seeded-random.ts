// The only source of randomness in the sandbox: a generator seeded by a key. The same key gives the same sequence in any
// process, so generated data does not have to be stored.

export type Key = readonly (number | string)[];

/** Two independent 32-bit hashes of a key. */
export function hashKey(key: Key): [number, number] {
  let a = 0x9e3779b9;
  let b = 0x85ebca6b;
  const mix = (value: number): void => {
    a = Math.imul(a ^ value, 0xcc9e2d51);
    a = (a << 13) | (a >>> 19);
    b = Math.imul(b ^ value ^ (a >>> 3), 0x1b873593);
    b ^= b >>> 15;
  };
  for (const part of key) {
    if (typeof part === 'number') {
      mix(part | 0);
      mix(Math.floor(part / 0x1_0000_0000) | 0);
    } else {
      for (let i = 0; i < part.length; i++) mix(part.charCodeAt(i));
      mix(part.length + 0x100);
    }
  }
  return [a >>> 0, b >>> 0];
}

export type Random = ReturnType<typeof seededRandom>;

/** The sfc32 generator, seeded with the hash of `key`. */
export function seededRandom(...key: Key) {
  let [a, b] = hashKey(key);
  let c = 0x2545f491;
  let counter = 1;
  /** 32 bits. */
  const bits = (): number => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + sum) | 0;
    return sum >>> 0;
  };
  for (let i = 0; i < 8; i++) bits();
  /** In [0, 1). */
  const next = (): number => bits() / 0x1_0000_0000;
  /** An integer from `min` to `max`, both included. */
  const int = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1));
  return {
    next,
    int,
    bits,
    chance: (probability: number): boolean => next() < probability,
    pick: <T>(list: readonly T[]): T => list[int(0, list.length - 1)] as T,
  };
}
