// GET /import/route_plan without route_plan_id: searches the plans.
import { z } from 'zod';
import { ROUTE_PLAN_STATUSES } from '../../core/code-lists.ts';
import { withRules } from '../../core/field-rules.ts';
import { listEndpoint } from '../endpoint.ts';
import { codeOf, dateTime, includesOf, nonEmptyText, periodRule, recordId } from '../request-fields.ts';
import { list } from '../wire.ts';

export const routePlans = listEndpoint({
  name: 'route-plans',
  path: '/import/route_plan',
  query: withRules(
    z.strictObject({
      /** When the plan is expected to start and to end. */
      begin_date: dateTime.optional(),
      end_date: dateTime.optional(),
      user_id: recordId.optional(),
      vehicle_id: recordId.optional(),
      route_plan_code: nonEmptyText.optional(),
      route_plan_statuses: z.array(codeOf(ROUTE_PLAN_STATUSES)).optional(),
      includes: includesOf(['user_excluded', 'vehicle', 'vehicle.device', 'user']).optional(),
    }),
    periodRule('begin_date', 'end_date'),
  ),
  fields: { route_points: list(z.unknown()) },
});
