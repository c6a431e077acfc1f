// Agents of the ERP to the service: created where their tax number is not there yet, never changed.

import { pushJob } from '../src/sync/push/job.ts';
import { agentKind } from '../src/sync/push/kinds/agents.ts';
import { after_confirmation } from '../src/sync/push/options.ts';

export default pushJob({
  meaning: 'Pushes agents of the ERP to the service.',
  schedule: '*/15 * * * *',
  kind: agentKind,
  options: { after_confirmation },
});
