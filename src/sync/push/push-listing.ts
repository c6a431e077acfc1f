// Reads a listing of the service for the question "is it there?". A record without an identifier means that the
// answer is no listing, and absence must not be read out of it.
import { Retriable } from '../../core/errors.ts';
import type { JsonObject } from '../../core/glossary.ts';
import type { Seen } from './push-kind.ts';

export function seenRecords(
  records: readonly unknown[],
  keyOf: (record: JsonObject) => string | undefined,
): Seen[] {
  const seen = new Map<number, Seen>();
  for (const raw of records) {
    const record = raw as JsonObject | null;
    const id = idOf(record?.id);
    if (record === null || id === undefined) throw notAListing();
    const status = typeof record.status === 'string' ? record.status : null;
    seen.set(id, { id, key: keyOf(record) ?? '', status, record });
  }
  return [...seen.values()];
}

function idOf(value: unknown): number | undefined {
  const id = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  return typeof id === 'number' && Number.isSafeInteger(id) ? id : undefined;
}

/** The text of a field that may come as a number. */
export const fieldText = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : undefined;

const notAListing = (): Retriable =>
  new Retriable('The service answered a search with something that is no list of records', {
    code: 'bad_answer',
    hint: 'Something between here and the service may answer in its place; check service.base_url and proxies.',
  });
