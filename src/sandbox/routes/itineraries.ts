// POST /itinerary/, PUT and GET /itinerary/<id>, GET /itinerary/. The estimated times of a new itinerary become its
// times; start_local and end_local are checked but not returned. A change keeps the fields that it does not name.
import { Rejection } from '../http/answer.ts';
import { type Call, type CallRequest, dataOf, readCall, writeCall } from '../http/call.ts';
import { optionalInteger, requiredInstant, wordCollection } from '../http/parameters.ts';
import { listAnswer, oneAnswer, writtenAnswer } from '../http/shapes.ts';
import { instantField, integerField, requiredInstantField, textField } from '../http/written-fields.ts';
import { findItinerary, type Itinerary, itinerariesBetween, itineraryRecord } from '../world/itineraries.ts';
import type { World } from '../world/world.ts';

const INCLUDES = ['vehicle', 'driver', 'position_start', 'position_end'] as const;
const ONE = '/itinerary/:id{[0-9]+}';

export const itineraryCalls = (world: World): Call[] => [
  writeCall('create-itinerary', 'POST', '/itinerary/', ({ body }) => createItinerary(world, body)),
  writeCall('change-itinerary', 'PUT', ONE, (request) => changeItinerary(world, request)),
  readCall('itinerary', ONE, ({ params }) =>
    oneAnswer(world.shapes, itineraryRecord(world, known(world, params), INCLUDES)),
  ),
  readCall('itineraries', '/itinerary/', (request) => listItineraries(world, request)),
];

function known(world: World, params: Record<string, string>): Itinerary {
  const one = findItinerary(world, Number(params.id));
  if (one === undefined) throw new Rejection(404, 'No such itinerary');
  return one;
}

function createItinerary(world: World, body: unknown) {
  const data = dataOf(body);
  textField(data, 'start_local');
  textField(data, 'end_local');
  const at = world.now();
  const created: Itinerary = {
    id: world.journal.nextId('itinerary'),
    description: textField(data, 'description'),
    externalId: textField(data, 'external_id'),
    vehicleId: integerField(data, 'vehicle_id'),
    driverId: integerField(data, 'driver_id'),
    startAt: requiredInstantField(data, 'date_time_start_estimated'),
    endAt: requiredInstantField(data, 'date_time_end_estimated'),
    createdAt: at,
    modifiedAt: at,
  };
  return writeItinerary(world, created, true);
}

function changeItinerary(world: World, { params, body }: CallRequest) {
  const before = known(world, params);
  const data = dataOf(body);
  const changed: Itinerary = {
    ...before,
    description: textField(data, 'description') ?? before.description,
    externalId: textField(data, 'external_id') ?? before.externalId,
    vehicleId: integerField(data, 'vehicle_id') ?? before.vehicleId,
    driverId: integerField(data, 'driver_id') ?? before.driverId,
    startAt: instantField(data, 'date_time_start') ?? before.startAt,
    endAt: instantField(data, 'date_time_end') ?? before.endAt,
    modifiedAt: world.now(),
  };
  return writeItinerary(world, changed, false);
}

function writeItinerary(world: World, record: Itinerary, created: boolean) {
  const name = record.externalId ?? '';
  world.journal.write({ at: world.now(), kind: 'itinerary', id: record.id, created, name, record });
  return writtenAnswer(world.shapes, itineraryRecord(world, record, INCLUDES));
}

function listItineraries(world: World, { query }: CallRequest) {
  const from = requiredInstant(query, 'date_time_start');
  const to = requiredInstant(query, 'date_time_end');
  const vehicleId = optionalInteger(query, 'vehicle_id');
  const driverId = optionalInteger(query, 'driver_id');
  const includes = wordCollection(query, 'includes', INCLUDES) ?? [];
  const found = itinerariesBetween(world, from, to).filter(
    (one) =>
      world.isListed('itinerary', one.id) &&
      (vehicleId === undefined || one.vehicleId === vehicleId) &&
      (driverId === undefined || one.driverId === driverId),
  );
  return listAnswer(
    world.shapes,
    found.map((one) => itineraryRecord(world, one, includes)),
  );
}
