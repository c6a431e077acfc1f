// GET /itinerary/: the itineraries of a period.
import { z } from 'zod';
import { withRules } from '../../core/field-rules.ts';
import { listEndpoint } from '../endpoint.ts';
import { TEXT_INCLUDES } from '../interpretations.ts';
import { dateTime, includesOf, periodRule, recordId } from '../request-fields.ts';
import { list } from '../wire.ts';

export const itineraries = listEndpoint({
  name: 'itineraries',
  path: '/itinerary/',
  query: withRules(
    z.strictObject({
      vehicle_id: recordId.optional(),
      driver_id: recordId.optional(),
      /** When the itinerary is expected to start and to end. */
      date_time_start: dateTime,
      date_time_end: dateTime,
      includes: includesOf(['vehicle', 'driver', 'position_start', 'position_end']).optional(),
    }),
    periodRule('date_time_start', 'date_time_end'),
  ),
  forms: TEXT_INCLUDES,
  fields: { itineraries: list(z.unknown()) },
});
