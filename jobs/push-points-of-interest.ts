// Pushes points of interest of the ERP to the service. A point is changed if the service has its title, else created.

import { pushJob } from '../src/sync/push/job.ts';
import { pointOfInterestKind } from '../src/sync/push/kinds/points-of-interest.ts';

export default pushJob({
  meaning: 'Pushes points of interest of the ERP to the service.',
  schedule: '*/15 * * * *',
  kind: pointOfInterestKind,
});
