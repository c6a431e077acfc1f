// GET, POST and PUT /point_of_interest/. The category is an object or an id; the API document has both names. A change
// replaces the required fields and keeps the optional ones that it does not name.
import { z } from 'zod';
import { Rejection } from '../http/answer.ts';
import { call } from '../http/call.ts';
import { checked, integerText, list, one, orNull, readQuery, requiredText } from '../http/parameters.ts';
import { listAnswer, writtenAnswer } from '../http/shapes.ts';
import {
  allPointsOfInterest,
  POINT_CATEGORIES,
  type PointOfInterest,
  pointOfInterestRecord,
} from '../world/points-of-interest.ts';
import type { World } from '../world/world.ts';

const DEFAULT_INCLUDES = ['point_of_interest_category'];
const DEFAULT_CATEGORY = 1;
const PATH = '/point_of_interest/';

const category = z
  .int()
  .min(0)
  .max(POINT_CATEGORIES.length - 1);
const FIELDS = z.object({
  title: requiredText,
  responsible_name: orNull(z.string()),
  phone: orNull(z.string()),
  latitude: z.number().min(-90).max(90),
  longitude: z.number().min(-180).max(180),
  point_of_interest_category: orNull(z.object({ id: orNull(category) })),
  point_of_interest_category_id: orNull(category),
});
const CREATION = z.object({ data: FIELDS });
const CHANGE = z.object({ data: FIELDS.extend({ id: z.int() }) });
const LISTING = z.object({
  point_of_interest_category_id: one(integerText.pipe(category).optional()),
  includes: list(z.string()).default(DEFAULT_INCLUDES),
});

export const pointOfInterestCalls = [
  call('points-of-interest', 'GET', PATH, ({ world }, { query }) => {
    const { point_of_interest_category_id: wanted, includes } = readQuery(LISTING, query);
    const points = allPointsOfInterest(world).filter(
      ({ id, categoryId }) =>
        (wanted === undefined || categoryId === wanted) && world.isListed('point_of_interest', id),
    );
    const records = points.map((point) => pointOfInterestRecord(point, includes));
    return listAnswer(world.shapes, records);
  }),
  call('create-point-of-interest', 'POST', PATH, ({ world }, { body }) => {
    const { data } = checked(CREATION, body);
    return writePoint(world, data, world.journal.nextId('point_of_interest'), undefined);
  }),
  call('change-point-of-interest', 'PUT', PATH, ({ world }, { body }) => {
    const { data } = checked(CHANGE, body);
    const before = allPointsOfInterest(world).find((point) => point.id === data.id);
    if (before === undefined) throw new Rejection(404, 'No such point of interest');
    return writePoint(world, data, data.id, before);
  }),
];

function writePoint(world: World, data: z.output<typeof FIELDS>, id: number, before: PointOfInterest | undefined) {
  const categoryId = data.point_of_interest_category?.id ?? data.point_of_interest_category_id;
  const record: PointOfInterest = {
    id,
    title: data.title,
    responsible_name: data.responsible_name ?? before?.responsible_name ?? null,
    phone: data.phone ?? before?.phone ?? null,
    latitude: data.latitude,
    longitude: data.longitude,
    migration_id: null,
    categoryId: categoryId ?? before?.categoryId ?? DEFAULT_CATEGORY,
  };
  const created = before === undefined;
  world.journal.write({ at: world.now(), kind: 'point_of_interest', id, created, name: record.title, record });
  return writtenAnswer(world.shapes, pointOfInterestRecord(record, DEFAULT_INCLUDES));
}
