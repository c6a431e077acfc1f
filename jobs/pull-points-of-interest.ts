// Every point of interest, in one listing: a full refresh, so a point that is no longer listed is marked.
import { z } from 'zod';
import { pointsOfInterest } from '../src/fleet/endpoints/points-of-interest.ts';
import { pullJob } from '../src/sync/pull/define.ts';
import { listing } from '../src/sync/pull/presets/listing.ts';
import { pointOfInterest } from '../src/warehouse/tables/point-of-interest.ts';

export default pullJob({
  meaning: 'Pulls every point of interest of the account.',
  schedule: '40 */6 * * *',
  options: z.object({}),
  ...listing(pointsOfInterest, pointOfInterest, [
    { scope: 'all', request: { includes: ['point_of_interest_category'] } },
  ]),
});
