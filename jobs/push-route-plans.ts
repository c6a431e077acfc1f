// Pushes route plans of the ERP to the service, exactly once in effect, and reports the outcome of each to the ERP.

import { pushJob } from '../src/sync/push/job.ts';
import { routePlanKind } from '../src/sync/push/kinds/route-plans.ts';
import { after_confirmation, deadline } from '../src/sync/push/options.ts';

export default pushJob({
  meaning: 'Pushes route plans of the ERP to the service.',
  schedule: '* * * * *',
  kind: routePlanKind,
  options: { after_confirmation, deadline },
  // One search and one send for each plan.
  cost: (_options, { vehicles, periodMs, plansADay = 1 }) => ({
    calls: (2 * vehicles * plansADay * periodMs) / 86_400_000,
  }),
});
