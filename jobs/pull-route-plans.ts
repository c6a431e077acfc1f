// Route plans with their points, executions and items. Searched by period, behind and ahead of now; a plan that is
// final and settled is not asked for again, one that is open is watched wherever it lies.
import { z } from 'zod';
import { durationOption } from '../src/core/duration-option.ts';
import { lookbackOption } from '../src/core/reach-limits.ts';
import { pullJob } from '../src/sync/pull/define.ts';
import {
  furtherRoutePlanCalls,
  PLANS_SCOPE,
  planRoutePlans,
  plansDueAgain,
  routePlanCalls,
  splitRoutePlans,
  usualRoutePlanCalls,
  usualRoutePlanReadings,
} from '../src/sync/pull/resources/route-plans/plan.ts';
import { readRoutePlans } from '../src/sync/pull/resources/route-plans/read.ts';
import { planLoads } from '../src/sync/pull/resources/route-plans/records.ts';
import { routePlan } from '../src/warehouse/tables/route-plan.ts';
import { routePoint } from '../src/warehouse/tables/route-point.ts';
import { routePointExecution } from '../src/warehouse/tables/route-point-execution.ts';
import { routePointItem } from '../src/warehouse/tables/route-point-item.ts';
import { statusChange } from '../src/warehouse/tables/status-change.ts';
import { vehicle } from '../src/warehouse/tables/vehicle.ts';

export default pullJob({
  meaning: 'Pulls route plans with the execution of their points.',
  schedule: '*/5 * * * *',
  options: z.object({
    since: durationOption('30d', 'How far back a first run reads (default 30d).'),
    lookback: lookbackOption('3d', 'How far behind now each run searches again (default 3d).'),
    ahead: durationOption('7d', 'How far into the future each run searches (default 7d).'),
    settle: durationOption('48h', 'How long after its end a final plan may still change (default 48h).'),
    longest: durationOption(
      '2d',
      'How long a plan may last at most and still be found by its start (default 2d).',
    ),
  }),
  tables: [routePlan, routePoint, routePointExecution, routePointItem, statusChange],
  records: planLoads([]),
  mentions: [{ table: routePlan, column: 'vehicle_id', dimension: vehicle, job: 'pull-vehicles' }],
  trackedScopes: () => PLANS_SCOPE,
  plan: planRoutePlans,
  calls: routePlanCalls,
  furtherCalls: furtherRoutePlanCalls,
  read: readRoutePlans,
  split: splitRoutePlans,
  dueAgain: plansDueAgain,
  usualCalls: usualRoutePlanCalls,
  usualReadings: usualRoutePlanReadings,
});
