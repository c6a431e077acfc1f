// Pushes agents of the ERP to the service. An agent is created if the service does not have its tax number; an existing
// agent is never changed.

import { pushJob } from '../src/sync/push/job.ts';
import { agentKind } from '../src/sync/push/kinds/agents.ts';
import { after_confirmation } from '../src/sync/push/options.ts';

export default pushJob({
  meaning: 'Pushes agents of the ERP to the service.',
  schedule: '*/15 * * * *',
  kind: agentKind,
  options: { after_confirmation },
});
