// Pulls every vehicle of the account in one listing. This is a full refresh: a vehicle that is no longer listed is marked
// as missing.
import { vehicles } from '../src/fleet/endpoints/vehicles.ts';
import { pull } from '../src/sync/pull/define.ts';
import { listing } from '../src/sync/pull/presets/listing.ts';
import { vehicle } from '../src/warehouse/tables/vehicle.ts';

export default pull({
  meaning: 'Pulls every vehicle of the account.',
  schedule: '0 */6 * * *',
  ...listing(vehicles, vehicle, ['vehicle_listing'], {
    visible: 2,
    includes: ['fleet', 'vehicle_model', 'fuel_category', 'vehicle_color', 'vehicle_category'],
  }),
});
