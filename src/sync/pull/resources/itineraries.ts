// Requests itineraries with their vehicle and driver.
import { itineraries } from '../../../fleet/endpoints/itineraries.ts';
import { toInstant } from '../../../fleet/instants.ts';
import { checkRecord } from '../../../fleet/record-check.ts';
import type { Interval } from '../../../warehouse/control/coverage.ts';
import { itinerary } from '../../../warehouse/tables/itinerary.ts';
import { searchPeriod, spanOf } from '../plan/windows.ts';
import { canBeAsked, idOf } from '../records/record-id.ts';
import { wireSchema } from '../records/wire-schema.ts';
import type { Source } from '../types.ts';

const INCLUDES = ['vehicle', 'driver', 'position_start', 'position_end'] as const;

export const itineraryRequest = ({ beginAt, endAt }: Interval) => ({
  date_time_start: beginAt,
  date_time_end: endAt,
  includes: [...INCLUDES],
});

/**
 * The call by id accepts no includes. If its answer omits vehicle or driver, a search over the itinerary's own dates
 * provides them: otherwise each read by id would empty their columns.
 */
export async function withObjects(record: unknown, source: Source): Promise<unknown> {
  const checked = checkRecord(wireSchema(itinerary, itineraries), record);
  if (!checked.ok) return record;
  const { vehicle_id, vehicle, driver_id, driver, date_time_start, date_time_end } = checked.record;
  const isComplete = (!vehicle_id || vehicle) && (!driver_id || driver);
  if (isComplete || typeof date_time_start !== 'string' || typeof date_time_end !== 'string') return record;
  const [beginAt = '', endAt = ''] = [date_time_start, date_time_end].map(toInstant);
  if (beginAt === '' || endAt < beginAt) return record;
  const found = await source.call(itineraries, {
    ...itineraryRequest(searchPeriod(spanOf({ beginAt, endAt }))),
    ...(canBeAsked(vehicle_id) ? { vehicle_id } : {}),
  });
  return found.find((other) => idOf(other) === idOf(record)) ?? record;
}
