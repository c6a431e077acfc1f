// A fingerprint of what would be sent: equal content gives the same one whatever the order of its keys, and an
// absent field is the same as a null one. Where a thing came from does not count.
import { createHash } from 'node:crypto';
import type { Json } from '../core/glossary.ts';
import type { ErpThing } from './source.ts';

/** SHA-256, hexadecimal. */
export function contentHash({ data, options = {} }: Pick<ErpThing, 'data' | 'options'>): string {
  return createHash('sha256')
    .update(JSON.stringify(ordered({ data, options })))
    .digest('hex');
}

function ordered(value: Json): Json {
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value)
    .filter(([, part]) => part !== null && part !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, part]): [string, Json] => [name, ordered(part)]);
  return Object.fromEntries(entries);
}
