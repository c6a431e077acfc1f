// GET, POST and PUT /point_of_interest/. The category is an object or an id; the API document has both names. A change
// replaces the required fields and keeps the optional ones that it does not name.
import { isJsonObject } from '../../core/glossary.ts';
import { Rejection } from '../http/answer.ts';
import { type Call, type CallRequest, dataOf, readCall, writeCall } from '../http/call.ts';
import { collection, optionalWord } from '../http/parameters.ts';
import { listAnswer, writtenAnswer } from '../http/shapes.ts';
import { coordinateField, integerField, requiredText, textField } from '../http/written-fields.ts';
import {
  allPointsOfInterest,
  POINT_CATEGORIES,
  type PointOfInterest,
  pointOfInterestRecord,
} from '../world/points-of-interest.ts';
import type { World } from '../world/world.ts';

const DEFAULT_INCLUDES = ['point_of_interest_category'] as const;
const DEFAULT_CATEGORY = 1;
const PATH = '/point_of_interest/';

export const pointOfInterestCalls = (world: World): Call[] => [
  readCall('points-of-interest', PATH, (request) => listPoints(world, request)),
  writeCall('create-point-of-interest', 'POST', PATH, ({ body }) => {
    const id = world.journal.nextId('point_of_interest');
    return writePoint(world, pointFrom(dataOf(body), id, undefined), true);
  }),
  writeCall('change-point-of-interest', 'PUT', PATH, ({ body }) => {
    const data = dataOf(body);
    const id = integerField(data, 'id');
    if (id === null) throw new Rejection(422, 'id: is required');
    const before = allPointsOfInterest(world).find((point) => point.id === id);
    if (before === undefined) throw new Rejection(404, 'No such point of interest');
    return writePoint(world, pointFrom(data, id, before), false);
  }),
];

function listPoints(world: World, { query }: CallRequest) {
  const ids = POINT_CATEGORIES.map((_, id) => String(id));
  const category = optionalWord(query, 'point_of_interest_category_id', ids);
  const includes = collection(query, 'includes') ?? DEFAULT_INCLUDES;
  const points = allPointsOfInterest(world).filter(
    (point) =>
      (category === undefined || point.categoryId === Number(category)) &&
      world.isListed('point_of_interest', point.id),
  );
  return listAnswer(
    world.shapes,
    points.map((point) => pointOfInterestRecord(point, includes)),
  );
}

function pointFrom(data: Record<string, unknown>, id: number, before: PointOfInterest | undefined): PointOfInterest {
  return {
    id,
    title: requiredText(data, 'title'),
    responsible_name: textField(data, 'responsible_name') ?? before?.responsible_name ?? null,
    phone: textField(data, 'phone') ?? before?.phone ?? null,
    latitude: coordinateField(data, 'latitude'),
    longitude: coordinateField(data, 'longitude'),
    migration_id: null,
    categoryId: categoryFrom(data) ?? before?.categoryId ?? DEFAULT_CATEGORY,
  };
}

function categoryFrom(data: Record<string, unknown>): number | null {
  const object = data.point_of_interest_category;
  const id = isJsonObject(object) ? integerField(object, 'id') : integerField(data, 'point_of_interest_category_id');
  if (id !== null && POINT_CATEGORIES[id] === undefined) {
    throw new Rejection(422, 'point_of_interest_category: must have an id from 0 to 9');
  }
  return id;
}

function writePoint(world: World, point: PointOfInterest, created: boolean) {
  world.journal.write({
    at: world.now(),
    kind: 'point_of_interest',
    id: point.id,
    created,
    name: point.title,
    record: point,
  });
  return writtenAnswer(world.shapes, pointOfInterestRecord(point, DEFAULT_INCLUDES));
}
