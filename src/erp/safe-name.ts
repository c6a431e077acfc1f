// A file name for any external code: different codes get different names, and none can leave its folder.
import { createHash } from 'node:crypto';

const SAFE = /[A-Za-z0-9_-]/;
/** Leaves room for an ending and a temporary prefix in the 255 bytes of a file name. */
const LONGEST_NAME = 150;

/** Letters, digits, `_` and `-` stay; every other byte becomes `%XX`. A long name ends in a digest. */
export function safeName(code: string): string {
  const name = [...Buffer.from(code.toWellFormed())]
    .map((byte) => (SAFE.test(String.fromCharCode(byte)) ? String.fromCharCode(byte) : escaped(byte)))
    .join('');
  if (name.length > 0 && name.length <= LONGEST_NAME) return name;
  const digest = createHash('sha256').update(code).digest('hex').slice(0, 32);
  return `${name.slice(0, LONGEST_NAME - digest.length - 1)}~${digest}`;
}

const escaped = (byte: number): string => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
