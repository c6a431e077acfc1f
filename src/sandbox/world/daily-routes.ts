// The intended route of each vehicle on a local day: from the depot past some customers and back. On four days of five
// it is a route plan, made the evening before; otherwise the vehicle drives without a plan.

import { memoize } from '../../core/memoize.ts';
import { dayIds, partId, userIds } from '../made-up/identifiers.ts';
import { businessName, personName } from '../made-up/names.ts';
import { metresBetween, type Place, placeFor } from '../made-up/places.ts';
import { plateOf } from '../made-up/plates.ts';
import { type Random, seededRandom } from '../made-up/seeded-random.ts';
import { dateText, FOUNDING_DAY, HOUR_MS, MINUTE_MS, SECOND_MS, startOfDay, weekdayOf } from './company-time.ts';
import type { FleetRoster } from './fleet-roster.ts';
import { isTerminus, type PointDraft, type RouteDraft, travelSeconds } from './route-draft.ts';

/** The local date in the external code of a generated plan. */
export const datedCode = (code: string): string | undefined => /^RT-(\d{4}-\d{2}-\d{2})-/.exec(code)?.[1];

const ROAD_FACTOR = 1.35;
const CUSTOMERS = 400;

export const depotOf = (seed: number, index: number): Place => placeFor(seed, 'depot', index % 3);
export const customerPlace = memoize(
  4 * CUSTOMERS,
  (seed: number, customer: number): Place => placeFor('customer', `${seed}:${customer}`),
);

/** `isPlan` if the service knows the route as a plan. */
export function dailyRoute(seed: number, roster: FleetRoster, index: number, day: number) {
  if (day < FOUNDING_DAY || !roster.worksOn(index, day)) return undefined;
  const random = seededRandom(seed, 'route', index, day);
  if (!random.chance(weekdayOf(day) === 0 ? 0.15 : 0.93)) return undefined;
  const isPlan = random.chance(0.8);
  const startAt = startOfDay(day) + random.int(6 * 60 + 30, 9 * 60) * MINUTE_MS;
  const points = pointsOf(seed, index, day, startAt, random);
  const lastAt = points.at(-1)?.scheduledAt ?? startAt;
  const createdAt = startOfDay(day) - 6 * HOUR_MS + random.int(0, 3 * 3_600) * SECOND_MS;
  const draft: RouteDraft = {
    id: dayIds.of(index, day),
    key: [seed, 'run', index, day],
    externalCode: `RT-${dateText(day)}-${plateOf(seed, index)}`,
    source: 'G',
    createdAt,
    visibleAt: createdAt,
    startAt,
    endAt: lastAt + 30 * MINUTE_MS,
    isAsync: true,
    vehicleIndex: index,
    userId: userIds.of(index),
    userName: personName(seed, 'driver', index),
    points,
  };
  return { draft, isPlan };
}

function pointsOf(seed: number, index: number, day: number, startAt: number, random: Random): PointDraft[] {
  const depot = depotOf(seed, index);
  const stops = random.int(3, 8);
  const points: PointDraft[] = [];
  let at = startAt;
  let before = depot;
  for (let i = 0; i <= stops + 1; i++) {
    const isEnd = i === 0 || i === stops + 1;
    const customer = random.int(0, CUSTOMERS - 1);
    const place = isEnd ? depot : customerPlace(seed, customer);
    const distanceM = i === 0 ? 0 : Math.round(metresBetween(before, place) * ROAD_FACTOR);
    at += i === 0 ? 0 : travelSeconds(distanceM) * SECOND_MS;
    const durationS = isEnd ? 300 : random.int(5, 20) * 60;
    const id = partId(index, day, i);
    const type = i === 0 ? 'PA' : isEnd ? 'CH' : random.chance(0.1) ? 'CO' : 'PE';
    const items = isTerminus(type) ? [] : itemsOf(id, random);
    points.push({
      id,
      name: isEnd ? 'Depot' : businessName(seed, customer),
      type,
      order: i + 1,
      optimizedOrder: i + 1,
      place,
      scheduledAt: at,
      durationS,
      distanceM,
      externalCode: isEnd ? `DEPOT-${type}` : `NF-${id}`,
      capacity: items.length === 0 ? null : items.reduce((sum, item) => sum + item.capacity, 0),
      timeWindow: null,
      disablePicture: random.chance(0.1) ? true : null,
      items,
    });
    at += durationS * SECOND_MS;
    before = place;
  }
  return points;
}

const itemsOf = (pointId: number, random: Random) =>
  Array.from({ length: random.int(1, 3) }, (_, i) => ({
    external_code: `IT-${pointId}-${i + 1}`,
    value: random.int(1_000, 90_000) / 100,
    description: random.pick(['Box', 'Pallet', 'Bag', 'Crate']),
    quantity: random.int(1, 12),
    capacity: random.int(1, 40),
  }));
