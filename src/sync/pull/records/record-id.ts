// The id of a record, whether it can be used in a request, and ids that the request adds to a record.
import { isJsonObject, scalarText } from '../../../core/json.ts';
import { recordId } from '../../../fleet/request-fields.ts';
import { id as wireId } from '../../../fleet/wire.ts';

export type RecordId = number | string;

/** The request schema rejects any other id, and an invalid request ends the run. */
export const canBeAsked = <Id>(id: Id): id is Id & RecordId => recordId.safeParse(id).success;

/** The id of a record in its normal form; undefined if it cannot be used in a request. */
export function askableId(record: unknown): RecordId | undefined {
  const { success, data } = wireId.safeParse((record as { id?: unknown } | null)?.id);
  return success && canBeAsked(data) ? data : undefined;
}

export const idOf = (record: unknown): string => scalarText((record as { id?: unknown } | null)?.id);

/** A record without a value in `field` belongs to the `id` that was requested. */
export const withRequested = (record: unknown, field: string, id: RecordId): unknown =>
  isJsonObject(record) && (record[field] ?? null) === null ? { ...record, [field]: id } : record;
