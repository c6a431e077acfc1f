// Pushes itineraries. An itinerary is listed by its period, matched by external_id, and created or changed. The two calls
// name the time fields differently, and a change accepts no places.
import type { JsonObject } from '../../../core/json.ts';
import { changeItinerary } from '../../../fleet/endpoints/change-itinerary.ts';
import { createItinerary } from '../../../fleet/endpoints/create-itinerary.ts';
import { itineraries } from '../../../fleet/endpoints/itineraries.ts';
import type { Period } from '../../../warehouse/outbox/queries.ts';
import type { PushKind } from '../kind.ts';
import { fieldText, isSameValue, judgeWritten, periodBetween, remoteRecords } from './answers.ts';

const codeOf = (record: JsonObject): string | undefined => fieldText(record.external_id);

/** The fields of a change, under the names that a record has. */
function changeOf(data: JsonObject): JsonObject {
  const { date_time_start_estimated: start, date_time_end_estimated: end, ...rest } = data;
  const { start_local: _from, end_local: _to, ...fields } = rest;
  return {
    ...fields,
    ...(start !== undefined && { date_time_start: start }),
    ...(end !== undefined && { date_time_end: end }),
  };
}

export const itineraryKind: PushKind = {
  feed: 'itineraries',
  noun: 'itinerary',
  keyOf: (data) => codeOf(data) ?? '',
  periodOf: (data) => periodBetween(data.date_time_start_estimated, data.date_time_end_estimated),
  async list(call, { start, end }: Period) {
    const request = { date_time_start: start, date_time_end: end };
    return remoteRecords(await call(itineraries, request), codeOf, (record) =>
      periodBetween(record.date_time_start, record.date_time_end),
    );
  },
  create: async (call, { data }) => judgeWritten(await call(createItinerary, { data })),
  change: async (call, id, { data }) => judgeWritten(await call(changeItinerary, { id, data: changeOf(data) })),
  isSame: (record, data) => Object.entries(changeOf(data)).every(([name, value]) => isSameValue(record[name], value)),
};
