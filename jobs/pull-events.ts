// Pulls events of every vehicle and category. Coverage is kept for each vehicle, so a new vehicle gets its history and no
// other vehicle is read again. When a vehicle reports again after a silence, the period of that silence is read again.
import { lookbackOption } from '../src/core/reach-limits.ts';
import { durationOption } from '../src/core/time/duration-option.ts';
import { events } from '../src/fleet/endpoints/events.ts';
import { pull } from '../src/sync/pull/define.ts';
import { windowOptions } from '../src/sync/pull/plan/window-slices.ts';
import {
  categoriesOption,
  eventCost,
  eventGroup,
  planEvents,
  splitEvents,
  splitRejectedEvents,
} from '../src/sync/pull/resources/events/plan.ts';
import { readEvents } from '../src/sync/pull/resources/events/read.ts';
import { event } from '../src/warehouse/tables/event.ts';

export default pull({
  meaning: 'Pulls the events of every vehicle.',
  schedule: '*/10 * * * *',
  options: windowOptions('6h').extend({
    daily_lookback: lookbackOption(
      '3d',
      'How far behind the end of the last reading the first run of each local day reads again (default 3d).',
    ),
    silence: durationOption(
      '24h',
      'If a vehicle sends events again after a gap longer than this, the gap is read again (default 24h).',
    ),
    categories: categoriesOption,
  }),
  into: [[events, event]],
  coverage: 'vehicle',
  group: eventGroup,
  plan: planEvents,
  read: readEvents,
  split: splitEvents,
  splitRejected: splitRejectedEvents,
  cost: eventCost,
  // One slice is fetched, with a call for each category, while the other is loaded.
  slicesAtOnce: 2,
});
