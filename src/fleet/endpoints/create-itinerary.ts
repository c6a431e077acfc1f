// POST /itinerary/: creates an itinerary.
import { z } from 'zod';
import { readWritten, writeEndpoint } from '../endpoint.ts';
import { itemData } from '../request-fields.ts';

export const createItinerary = writeEndpoint({
  name: 'create-itinerary',
  method: 'POST',
  path: '/itinerary/',
  request: z.strictObject({ data: itemData }),
  read: readWritten,
});
