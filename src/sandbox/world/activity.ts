// The activity of a vehicle on a day: the route it drove and the events it raised. Computed on demand and cached. It
// includes facts that arrive later; callers filter by what has arrived.
import { memoize } from './bounded-cache.ts';
import { type DailyRoute, dailyRoute } from './daily-routes.ts';
import { eventsOfRun, type TrackedEvent } from './events.ts';
import type { FleetRoster } from './fleet-roster.ts';
import { type RouteRun, runRoute } from './route-run.ts';

export interface VehicleDay {
  run: RouteRun | undefined;
  isPlan: boolean;
  /** Computed on the first call. */
  events(): readonly TrackedEvent[];
}

export type Activity = (index: number, day: number) => VehicleDay;

const CACHED_DAYS = 2_000;
const NO_ACTIVITY: VehicleDay = { run: undefined, isPlan: false, events: () => [] };

export function createActivity(seed: number, roster: FleetRoster): Activity {
  const driven = (route: DailyRoute, index: number, day: number): VehicleDay => {
    const run = runRoute(route.draft);
    let events: TrackedEvent[] | undefined;
    return {
      run,
      isPlan: route.isPlan,
      events: () => {
        events ??= eventsOfRun(seed, index, day, run);
        return events;
      },
    };
  };
  const cached = memoize(CACHED_DAYS, (key) => {
    const [index, day] = key.split(':').map(Number) as [number, number];
    const route = dailyRoute(seed, roster, index, day);
    return route === undefined ? NO_ACTIVITY : driven(route, index, day);
  });
  return (index, day) => cached(`${index}:${day}`);
}
