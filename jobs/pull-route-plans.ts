// Pulls route plans with their points, executions and items. Plans are searched by period, past and future. A final plan
// is not read again once `settle` has passed since its end; an open plan is read by id even outside the search period.
import { durationOption } from '../src/core/time/duration-option.ts';
import { pull } from '../src/sync/pull/define.ts';
import { aheadOption, windowOptions } from '../src/sync/pull/plan/window-slices.ts';
import {
  PLANS_SCOPE,
  planRoutePlans,
  routePlanCost,
  splitRoutePlans,
} from '../src/sync/pull/resources/route-plans/plan.ts';
import { readRoutePlans } from '../src/sync/pull/resources/route-plans/read.ts';
import { planTables } from '../src/sync/pull/resources/route-plans/records.ts';

export default pull({
  meaning: 'Pulls route plans with the execution of their points.',
  schedule: '*/5 * * * *',
  options: windowOptions('3d').extend({
    ahead: aheadOption('7d'),
    settle: durationOption('48h', 'How long after its end a final plan may still change (default 48h).'),
    longest: durationOption(
      '2d',
      'How long a plan may last at most and still be found by its start; days that were read with less need a backfill (default 2d).',
    ),
  }),
  into: planTables,
  coverage: 'account',
  group: () => PLANS_SCOPE,
  plan: planRoutePlans,
  read: readRoutePlans,
  split: splitRoutePlans,
  cost: routePlanCost,
});
