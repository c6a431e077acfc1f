// Itineraries: a vehicle's week, planned on the Friday before, with positions once it has begun and ended. And those
// that clients created or changed.

import { dayIds, driverIds, vehicleIds } from '../made-up/identifiers.ts';
import { personName } from '../made-up/names.ts';
import { placeFor } from '../made-up/places.ts';
import { seededRandom } from '../made-up/seeded-random.ts';
import { vehicleIdentity } from '../routes/vehicle-records.ts';
import { DAY_MS, dateText, dayOf, FOUNDING_DAY, HOUR_MS, MINUTE_MS, startOfDay, weekdayOf } from './company-time.ts';
import { depotOf } from './daily-routes.ts';
import type { World } from './world.ts';

export interface Itinerary {
  id: number;
  description: string | null;
  externalId: string | null;
  vehicleId: number | null;
  driverId: number | null;
  startAt: number;
  endAt: number;
  createdAt: number;
  modifiedAt: number;
}

const MONDAY = 1;
const LENGTH_MS = 4 * DAY_MS + 11 * HOUR_MS;

function generatedItinerary(world: World, index: number, monday: number): Itinerary | undefined {
  const random = seededRandom(world.seed, 'itinerary', index, monday);
  if (monday < FOUNDING_DAY || !random.chance(0.5) || !world.roster.worksOn(index, monday)) return undefined;
  const createdAt = startOfDay(monday - 3) + 15 * HOUR_MS + random.int(0, 90) * MINUTE_MS;
  if (createdAt > world.now()) return undefined;
  const startAt = startOfDay(monday) + 7 * HOUR_MS;
  const modifications = [createdAt, startAt + 5 * MINUTE_MS, startAt + LENGTH_MS + 5 * MINUTE_MS];
  return {
    id: dayIds.of(index, monday),
    description: `Week of ${dateText(monday)}`,
    externalId: `IT-${dateText(monday).replaceAll('-', '')}-${index + 1}`,
    vehicleId: vehicleIds.of(index),
    driverId: driverIds.of(index),
    startAt,
    endAt: startAt + LENGTH_MS,
    createdAt,
    modifiedAt: modifications.findLast((at) => at <= world.now()) ?? createdAt,
  };
}

export function findItinerary(world: World, id: number): Itinerary | undefined {
  const written = world.journal.latest<Itinerary>('itinerary').get(id);
  if (written !== undefined) return written.record;
  const key = dayIds.keyOf(id);
  if (key === undefined || weekdayOf(key.day) !== MONDAY) return undefined;
  return generatedItinerary(world, key.index, key.day);
}

/** Itineraries whose period overlaps [from, to], in order of start and id. */
export function itinerariesBetween(world: World, from: number, to: number): Itinerary[] {
  const written = world.journal.latest<Itinerary>('itinerary');
  const found = [...written.values()].map((entry) => entry.record);
  const first = Math.max(FOUNDING_DAY, dayOf(from - LENGTH_MS) - 1);
  const last = Math.min(dayOf(to), dayOf(world.now()) + 7);
  for (let day = first; day <= last; day++) {
    if (weekdayOf(day) !== MONDAY) continue;
    for (const index of world.roster.listedBetween(startOfDay(day), startOfDay(day + 1))) {
      const one = generatedItinerary(world, index, day);
      if (one !== undefined && !written.has(one.id)) found.push(one);
    }
  }
  return found
    .filter((one) => one.startAt <= to && one.endAt >= from)
    .sort((a, b) => a.startAt - b.startAt || a.id - b.id);
}

export function itineraryRecord(world: World, one: Itinerary, includes: readonly string[]) {
  const vehicleIndex = one.vehicleId === null ? undefined : vehicleIds.indexOf(one.vehicleId);
  const driverIndex = one.driverId === null ? undefined : driverIds.indexOf(one.driverId);
  const hasVehicle = includes.includes('vehicle') && vehicleIndex !== undefined;
  const hasDriver = includes.includes('driver') && driverIndex !== undefined;
  const position = (name: string, at: number) => (includes.includes(name) ? positionAt(world, one, at) : null);
  return {
    id: one.id,
    customer: null,
    description: one.description,
    external_id: one.externalId,
    vehicle_id: one.vehicleId,
    driver_id: one.driverId,
    date_time_start: world.instant(one.startAt),
    date_time_end: world.instant(one.endAt),
    date_created: world.instant(one.createdAt),
    date_modified: world.instant(one.modifiedAt),
    date_excluded: null,
    position_start: position('position_start', one.startAt),
    position_end: position('position_end', one.endAt),
    itineraries: [],
    vehicle: hasVehicle ? vehicleSummary(world, vehicleIndex) : null,
    driver: hasDriver ? { id: one.driverId, name: personName(world.seed, 'driver', driverIndex) } : null,
  };
}

function vehicleSummary(world: World, index: number): unknown {
  const { id, title, plate } = vehicleIdentity(world.seed, index);
  return { id, title, plate };
}

/** The position at the start or end; null until the tracker has reported it. */
function positionAt(world: World, one: Itinerary, at: number): unknown {
  const arrivedAt = at + 5 * MINUTE_MS;
  if (world.now() < arrivedAt) return null;
  const index = one.vehicleId === null ? undefined : vehicleIds.indexOf(one.vehicleId);
  const place = index === undefined ? placeFor(world.seed, 'itinerary', one.id) : depotOf(world.seed, index);
  return {
    date_created: world.instant(arrivedAt),
    date_time: world.instant(at),
    latitude: place.latitude,
    longitude: place.longitude,
  };
}
