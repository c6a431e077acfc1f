// What a vehicle did on a day, computed when asked for and remembered for a while: the route it drove and the
// events it raised. Holds everything that will have arrived one day; callers show what has arrived by now.
import { remember } from './bounded-cache.ts';
import { type DailyRoute, dailyRoute } from './daily-routes.ts';
import { eventsOfRun, type TrackedEvent } from './events.ts';
import type { FleetRoster } from './fleet-roster.ts';
import { type RouteRun, runRoute } from './route-run.ts';

export interface VehicleDay {
  run: RouteRun | undefined;
  isPlan: boolean;
  /** Computed when first asked for. */
  events(): readonly TrackedEvent[];
}

export type Activity = (index: number, day: number) => VehicleDay;

const REMEMBERED_DAYS = 2_000;
const AT_REST: VehicleDay = { run: undefined, isPlan: false, events: () => [] };

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
  const known = remember(REMEMBERED_DAYS, (key) => {
    const [index, day] = key.split(':').map(Number) as [number, number];
    const route = dailyRoute(seed, roster, index, day);
    return route === undefined ? AT_REST : driven(route, index, day);
  });
  return (index, day) => known(`${index}:${day}`);
}
