// The events that have arrived, as the query returns them. Related objects are present only if requested; a nested include adds its parent too.

import { driverIds } from '../made-up/identifiers.ts';
import { personName } from '../made-up/names.ts';
import type { Place } from '../made-up/places.ts';
import { dayOf } from '../world/company-time.ts';
import type { TrackedEvent } from '../world/events.ts';
import type { World } from '../world/world.ts';
import { vehicleIdentity } from './vehicle-records.ts';

export const EVENT_INCLUDES = [
  'position_start',
  'position_end',
  'location_start',
  'location_end',
  'position_start.virtual_area',
  'position_end.virtual_area',
  'device',
  'vehicle',
  'vehicle.vehicle_color',
  'driver',
  'poi_start',
  'poi_end',
] as const;

/** The arrived events that begin between `from` and `to`, both included, in order of their beginning. */
export function arrivedEvents(world: World, index: number, from: number, to: number): TrackedEvent[] {
  const now = world.now();
  const found: TrackedEvent[] = [];
  for (let day = dayOf(from) - 1; day <= Math.min(dayOf(to) + 1, dayOf(now)); day++) {
    for (const event of world.activity(index, day).events()) {
      if (event.visibleAt <= now && event.beginAt >= from && event.beginAt <= to) found.push(event);
    }
  }
  return found.sort((a, b) => a.beginAt - b.beginAt || a.id - b.id);
}

export function eventRecord(world: World, event: TrackedEvent, includes: readonly string[]): Record<string, unknown> {
  return {
    id: event.id,
    event_category: event.category,
    begin_date: world.instant(event.beginAt),
    end_date: world.instant(event.endAt),
    distance: event.distanceM,
    ...relatedObjects(world, event, includes),
  };
}

/** The requested related objects. They depend only on the vehicle and the places. */
export function relatedObjects(
  world: World,
  { vehicleIndex, from, to }: Pick<TrackedEvent, 'vehicleIndex' | 'from' | 'to'>,
  includes: readonly string[],
): Record<string, unknown> {
  const has = (name: string): boolean => includes.some((one) => one === name || one.startsWith(`${name}.`));
  const related: Record<string, unknown> = {};
  const { id, plate, model, color, device } = vehicleIdentity(world.seed, vehicleIndex);
  if (has('vehicle')) {
    const withColor = includes.includes('vehicle.vehicle_color') ? { vehicle_color: color } : {};
    related.vehicle = { id, plate, model, ...withColor };
  }
  if (has('driver')) {
    related.driver = { id: driverIds.of(vehicleIndex), name: personName(world.seed, 'driver', vehicleIndex) };
  }
  if (has('device')) related.device = device;
  for (const [end, place] of [
    ['start', from],
    ['end', to],
  ] as const) {
    if (has(`location_${end}`)) related[`location_${end}`] = { address: place.address };
    if (has(`position_${end}`)) {
      related[`position_${end}`] = position(place, includes.includes(`position_${end}.virtual_area`));
    }
    if (has(`poi_${end}`)) related[`poi_${end}`] = null;
  }
  return related;
}

const position = ({ latitude, longitude }: Place, withArea: boolean) => ({
  latitude,
  longitude,
  ...(withArea ? { virtual_area: null } : {}),
});
