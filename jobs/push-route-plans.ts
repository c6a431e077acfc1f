// Route plans of the ERP to the service, exactly once in effect, with the answer brought back.
import { deadline, pushJob, unchangeable } from '../src/sync/push-job.ts';
import { routePlanKind } from '../src/sync/push-kinds/route-plans.ts';

export default pushJob({
  meaning: 'Pushes route plans of the ERP to the service.',
  schedule: '* * * * *',
  kind: routePlanKind,
  options: { ...unchangeable, deadline },
});
