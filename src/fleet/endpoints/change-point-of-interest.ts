// PUT /point_of_interest/: changes a point of interest; the whole point is sent, its id in the body.
import { z } from 'zod';
import { readWritten, writeEndpoint } from '../endpoint.ts';
import { withRules } from '../request-fields.ts';
import { categoryRule, pointOfInterestBody, pointOfInterestFields } from './create-point-of-interest.ts';

export const changePointOfInterest = writeEndpoint({
  name: 'change-point-of-interest',
  method: 'PUT',
  path: '/point_of_interest/',
  request: withRules(z.strictObject({ id: z.int().nonnegative(), ...pointOfInterestFields }), categoryRule),
  body: pointOfInterestBody,
  read: readWritten,
});
