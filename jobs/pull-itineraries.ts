// Pulls itineraries by their expected start and end, past and future. Known itineraries outside the search period are
// read by id until they have ended.
import { DAY_MS } from '../src/core/time/durations.ts';
import { itineraries } from '../src/fleet/endpoints/itineraries.ts';
import { itinerary as itineraryById } from '../src/fleet/endpoints/itinerary.ts';
import { pull } from '../src/sync/pull/define.ts';
import { windowed } from '../src/sync/pull/presets/windowed.ts';
import { itineraryRequest, withObjects } from '../src/sync/pull/resources/itineraries.ts';
import { itinerary } from '../src/warehouse/tables/itinerary.ts';

export default pull({
  meaning: 'Pulls the itineraries of vehicles and drivers.',
  schedule: '*/15 * * * *',
  ...windowed(itineraries, itineraryById, itinerary, {
    at: 'date_time_start',
    request: itineraryRequest,
    lookback: '3d',
    ahead: '7d',
    // One search if possible: an itinerary lasts for days, and a cut through it may hide it from both searches.
    longestMs: 60 * DAY_MS,
    lasting: { until: 'date_time_end', beyondMs: 7 * DAY_MS },
    final: 'date_excluded',
    complete: withObjects,
  }),
});
