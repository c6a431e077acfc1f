// Everybody who drives or delivers: the listing of agents and that of drivers, read and committed as one. Only
// who is in neither has vanished, so a person who moves from one to the other is never marked.
import { z } from 'zod';
import { drivers } from '../src/fleet/endpoints/drivers.ts';
import { pullJob } from '../src/sync/pull/define.ts';
import { EVER } from '../src/warehouse/coverage.ts';
import { driver } from '../src/warehouse/tables/driver.ts';

const includes = ['department', 'cost_center', 'work_shift'];

export default pullJob({
  meaning: 'Pulls every agent and driver of the account.',
  schedule: '20 */6 * * *',
  options: z.object({}),
  tables: [driver],
  records: [{ table: driver, endpoint: drivers }],
  plan: () => [
    {
      scope: 'all',
      work: [
        { is_deliveryman: true, includes },
        { is_deliveryman: false, includes },
      ],
    },
  ],
  calls: ({ work }) => work.length,
  usualCalls: () => 2,
  async read({ scope, work }, source) {
    const listings = await Promise.all(work.map((request) => source.call(drivers, request)));
    return {
      loads: [{ table: driver, endpoint: drivers, records: listings.flat() }],
      fullRefresh: [{ table: driver, range: {} }],
      covers: [{ scopes: [scope], beginAt: EVER, endAt: source.readAt }],
    };
  },
});
