// GET /import/route_point: the execution data of one point of a plan.
import { z } from 'zod';
import { listEndpoint } from '../endpoint.ts';
import { anyIncludes, nonEmptyText, recordId } from '../request-fields.ts';
import { list } from '../wire.ts';

export const routePoint = listEndpoint({
  name: 'route-point',
  path: '/import/route_point',
  query: z.strictObject({
    route_plan_id: recordId,
    external_code: nonEmptyText,
    includes: anyIncludes.min(1).default(['routes_info']),
  }),
  fields: { routes_info: list(z.unknown()), route_point_items: list(z.unknown()) },
});
