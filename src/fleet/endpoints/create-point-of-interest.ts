// POST /point_of_interest/: creates a point of interest.
import { z } from 'zod';
import { readWritten, writeEndpoint } from '../endpoint.ts';
import { categoryAsSent } from '../interpretations.ts';
import { itemData } from '../request-fields.ts';

/** The data of a create or change, with the category in the form that is sent. */
export function pointOfInterestData({ point_of_interest_category_id: id, ...fields }: Record<string, unknown>): object {
  return id === undefined ? fields : { ...fields, point_of_interest_category: categoryAsSent(id as number) };
}

export const createPointOfInterest = writeEndpoint({
  name: 'create-point-of-interest',
  method: 'POST',
  path: '/point_of_interest/',
  request: z.strictObject({ data: itemData }),
  body: ({ data }) => ({ data: pointOfInterestData(data) }),
  read: readWritten,
});
