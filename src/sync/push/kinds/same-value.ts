// Compares a field as the service returns it with the field that was sent: numbers may come as text or rounded,
// instants in another zone.
import type { Json } from '../../../core/glossary.ts';
import { toInstant } from '../../../fleet/instants.ts';

/** About ten centimetres, where the number is a coordinate. */
const CLOSE = 1e-6;

export function isSameValue(returned: Json | undefined, sent: Json): boolean {
  if (typeof sent === 'number') return Math.abs(Number(returned ?? Number.NaN) - sent) <= CLOSE;
  if (typeof sent !== 'string' || typeof returned !== 'string') return returned === sent;
  return returned === sent || (toInstant(sent) !== undefined && toInstant(sent) === toInstant(returned));
}
