// Pushes points of interest. All points are listed; a point is matched by its title, and created or replaced.
import type { JsonObject } from '../../../core/json.ts';
import { changePointOfInterest } from '../../../fleet/endpoints/change-point-of-interest.ts';
import { createPointOfInterest } from '../../../fleet/endpoints/create-point-of-interest.ts';
import { pointsOfInterest } from '../../../fleet/endpoints/points-of-interest.ts';
import type { PushKind } from '../kind.ts';
import { fieldText, isSameValue, judgeWritten, remoteRecords } from './answers.ts';

const titleOf = (record: JsonObject): string | undefined => fieldText(record.title);

export const pointOfInterestKind: PushKind = {
  feed: 'points_of_interest',
  noun: 'point of interest',
  keyOf: (data) => titleOf(data) ?? '',
  async list(call) {
    const includes = ['point_of_interest_category'];
    return remoteRecords(await call(pointsOfInterest, { includes }), titleOf);
  },
  create: async (call, { data }) => judgeWritten(await call(createPointOfInterest, { data })),
  change: async (call, id, { data }) => judgeWritten(await call(changePointOfInterest, { id, data })),
  isSame: (record, data) =>
    Object.entries(withCategory(data)).every(([name, value]) => isSameValue(withCategory(record)[name], value)),
};

/** Converts both documented forms of the category to the id. */
function withCategory({ point_of_interest_category: category, ...rest }: JsonObject): JsonObject {
  const id = (category as JsonObject | null | undefined)?.id;
  return id === undefined ? rest : { ...rest, point_of_interest_category_id: id };
}
