// What may happen to a personal value before it is stored.

/** As it is; all but the end blotted out; a keyed digest, equal for equal values; nothing. */
export const POLICIES = ['keep', 'mask', 'hash', 'drop'] as const;

export type Policy = (typeof POLICIES)[number];
