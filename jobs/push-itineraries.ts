// Pushes itineraries of the ERP to the service. An itinerary is changed if the service has its external_id, else created.

import { pushJob } from '../src/sync/push/job.ts';
import { itineraryKind } from '../src/sync/push/kinds/itineraries.ts';

export default pushJob({
  meaning: 'Pushes itineraries of the ERP to the service.',
  schedule: '*/15 * * * *',
  kind: itineraryKind,
});
