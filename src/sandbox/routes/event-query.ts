// The parameters of the event query. As in the API document, collections must be JSON arrays, includes are a comma list,
// and at least one of vehicles and drivers is required.
import { z } from 'zod';
import { instant, integerText, jsonText, one, readQuery } from '../http/parameters.ts';
import { driverIds, vehicleIds } from '../made-up/identifiers.ts';
import { EVENT_CATEGORY_IDS } from '../world/event-categories.ts';
import { EVENT_INCLUDES } from './event-records.ts';

const period = z.object({ begin: instant, end: instant });
const ids = jsonText.pipe(z.array(z.int())).optional();

const QUERY = z
  .object({
    periods: one(jsonText.pipe(z.array(period))),
    event_category: one(integerText.refine((id) => EVENT_CATEGORY_IDS.has(id), 'no such category')),
    vehicles_id: one(ids),
    driver_ids: one(ids),
    distance: one(integerText.default(0)),
    aggregated_field: one(z.string().optional()),
    aggregated_fields: one(z.string().optional()),
    includes: one(
      z
        .string()
        .default('')
        .transform((text) => text.split(',').filter((name) => name !== ''))
        .pipe(z.array(z.enum(EVENT_INCLUDES))),
    ),
  })
  .refine(
    ({ vehicles_id, driver_ids }) => vehicles_id !== undefined || driver_ids !== undefined,
    'at least one of vehicles_id and driver_ids must be given',
  );

export type Period = z.output<typeof period>;
export type EventQuery = ReturnType<typeof readEventQuery>;

export function readEventQuery(query: URLSearchParams) {
  const given = readQuery(QUERY, query);
  return {
    periods: given.periods,
    category: given.event_category,
    /** Indexes of the wanted vehicles. */
    vehicles: chosenVehicles(given.vehicles_id ?? [], given.driver_ids ?? []),
    leastDistance: given.distance,
    groupsByVehicle: (given.aggregated_field ?? given.aggregated_fields) === 'vehicle',
    includes: given.includes,
  };
}

/** Vehicles that match both lists. An empty list does not filter. */
function chosenVehicles(vehicles: readonly number[], drivers: readonly number[]): number[] {
  const byVehicle = vehicles.map(vehicleIds.indexOf);
  const byDriver = drivers.map(driverIds.indexOf);
  const chosen =
    byVehicle.length > 0 && byDriver.length > 0
      ? byVehicle.filter((index) => byDriver.includes(index))
      : [...byVehicle, ...byDriver];
  return [...new Set(chosen)].filter((index) => index !== undefined);
}
