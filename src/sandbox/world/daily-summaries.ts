// The daily summary of a vehicle, computed from the events that have arrived. So today's summary grows during the day,
// a late trip changes a past day, and one day in twenty is corrected a day or two later.

import { seededRandom } from '../made-up/seeded-random.ts';
import { DAY_MS, HOUR_MS, startOfDay } from './company-time.ts';
import { HARSH_RPM, OUT_OF_HOURS, SPEEDING, TRIP } from './event-categories.ts';
import type { TrackedEvent } from './events.ts';
import type { World } from './world.ts';

export type Summary = ReturnType<typeof fold>;

/** In seconds and metres; undefined until a trip of that day has arrived. */
export function summaryOf(world: World, index: number, day: number): Summary | undefined {
  const now = world.now();
  const arrived = world
    .activity(index, day)
    .events()
    .filter((event) => event.visibleAt <= now);
  if (!arrived.some((event) => event.category === TRIP)) return undefined;
  return fold(arrived, correction(world, index, day));
}

/** The factor of the distance: 1, or a little more once a recalculation has run. */
function correction(world: World, index: number, day: number): number {
  const random = seededRandom(world.seed, 'recalculation', index, day);
  const isCorrected = random.chance(0.05);
  const ranAt = startOfDay(day + 1) + DAY_MS * random.int(0, 1) + HOUR_MS * random.int(2, 6);
  return isCorrected && world.now() >= ranAt ? 1.02 : 1;
}

const seconds = (events: readonly TrackedEvent[]): number =>
  events.reduce((sum, event) => sum + (event.endAt - event.beginAt) / 1_000, 0);

const metres = (events: readonly TrackedEvent[]): number => events.reduce((sum, event) => sum + event.distanceM, 0);

function fold(events: readonly TrackedEvent[], factor: number) {
  const of = (category: number): TrackedEvent[] => events.filter((event) => event.category === category);
  const trips = of(TRIP);
  const speeding = of(SPEEDING);
  const outOfHours = of(OUT_OF_HOURS);
  const moving = seconds(trips);
  const standing = Math.round(moving * 0.15);
  const highRpm = seconds(of(HARSH_RPM));
  const distance = Math.round(metres(trips) * factor);
  const average = moving === 0 ? 0 : Math.round((distance / moving) * 3.6 * 10) / 10;
  return {
    count: events.length,
    count_travel: trips.length,
    count_in_moviment: trips.length,
    count_ignition_on: trips.length,
    count_ignition_off: trips.length,
    count_out_of_work: outOfHours.length,
    count_high_speed: speeding.length,
    count_high_speed_range_1: Math.ceil(speeding.length / 2),
    count_high_speed_range_2: Math.floor(speeding.length / 2),
    total_distance: distance,
    total_distance_out_of_work: metres(outOfHours),
    total_time_in_moviment: moving,
    total_time_in_ignition_on: moving + standing,
    total_time_in_ignition_off: Math.max(0, DAY_MS / 1_000 - moving - standing),
    total_time_out_of_work: seconds(outOfHours),
    total_time_in_high_speed: seconds(speeding),
    total_time_rpm_economy: Math.round(moving * 0.7),
    total_time_rpm_high: highRpm,
    total_time_rpm_neutral: standing,
    total_time_rpm_max: Math.round(highRpm / 2),
    speed_max: Math.round(average * 2 + speeding.length * 3),
    speed_average: average,
  };
}

/** Adds up several summaries; the top speed is the maximum and the average speed the mean. */
export function accumulate(summaries: readonly Summary[]): Summary {
  const total = summaries.reduce((sum, one) => {
    const entries = Object.entries(one).map(([name, value]) => [name, sum[name as keyof Summary] + value]);
    return Object.fromEntries(entries) as Summary;
  });
  return {
    ...total,
    speed_max: Math.max(...summaries.map((one) => one.speed_max)),
    speed_average: Math.round((total.speed_average / summaries.length) * 10) / 10,
  };
}
