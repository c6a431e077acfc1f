// Itineraries of the ERP to the service: created, or changed where their external_id is there already.

import { pushJob } from '../src/sync/push/job.ts';
import { itineraryKind } from '../src/sync/push/kinds/itineraries.ts';

export default pushJob({
  meaning: 'Pushes itineraries of the ERP to the service.',
  schedule: '*/15 * * * *',
  kind: itineraryKind,
});
