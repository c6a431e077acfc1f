// PUT /itinerary/<id>: changes an itinerary.
import { z } from 'zod';
import { readWritten, writeEndpoint } from '../endpoint.ts';
import { itemData, recordId } from '../request-fields.ts';

export const changeItinerary = writeEndpoint({
  name: 'change-itinerary',
  method: 'PUT',
  path: '/itinerary/<id>',
  request: z.strictObject({ id: recordId, data: itemData }),
  read: readWritten,
});
