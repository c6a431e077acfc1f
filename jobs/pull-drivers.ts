// Everybody who drives or delivers: the listing of agents and that of drivers, read and committed as one. Only
// who is in neither has vanished, so a person who moves from one to the other is never marked.
import { drivers } from '../src/fleet/endpoints/drivers.ts';
import { pull } from '../src/sync/pull/define.ts';
import { listing } from '../src/sync/pull/presets/listing.ts';
import { driver } from '../src/warehouse/tables/driver.ts';

const includes = ['department', 'cost_center', 'work_shift'];

export default pull({
  meaning: 'Pulls every agent and driver of the account.',
  schedule: '20 */6 * * *',
  ...listing(drivers, driver, { is_deliveryman: true, includes }, { is_deliveryman: false, includes }),
});
