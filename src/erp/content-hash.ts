// A fingerprint of what would be sent: equal content gives the same one whatever the order of its keys, and an
// absent field is the same as a null one. Where a thing came from does not count.
import { hash } from 'node:crypto';
import { stableJsonWithoutNulls } from '../core/stable-json.ts';
import type { ErpThing } from './source.ts';

/** SHA-256, hexadecimal. */
export const contentHash = ({ data, options = {} }: Pick<ErpThing, 'data' | 'options'>): string =>
  hash('sha256', stableJsonWithoutNulls({ data, options }));
