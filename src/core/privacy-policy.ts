// How a personal value is stored: unchanged; masked except for its end; as a keyed digest, equal for equal values; not at all.
export const POLICIES = ['keep', 'mask', 'hash', 'drop'] as const;

export type Policy = (typeof POLICIES)[number];
