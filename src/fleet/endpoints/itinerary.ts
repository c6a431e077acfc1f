// GET /itinerary/<id>: one itinerary in detail, as a list of one.
import { z } from 'zod';
import { listEndpoint } from '../endpoint.ts';
import { recordId } from '../request-fields.ts';

export const itinerary = listEndpoint({
  name: 'itinerary',
  path: '/itinerary/<id>',
  query: z.strictObject({ id: recordId }),
});
