// Points of interest of the ERP to the service: created, or changed where they are there already.
import { z } from 'zod';
import { pointOfInterestKind } from '../src/sync/push/kinds/points-of-interest.ts';
import { pushJob } from '../src/sync/push/push-job.ts';

export default pushJob({
  meaning: 'Pushes points of interest of the ERP to the service.',
  schedule: '*/15 * * * *',
  kind: pointOfInterestKind,
  options: {
    match: z
      .enum(['title', 'external_code'])
      .default('title')
      .describe(
        'What makes a point of the service the same: its title, or having been pushed from here (default title).',
      ),
  },
});
