// GET /import/route_plan with route_plan_id: one plan with the execution data of its points, as a list of one.
import { z } from 'zod';
import { listEndpoint } from '../endpoint.ts';
import { includesOf, recordId } from '../request-fields.ts';

export const routePlan = listEndpoint({
  name: 'route-plan',
  path: '/import/route_plan',
  query: z.strictObject({
    route_plan_id: recordId,
    includes: includesOf([
      'user_excluded',
      'route_points',
      'route_points.routes_info',
      'route_points.route_point_items',
      'vehicle',
      'user',
    ]).min(1),
  }),
});
