// GET /event/. An event belongs to a period if it begins in it; whether the end is included is a variant. Grouping by vehicle puts a vehicle's
// events together; the answer stays a plain array, as in the API document.

import { jsonAnswer, Rejection } from '../http/answer.ts';
import { call } from '../http/call.ts';
import { capped, withNumbers } from '../http/shapes.ts';
import type { TrackedEvent } from '../world/events.ts';
import type { World } from '../world/world.ts';
import { bulkAnswer } from './bulk-events.ts';
import { type EventQuery, readEventQuery } from './event-query.ts';
import { arrivedEvents, eventRecord } from './event-records.ts';

export const eventCalls = [
  call('events', 'GET', '/event/', ({ world }, { query }) => {
    const wanted = readEventQuery(query);
    const { mostVehicleIds, periodEnds } = world.shapes;
    if (mostVehicleIds !== null && wanted.vehicles.length > mostVehicleIds)
      throw new Rejection(422, `vehicles_id: at most ${mostVehicleIds}`);
    if (world.bulkEvents !== undefined) return bulkAnswer(world, world.bulkEvents.perVehiclePerDay, wanted);
    const isAtEnd = ({ beginAt }: TrackedEvent): boolean => wanted.periods.some(({ end }) => beginAt === end);
    const events = wanted.vehicles
      .flatMap((index) => eventsOf(world, index, wanted))
      .filter((event) => periodEnds === 'inclusive' || !isAtEnd(event));
    if (!wanted.groupsByVehicle) events.sort((a, b) => a.beginAt - b.beginAt || a.id - b.id);
    const records = events.map((event) => eventRecord(world, event, wanted.includes));
    return jsonAnswer(withNumbers(world.shapes, capped(world.shapes, records)));
  }),
];

function eventsOf(world: World, index: number, wanted: EventQuery): TrackedEvent[] {
  const found = new Set(wanted.periods.flatMap(({ begin, end }) => arrivedEvents(world, index, begin, end)));
  return [...found].filter((event) => event.category === wanted.category && event.distanceM >= wanted.leastDistance);
}
