// The state that a handler may read: the seed, the clock, the shapes and the journal of writes. Generated data is
// computed from these and never stored.

import { instantText } from '../http/shapes.ts';
import type { SandboxClock } from '../sandbox-clock.ts';
import type { SandboxSettings } from '../sandbox-options.ts';
import { createActivity } from './activity.ts';
import { createFleetRoster } from './fleet-roster.ts';
import type { Journal, WrittenKind } from './journal.ts';

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
