// Pulls everyone who drives or delivers: the listings of agents and of drivers are read and committed together. A person
// is marked as missing only if neither listing has them, so a move from one listing to the other marks nobody.
import { drivers } from '../src/fleet/endpoints/drivers.ts';
import { pull } from '../src/sync/pull/define.ts';
import { listing } from '../src/sync/pull/presets/listing.ts';
import { driver } from '../src/warehouse/tables/driver.ts';

const includes = ['department', 'cost_center', 'work_shift'];

export default pull({
  meaning: 'Pulls every agent and driver of the account.',
  schedule: '20 */6 * * *',
  ...listing(
    drivers,
    driver,
    ['agent_listing', 'driver_listing'],
    { is_deliveryman: true, includes },
    { is_deliveryman: false, includes },
  ),
});
