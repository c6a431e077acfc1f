// Every vehicle of the account, in one listing: a full refresh, so a vehicle that is no longer listed is marked.
import { z } from 'zod';
import { vehicles } from '../src/fleet/endpoints/vehicles.ts';
import { pullJob } from '../src/sync/pull/define.ts';
import { listing } from '../src/sync/pull/presets/listing.ts';
import { vehicle } from '../src/warehouse/tables/vehicle.ts';

export default pullJob({
  meaning: 'Pulls every vehicle of the account.',
  schedule: '0 */6 * * *',
  options: z.object({}),
  ...listing(vehicles, vehicle, [
    {
      scope: 'all',
      request: {
        visible: 2,
        includes: ['fleet', 'vehicle_model', 'fuel_category', 'vehicle_color', 'vehicle_category'],
      },
    },
  ]),
});
