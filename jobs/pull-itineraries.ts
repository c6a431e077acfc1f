// Itineraries by their expected start and end, behind and ahead of now. Known ones that the search no longer
// reaches are read by id until they have ended.
import { z } from 'zod';
import { durationOption } from '../src/core/duration-option.ts';
import { lookbackOption } from '../src/core/reach-limits.ts';
import { itineraries } from '../src/fleet/endpoints/itineraries.ts';
import { pullJob } from '../src/sync/pull/define.ts';
import {
  furtherItineraryCalls,
  planItineraries,
  splitItineraries,
  usualItineraryCalls,
} from '../src/sync/pull/resources/itineraries/plan.ts';
import { readItineraries } from '../src/sync/pull/resources/itineraries/read.ts';
import { driver } from '../src/warehouse/tables/driver.ts';
import { itinerary } from '../src/warehouse/tables/itinerary.ts';
import { vehicle } from '../src/warehouse/tables/vehicle.ts';

export default pullJob({
  meaning: 'Pulls the itineraries of vehicles and drivers.',
  schedule: '*/15 * * * *',
  options: z.object({
    since: durationOption('30d', 'How far back a first run reads (default 30d).'),
    lookback: lookbackOption('3d', 'How far behind the edge each run reads again (default 3d).'),
    ahead: durationOption('7d', 'How far into the future each run reads (default 7d).'),
  }),
  tables: [itinerary],
  records: [{ table: itinerary, endpoint: itineraries }],
  mentions: [
    { table: itinerary, column: 'vehicle_id', dimension: vehicle, job: 'pull-vehicles' },
    { table: itinerary, column: 'driver_id', dimension: driver, job: 'pull-drivers' },
  ],
  plan: planItineraries,
  furtherCalls: furtherItineraryCalls,
  read: readItineraries,
  split: splitItineraries,
  usualCalls: usualItineraryCalls,
});
