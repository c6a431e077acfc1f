// Reads one slice of itineraries: a search with its objects, then by id the known ones that the search should
// have brought and did not. Those are few: moved, removed, or longer than the period searched. What only the
// search leaves out is never called vanished; what the call by id does not know is.

import { itineraries } from '../../../../fleet/endpoints/itineraries.ts';
import { itinerary as itineraryById } from '../../../../fleet/endpoints/itinerary.ts';
import { checkRecord } from '../../../../fleet/record-check.ts';
import { itinerary } from '../../../../warehouse/tables/itinerary.ts';
import type { Slice } from '../../../slice.ts';
import { coversOf } from '../../plan/window-slices.ts';
import { canBeAsked, goneFrom, idOf, type RecordId, readUnlisted } from '../../presets/unlisted.ts';
import { wireSchema } from '../../records/wire-schema.ts';
import type { SliceResult, Source } from '../../types.ts';
import type { ItineraryWork } from './plan.ts';

const INCLUDES = ['vehicle', 'driver', 'position_start', 'position_end'] as const;

export async function readItineraries({ work }: Slice<ItineraryWork>, source: Source): Promise<SliceResult> {
  const listed = await source.call(itineraries, {
    date_time_start: work.beginAt,
    date_time_end: work.searchUntil,
    includes: [...INCLUDES],
  });
  const { found, gone } = await readUnlisted(
    itineraryById,
    await heldItineraries(work, source),
    listed,
    source,
  );
  const completed = await source.mapCalls(found, withObjects);
  return {
    loads: [{ table: itinerary, endpoint: itineraries, records: [...listed, ...completed] }],
    fullRefresh: goneFrom(itinerary, 'id', gone),
    covers: coversOf(work, source.readAt),
  };
}

/** Known itineraries that this slice answers for. An excluded one is final. */
async function heldItineraries(work: ItineraryWork, { warehouse }: Source): Promise<RecordId[]> {
  const rows = await warehouse.read((sql) =>
    sql(itinerary.name)
      .whereNull('_missing_since')
      .whereNull('date_excluded')
      .where((those) => {
        those.where((inside) =>
          inside.where('date_time_start', '>=', work.beginAt).where('date_time_start', '<', work.endAt),
        );
        if (work.earlier) {
          those
            .orWhere((lasting) =>
              lasting.where('date_time_start', '<', work.beginAt).where('date_time_end', '>=', work.beginAt),
            )
            .orWhereNull('date_time_start')
            .orWhereNull('date_time_end');
        }
        if (work.later) those.orWhere('date_time_start', '>=', work.endAt);
      })
      .select('id'),
  );
  return rows.map(({ id }) => id as RecordId);
}

/**
 * The call by id takes no includes. Where it leaves the objects out, they are taken from a search around the
 * itinerary's own dates: otherwise each such reading would empty their columns.
 */
async function withObjects(record: unknown, source: Source): Promise<unknown> {
  const checked = checkRecord(wireSchema(itinerary, itineraries), record);
  if (!checked.ok) return record;
  const { vehicle_id, vehicle, driver_id, driver, date_time_start, date_time_end } = checked.record;
  const isWhole = (!vehicle_id || vehicle) && (!driver_id || driver);
  if (isWhole || typeof date_time_start !== 'string' || typeof date_time_end !== 'string') return record;
  if (date_time_end < date_time_start) return record;
  const around = await source.call(itineraries, {
    date_time_start,
    date_time_end,
    includes: [...INCLUDES],
    ...(canBeAsked(vehicle_id) ? { vehicle_id } : {}),
  });
  return around.find((other) => idOf(other) === idOf(record)) ?? record;
}
