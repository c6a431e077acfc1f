// PUT /itinerary/<id>: changes an itinerary. Which fields are required is not documented: one at least.
import { z } from 'zod';
import { readWritten, writeEndpoint } from '../endpoint.ts';
import { bodyMoment, oneOfRule, periodRule, recordId, withRules, word } from '../request-fields.ts';

const fields = {
  description: word.optional(),
  external_id: word.optional(),
  vehicle_id: z.int().nonnegative().optional(),
  driver_id: z.int().nonnegative().optional(),
  date_time_start: bodyMoment.optional(),
  date_time_end: bodyMoment.optional(),
};

export const changeItinerary = writeEndpoint({
  name: 'change-itinerary',
  method: 'PUT',
  path: '/itinerary/<id>',
  request: withRules(
    z.strictObject({ id: recordId, ...fields }),
    periodRule('date_time_start', 'date_time_end'),
    oneOfRule(...Object.keys(fields)),
  ),
  body: ({ id: _inPath, ...data }) => ({ data }),
  read: readWritten,
});
