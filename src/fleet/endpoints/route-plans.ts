// GET /import/route_plan without route_plan_id: searches the plans.
import { z } from 'zod';
import { ROUTE_PLAN_STATUSES } from '../../core/code-lists.ts';
import { listEndpoint } from '../endpoint.ts';
import { codeOf, includesOf, moment, periodRule, recordId, withRules, word } from '../request-fields.ts';
import { decimal, id, instant, integer, list, object, text } from '../wire.ts';
import { routePointRecord } from './route-point.ts';

export const routePlanRecord = z.looseObject({
  id,
  status: text,
  external_code: text,
  source: text,
  date_time_start: instant,
  date_time_end: instant,
  date_created: instant,
  total_time: integer,
  total_distance: decimal,
  total_points: integer,
  total_capacity: integer,
  route_id: integer,
  vehicle_id: integer,
  vehicle: object({
    id: integer,
    title: text,
    plate: text,
    capacity: integer,
    device: object({ id: integer, serial: text }),
  }),
  user_id: integer,
  user: object({ id: integer, name: text, login: text }),
  route_points: list(routePointRecord),
});

export const routePlans = listEndpoint({
  name: 'route-plans',
  path: '/import/route_plan',
  query: withRules(
    z.strictObject({
      /** When the plan is expected to start and to end. */
      begin_date: moment.optional(),
      end_date: moment.optional(),
      user_id: recordId.optional(),
      vehicle_id: recordId.optional(),
      route_plan_code: word.optional(),
      route_plan_statuses: z.array(codeOf(ROUTE_PLAN_STATUSES)).optional(),
      includes: includesOf(['user_excluded', 'vehicle', 'vehicle.device', 'user']).optional(),
    }),
    periodRule('begin_date', 'end_date'),
  ),
  record: routePlanRecord,
});
