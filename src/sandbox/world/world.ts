// The state that a handler may read: the seed, the clock, the shapes and the journal of writes. Generated data is
// computed from these and never stored.

import { memoize } from '../../core/memoize.ts';
import { instantText } from '../http/shapes.ts';
import type { SandboxClock } from '../sandbox-clock.ts';
import type { SandboxSettings } from '../sandbox-options.ts';
import { dailyRoute } from './daily-routes.ts';
import { eventsOfRun, type TrackedEvent } from './events.ts';
import { createFleetRoster, type FleetRoster } from './fleet-roster.ts';
import type { Journal, WrittenKind } from './journal.ts';
import { type RouteRun, runRoute } from './route-run.ts';

export type World = ReturnType<typeof createWorld>;

export function createWorld(settings: SandboxSettings, clock: SandboxClock, journal: Journal) {
  const { seed, vehicles, churn, shapes, bulkEvents, importVisibleAfterMs, createdVisibleAfterMs } = settings;
  const roster = createFleetRoster(seed, vehicles, churn);
  return {
    seed,
    /** The admin endpoint changes this object in place. */
    shapes,
    bulkEvents,
    importVisibleAfterMs,
    journal,
    roster,
    activity: createActivity(seed, roster),
    now: clock.now,
    /** False while lists do not show a created record yet. */
    isListed: (kind: WrittenKind, id: number): boolean =>
      (journal.createdAt(kind, id) ?? 0) + createdVisibleAfterMs <= clock.now(),
    /** Formats an instant by the current `dates` shape. */
    instant: (at: number): string => instantText(shapes, at),
  };
}

/**
 * The activity of a vehicle on a day: the route it drove and the events it raised. It includes facts that arrive later;
 * callers filter by what has arrived.
 */
interface VehicleDay {
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
