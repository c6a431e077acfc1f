// Route plans of the ERP to the service, exactly once in effect, with the answer brought back.

import { routePlanKind } from '../src/sync/push/kinds/route-plans.ts';
import { after_confirmation, check_before_send, deadline, pushJob } from '../src/sync/push/push-job.ts';

export default pushJob({
  meaning: 'Pushes route plans of the ERP to the service.',
  schedule: '* * * * *',
  kind: routePlanKind,
  options: { check_before_send, after_confirmation, deadline },
  // A search and a send for each plan.
  usualCalls: (_options, { vehicles, periodMs, plansADay = 1 }) =>
    (2 * vehicles * plansADay * periodMs) / 86_400_000,
});
