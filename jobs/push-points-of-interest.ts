// Points of interest of the ERP to the service: created, or changed where they are there already.

import { pushJob } from '../src/sync/push/job.ts';
import { pointOfInterestKind } from '../src/sync/push/kinds/points-of-interest.ts';

export default pushJob({
  meaning: 'Pushes points of interest of the ERP to the service.',
  schedule: '*/15 * * * *',
  kind: pointOfInterestKind,
});
