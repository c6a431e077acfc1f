// GET /itinerary/: the itineraries of a period.
import { z } from 'zod';
import { listEndpoint } from '../endpoint.ts';
import { TEXT_INCLUDES } from '../readings.ts';
import { includesOf, moment, periodRule, recordId, withRules } from '../request-fields.ts';
import { decimal, id, instant, integer, list, object, text } from '../wire.ts';

const position = object({ date_created: instant, date_time: instant, latitude: decimal, longitude: decimal });

export const itineraryRecord = z.looseObject({
  id,
  description: text,
  external_id: text,
  vehicle_id: integer,
  driver_id: integer,
  date_time_start: instant,
  date_time_end: instant,
  date_created: instant,
  date_modified: instant,
  date_excluded: instant,
  position_start: position,
  position_end: position,
  itineraries: list(z.unknown()),
  vehicle: object({ id: integer }),
  driver: object({ id: integer }),
});

export const itineraries = listEndpoint({
  name: 'itineraries',
  path: '/itinerary/',
  query: withRules(
    z.strictObject({
      vehicle_id: recordId.optional(),
      driver_id: recordId.optional(),
      /** When the itinerary is expected to start and to end. */
      date_time_start: moment,
      date_time_end: moment,
      includes: includesOf(['vehicle', 'driver', 'position_start', 'position_end']).optional(),
    }),
    periodRule('date_time_start', 'date_time_end'),
  ),
  forms: TEXT_INCLUDES,
  record: itineraryRecord,
});
