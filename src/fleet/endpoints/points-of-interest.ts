// GET /point_of_interest/: the points of interest, all or of one category.
import { z } from 'zod';
import { POINT_OF_INTEREST_CATEGORIES } from '../../core/code-lists.ts';
import { listEndpoint } from '../endpoint.ts';
import { anyIncludes, listedId } from '../request-fields.ts';

export const pointsOfInterest = listEndpoint({
  name: 'points-of-interest',
  path: '/point_of_interest/',
  query: z.strictObject({
    point_of_interest_category_id: listedId(POINT_OF_INTEREST_CATEGORIES).optional(),
    /** The service's own default is point_of_interest_category. */
    includes: anyIncludes.optional(),
  }),
});
