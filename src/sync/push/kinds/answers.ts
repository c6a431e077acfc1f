// Shared by the kinds: reads a listing, a field, and the answer to a write.
import { Retriable } from '../../../core/errors.ts';
import { type Json, type JsonObject, scalarText } from '../../../core/json.ts';
import { asId } from '../../../fleet/answer.ts';
import type { Written } from '../../../fleet/endpoint.ts';
import { toInstant } from '../../../fleet/instants.ts';
import type { Period } from '../../../warehouse/outbox/queries.ts';
import type { RemoteRecord, Verdict } from '../kind.ts';

/** The text of a field that the service may send as a number. */
export const fieldText = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : undefined;

/** The period of a record or of a payload; undefined if its start or its end cannot be read. */
export function periodBetween(start: unknown, end: unknown): Period | undefined {
  const [from, to] = [toInstant(fieldText(start) ?? ''), toInstant(fieldText(end) ?? '')];
  return from === undefined || to === undefined ? undefined : { start: from, end: to };
}

/** The records of a listing, each identifier once. Throws if a record has no identifier: the answer is not a listing. */
export function remoteRecords(
  records: readonly unknown[],
  keyOf: (record: JsonObject) => string | undefined,
  periodOf: (record: JsonObject) => Period | undefined = () => undefined,
): RemoteRecord[] {
  const byId = new Map<number, RemoteRecord>();
  for (const raw of records) {
    const record = raw as JsonObject | null;
    const id = asId(record?.id);
    if (record === null || id === undefined) throw notAListing();
    const status = typeof record.status === 'string' ? record.status : null;
    const period = periodOf(record);
    byId.set(id, { id, key: keyOf(record) ?? '', status, record, ...(period && { period }) });
  }
  return [...byId.values()];
}

export const notAListing = (): Retriable =>
  new Retriable('The answer to a read-back is not a list of records', {
    code: 'bad_answer',
    hint: 'A proxy may be answering instead of the service; check service.base_url.',
  });

/** About ten centimetres, if the number is a coordinate. */
const CLOSE = 1e-6;

/** Whether the returned field equals the sent one. The service may round numbers, send them as text, or change the zone. */
export function isSameValue(returned: Json | undefined, sent: Json): boolean {
  if (typeof sent === 'number') return Math.abs(Number(scalarText(returned ?? Number.NaN)) - sent) <= CLOSE;
  if (typeof sent !== 'string' || typeof returned !== 'string') return returned === sent;
  return returned === sent || (toInstant(sent) !== undefined && toInstant(sent) === toInstant(returned));
}

/**
 * Interprets the answer to a create or a change. An empty body is a documented answer. A body without an identifier is
 * not, and may come from a proxy.
 */
export function judgeWritten({ id, raw }: Written): Verdict {
  if (id === undefined && raw !== null)
    return { is: 'unclear', message: 'The answer does not say whether the item was stored' };
  return { is: 'accepted', id, reasons: [] };
}
