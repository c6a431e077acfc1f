// Reads records by id that a search should have returned and did not. A record that only moved out of the period is read
// and stored with its new dates; a record has vanished only if the service no longer knows its id. Costs no call if search
// and warehouse agree.
import { createHash } from 'node:crypto';
import { Skippable } from '../../../core/errors.ts';
import type { ListEndpoint } from '../../../fleet/endpoint.ts';
import type { Table } from '../../../warehouse/schema/table.ts';
import { askableId, canBeAsked, idOf, type RecordId } from '../records/record-id.ts';
import type { FullRefreshRange } from '../records/types.ts';
import type { Source } from '../types.ts';

/** The range of rows that belong to vanished records; `column` holds the record's identifier. */
export const goneFrom = (table: Table, column: string, gone: readonly RecordId[]): FullRefreshRange[] =>
  gone.length === 0 ? [] : [{ table, range: { [column]: { in: [...gone] } }, isSure: true }];

/** Most calls by id in one slice. If more are due, each run takes another sample. */
const MOST_CALLS = 200;

/**
 * `found` are the records that the search did not return, invalid ones included, so that each is loaded or quarantined.
 * `gone` are the ids that the service no longer knows.
 */
export async function readUnlisted(
  endpoint: ListEndpoint<{ id: RecordId }>,
  held: readonly RecordId[],
  listed: readonly unknown[],
  source: Source,
): Promise<{ found: unknown[]; gone: RecordId[] }> {
  const seen = new Set(listed.map(idOf));
  const unseen = held.filter((id) => !seen.has(String(id)) && canBeAsked(id));
  const isNew = (record: unknown): boolean => askableId(record) === undefined || !seen.has(idOf(record));
  const rejected: string[] = [];
  // A comparison must know of each. If that takes too many calls, its slice is cut.
  const asked = source.isCompared ? unseen : sampleOf(unseen, source.readAt);
  const outcomes = await source.mapCalls(asked, async (id, calling) => {
    const records = await noneIfUnknown(calling.call(endpoint, { id })).catch((error) => {
      // The service rejects the call for another reason, which says nothing about the record.
      if (!(error instanceof Skippable)) throw error;
      rejected.push(error.code);
      return undefined;
    });
    if (records === undefined) return { found: [], gone: [] };
    return { found: records.filter(isNew), gone: records.length ? [] : [id] };
  });
  if (rejected.length > 0) {
    source.log.warn({ call: endpoint.name, records: rejected.length, code: rejected[0] }, 'calls by id rejected');
  }
  return { found: outcomes.flatMap(({ found }) => found), gone: outcomes.flatMap(({ gone }) => gone) };
}

/** Empty if the service does not know the record that a call asks for by id. */
export const noneIfUnknown = (answer: Promise<unknown[]>): Promise<unknown[]> =>
  answer.catch((error: unknown) => {
    if (error instanceof Skippable && error.code === 'not_found') return [];
    throw error;
  });

/** Selects by a hash of id and instant: each run takes another sample, so every id gets its turn. */
function sampleOf(ids: readonly RecordId[], readAt: string): readonly RecordId[] {
  if (ids.length <= MOST_CALLS) return ids;
  const rankOf = (id: RecordId) => createHash('sha1').update(`${readAt} ${id}`).digest('hex');
  const ranked = ids.map((id) => ({ id, rank: rankOf(id) })).sort((a, b) => (a.rank < b.rank ? -1 : 1));
  return ranked.slice(0, MOST_CALLS).map(({ id }) => id);
}
