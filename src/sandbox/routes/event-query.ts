// The parameters of the event query. As in the API document, collections must be JSON arrays, includes are a comma list,
// and at least one of vehicles and drivers is required.
import { Rejection } from '../http/answer.ts';
import {
  instantOf,
  jsonArray,
  optionalInteger,
  type Query,
  requiredInteger,
  requireParameter,
} from '../http/parameters.ts';
import { driverIds, vehicleIds } from '../made-up/identifiers.ts';
import { EVENT_CATEGORY_IDS } from '../world/event-categories.ts';
import { EVENT_INCLUDES } from './event-records.ts';

export interface Period {
  begin: number;
  end: number;
}

export interface EventQuery {
  periods: Period[];
  category: number;
  /** Indexes of the wanted vehicles. */
  vehicles: number[];
  leastDistance: number;
  groupsByVehicle: boolean;
  includes: string[];
}

export function readEventQuery(query: Query): EventQuery {
  const periods = jsonArray(requireParameter(query, 'periods'), 'periods').map(readPeriod);
  const category = requiredInteger(query, 'event_category');
  if (!EVENT_CATEGORY_IDS.has(category)) throw new Rejection(422, 'event_category: no such category');
  const vehicleList = integers(query, 'vehicles_id');
  const driverList = integers(query, 'driver_ids');
  if (vehicleList === undefined && driverList === undefined) {
    throw new Rejection(422, 'vehicles_id, driver_ids: at least one must be given');
  }
  const includes = (query.get('includes') ?? '').split(',').filter((name) => name !== '');
  const unknown = includes.find((name) => !(EVENT_INCLUDES as readonly string[]).includes(name));
  if (unknown !== undefined) throw new Rejection(422, `includes: ${unknown} is not allowed`);
  return {
    periods,
    category,
    vehicles: chosenVehicles(vehicleList ?? [], driverList ?? []),
    leastDistance: optionalInteger(query, 'distance') ?? 0,
    groupsByVehicle: (query.get('aggregated_field') ?? query.get('aggregated_fields')) === 'vehicle',
    includes,
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

function integers(query: Query, name: string): number[] | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  return jsonArray(text, name).map((item) => {
    if (!Number.isInteger(item)) throw new Rejection(422, `${name}: must hold integers`);
    return item as number;
  });
}

function readPeriod(given: unknown): Period {
  const { begin, end } = (given ?? {}) as Record<string, unknown>;
  const beginAt = instantOf(begin);
  const endAt = instantOf(end);
  if (beginAt === undefined || endAt === undefined) {
    throw new Rejection(422, 'periods: each needs begin and end as ISO 8601 date-times');
  }
  return { begin: beginAt, end: endAt };
}
