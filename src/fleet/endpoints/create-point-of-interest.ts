// POST /point_of_interest/: a new point of interest.
import { z } from 'zod';
import { POINT_OF_INTEREST_CATEGORIES } from '../../core/code-lists.ts';
import { readWritten, writeEndpoint } from '../endpoint.ts';
import { categoryAsSent } from '../readings.ts';
import { idOfList, latitude, longitude, onlyOneRule, withRules, word } from '../request-fields.ts';

const category = idOfList(POINT_OF_INTEREST_CATEGORIES);

export const pointOfInterestFields = {
  title: word,
  latitude,
  longitude,
  phone: word.optional(),
  responsible_name: word.optional(),
  /** The category in either of its two documented forms. */
  point_of_interest_category: z.strictObject({ id: category }).optional(),
  point_of_interest_category_id: category.optional(),
};

export const categoryRule = onlyOneRule('point_of_interest_category', 'point_of_interest_category_id');

interface GivenCategory {
  point_of_interest_category?: { id: number };
  point_of_interest_category_id?: number;
}

/** The body of a create or change, with the category in the one form that is sent. */
export function pointOfInterestBody({ point_of_interest_category_id: id, ...fields }: GivenCategory): object {
  return { data: id === undefined ? fields : { ...fields, point_of_interest_category: categoryAsSent(id) } };
}

export const createPointOfInterest = writeEndpoint({
  name: 'create-point-of-interest',
  method: 'POST',
  path: '/point_of_interest/',
  request: withRules(z.strictObject(pointOfInterestFields), categoryRule),
  body: pointOfInterestBody,
  read: readWritten,
});
