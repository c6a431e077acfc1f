// Agents of the ERP to the service: created where their tax number is not there yet, never changed.

import { after_confirmation, pushJob } from '../src/sync/push/job.ts';
import { agentKind } from '../src/sync/push/kinds/agents.ts';

export default pushJob({
  meaning: 'Pushes agents of the ERP to the service.',
  schedule: '*/15 * * * *',
  kind: agentKind,
  options: { after_confirmation },
});
