// The activity of a vehicle on a day: the route it drove and the events it raised. Computed on demand and cached. It
// includes facts that arrive later; callers filter by what has arrived.
import { memoize } from './bounded-cache.ts';
import { dailyRoute } from './daily-routes.ts';
import { eventsOfRun, type TrackedEvent } from './events.ts';
import type { FleetRoster } from './fleet-roster.ts';
import { type RouteRun, runRoute } from './route-run.ts';

export interface VehicleDay {
  run: RouteRun | undefined;
  isPlan: boolean;
  /** Computed on the first call. */
  events(): readonly TrackedEvent[];
}

const CACHED_DAYS = 2_000;
const NO_ACTIVITY: VehicleDay = { run: undefined, isPlan: false, events: () => [] };

export const createActivity = (seed: number, roster: FleetRoster) =>
  memoize(CACHED_DAYS, (index: number, day: number): VehicleDay => {
    const route = dailyRoute(seed, roster, index, day);
    if (route === undefined) return NO_ACTIVITY;
    const run = runRoute(route.draft);
    return { run, isPlan: route.isPlan, events: memoize(1, () => eventsOfRun(seed, index, day, run)) };
  });
