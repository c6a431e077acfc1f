// PUT /point_of_interest/: changes a point of interest. All of its fields are sent, with its id in the body.
import { z } from 'zod';
import { readWritten, writeEndpoint } from '../endpoint.ts';
import { itemData } from '../request-fields.ts';
import { pointOfInterestData } from './create-point-of-interest.ts';

export const changePointOfInterest = writeEndpoint({
  name: 'change-point-of-interest',
  method: 'PUT',
  path: '/point_of_interest/',
  request: z.strictObject({ id: z.int().nonnegative(), data: itemData }),
  body: ({ id, data }) => ({ data: { id, ...pointOfInterestData(data) } }),
  read: readWritten,
});
