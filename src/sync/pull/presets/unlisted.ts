// Rows that a search should have returned and did not are asked for by their id before anything is said about
// them: a thing that was only moved out of the period is read where it is now, and only a refusal to know it
// makes it vanish. Costs nothing where search and warehouse agree.
import { createHash } from 'node:crypto';
import { Skippable } from '../../../core/errors.ts';
import type { ListEndpoint } from '../../../fleet/endpoint.ts';
import type { Table } from '../../../warehouse/schema/table.ts';
import { askableId, canBeAsked, idOf, type RecordId } from '../records/record-id.ts';
import type { FullRefreshRange } from '../records/types.ts';
import type { Source } from '../types.ts';

export interface Unlisted {
  /** Records of those that exist, and whatever else the answers hold: a record is loaded or told of. */
  found: unknown[];
  /** Identifiers that the service no longer knows. */
  gone: RecordId[];
}

/** The rows of what is gone: `column` holds its identifier. */
export const goneFrom = (table: Table, column: string, gone: readonly RecordId[]): FullRefreshRange[] =>
  gone.length === 0 ? [] : [{ table, range: { [column]: { in: [...gone] } }, isSure: true }];

/** Calls by id that one slice makes at most; of more, each run takes others. */
const MOST_CALLS = 200;

export async function readUnlisted(
  endpoint: ListEndpoint<{ id: RecordId }>,
  held: readonly RecordId[],
  listed: readonly unknown[],
  source: Source,
): Promise<Unlisted> {
  const met = new Set(listed.map(idOf));
  const unmet = held.filter((id) => !met.has(String(id)) && canBeAsked(id));
  const isNew = (record: unknown): boolean => askableId(record) === undefined || !met.has(idOf(record));
  const outcomes = await source.mapCalls(aShareOf(unmet, source.readAt), async (id, calling) => {
    const records = await recordsById(endpoint, id, calling);
    if (records === undefined) return { found: [], gone: [] };
    return { found: records.filter(isNew), gone: records.length ? [] : [id] };
  });
  return { found: outcomes.flatMap(({ found }) => found), gone: outcomes.flatMap(({ gone }) => gone) };
}

/** None where there is no such thing; undefined where the service will not tell. */
async function recordsById(endpoint: ListEndpoint<{ id: RecordId }>, id: RecordId, source: Source) {
  try {
    return await source.call(endpoint, { id });
  } catch (error) {
    if (!(error instanceof Skippable)) throw error;
    return error.code === 'not_found' ? [] : undefined;
  }
}

/** Another choice at each instant, so that everything gets its turn. */
function aShareOf(ids: readonly RecordId[], readAt: string): readonly RecordId[] {
  if (ids.length <= MOST_CALLS) return ids;
  const lot = (id: RecordId) => createHash('sha1').update(`${readAt} ${id}`).digest('hex');
  const drawn = ids.map((id) => ({ id, lot: lot(id) })).sort((a, b) => (a.lot < b.lot ? -1 : 1));
  return drawn.slice(0, MOST_CALLS).map(({ id }) => id);
}
