// POST /itinerary/, PUT and GET /itinerary/<id>, GET /itinerary/. The estimated times of a new itinerary become its
// times; start_local and end_local are checked but not returned. A change keeps the fields that it does not name.
import { z } from 'zod';
import { Rejection } from '../http/answer.ts';
import { call } from '../http/call.ts';
import { checked, instant, integerText, list, one, orNull, readQuery } from '../http/parameters.ts';
import { listAnswer, oneAnswer, writtenAnswer } from '../http/shapes.ts';
import { findItinerary, type Itinerary, itinerariesBetween, itineraryRecord } from '../world/itineraries.ts';
import type { World } from '../world/world.ts';

const INCLUDES = ['vehicle', 'driver', 'position_start', 'position_end'];
const ONE = '/itinerary/:id{[0-9]+}';

const FIELDS = z.object({
  description: orNull(z.string()),
  external_id: orNull(z.string()),
  vehicle_id: orNull(z.int()),
  driver_id: orNull(z.int()),
});
const CREATION = z.object({
  data: FIELDS.extend({
    start_local: orNull(z.string()),
    end_local: orNull(z.string()),
    date_time_start_estimated: instant,
    date_time_end_estimated: instant,
  }),
});
const CHANGE = z.object({ data: FIELDS.extend({ date_time_start: orNull(instant), date_time_end: orNull(instant) }) });
const LISTING = z.object({
  date_time_start: one(instant),
  date_time_end: one(instant),
  vehicle_id: one(integerText.optional()),
  driver_id: one(integerText.optional()),
  includes: list(z.enum(INCLUDES)).default([]),
});

export const itineraryCalls = [
  call('create-itinerary', 'POST', '/itinerary/', ({ world }, { body }) => {
    const { data } = checked(CREATION, body);
    const at = world.now();
    const created: Itinerary = {
      id: world.journal.nextId('itinerary'),
      description: data.description,
      externalId: data.external_id,
      vehicleId: data.vehicle_id,
      driverId: data.driver_id,
      startAt: data.date_time_start_estimated,
      endAt: data.date_time_end_estimated,
      createdAt: at,
      modifiedAt: at,
    };
    return writeItinerary(world, created, true);
  }),
  call('change-itinerary', 'PUT', ONE, ({ world }, { params, body }) => {
    const before = known(world, params);
    const { data } = checked(CHANGE, body);
    const changed: Itinerary = {
      ...before,
      description: data.description ?? before.description,
      externalId: data.external_id ?? before.externalId,
      vehicleId: data.vehicle_id ?? before.vehicleId,
      driverId: data.driver_id ?? before.driverId,
      startAt: data.date_time_start ?? before.startAt,
      endAt: data.date_time_end ?? before.endAt,
      modifiedAt: world.now(),
    };
    return writeItinerary(world, changed, false);
  }),
  call('itinerary', 'GET', ONE, ({ world }, { params }) =>
    oneAnswer(world.shapes, itineraryRecord(world, known(world, params), INCLUDES)),
  ),
  call('itineraries', 'GET', '/itinerary/', ({ world }, { query }) => {
    const wanted = readQuery(LISTING, query);
    const found = itinerariesBetween(world, wanted.date_time_start, wanted.date_time_end).filter(
      ({ id, vehicleId, driverId }) =>
        world.isListed('itinerary', id) &&
        (wanted.vehicle_id === undefined || vehicleId === wanted.vehicle_id) &&
        (wanted.driver_id === undefined || driverId === wanted.driver_id),
    );
    const records = found.map((itinerary) => itineraryRecord(world, itinerary, wanted.includes));
    return listAnswer(world.shapes, records);
  }),
];

function known(world: World, params: Record<string, string>): Itinerary {
  const found = findItinerary(world, Number(params.id));
  if (found === undefined) throw new Rejection(404, 'No such itinerary');
  return found;
}

function writeItinerary(world: World, record: Itinerary, created: boolean) {
  const { id, externalId } = record;
  world.journal.write({ at: world.now(), kind: 'itinerary', id, created, name: externalId ?? '', record });
  return writtenAnswer(world.shapes, itineraryRecord(world, record, INCLUDES));
}
