// Pulls every point of interest in one listing. This is a full refresh: a point that is no longer listed is marked as
// missing.
import { pointsOfInterest } from '../src/fleet/endpoints/points-of-interest.ts';
import { pull } from '../src/sync/pull/define.ts';
import { listing } from '../src/sync/pull/presets/listing.ts';
import { pointOfInterest } from '../src/warehouse/tables/point-of-interest.ts';

export default pull({
  meaning: 'Pulls every point of interest of the account.',
  schedule: '40 */6 * * *',
  ...listing(pointsOfInterest, pointOfInterest, ['point_of_interest_listing'], {
    includes: ['point_of_interest_category'],
  }),
});
