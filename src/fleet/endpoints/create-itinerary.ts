// POST /itinerary/: a new itinerary. Which fields are required is not documented: one at least.
import { z } from 'zod';
import { readWritten, writeEndpoint } from '../endpoint.ts';
import { bodyMoment, oneOfRule, periodRule, withRules, word } from '../request-fields.ts';

const fields = {
  description: word.optional(),
  external_id: word.optional(),
  vehicle_id: z.int().nonnegative().optional(),
  driver_id: z.int().nonnegative().optional(),
  date_time_start_estimated: bodyMoment.optional(),
  date_time_end_estimated: bodyMoment.optional(),
  start_local: word.optional(),
  end_local: word.optional(),
};

export const createItinerary = writeEndpoint({
  name: 'create-itinerary',
  method: 'POST',
  path: '/itinerary/',
  request: withRules(
    z.strictObject(fields),
    periodRule('date_time_start_estimated', 'date_time_end_estimated'),
    oneOfRule(...Object.keys(fields)),
  ),
  body: (data) => ({ data }),
  read: readWritten,
});
