// The state that a handler may read: the seed, the clock, the shapes and the journal of writes. Generated data is
// computed from these and never stored.

import type { Shapes, WriteInstant } from '../http/shapes.ts';
import { instantWriter } from '../http/shapes.ts';
import type { SandboxClock } from '../sandbox-clock.ts';
import { type Activity, createActivity } from './activity.ts';
import { createFleetRoster, type FleetRoster } from './fleet-roster.ts';
import type { Journal, WrittenKind } from './journal.ts';

export interface BulkEvents {
  /** Events of a vehicle per UTC day, spread evenly over the day and the 24 categories. At most 99,999. */
  perVehiclePerDay: number;
}

export interface WorldOptions {
  seed: number;
  vehicles: number;
  churn: boolean;
  importVisibleAfterMs: number;
  createdVisibleAfterMs: number;
  bulkEvents?: BulkEvents;
}

export interface World extends WorldOptions {
  readonly roster: FleetRoster;
  readonly activity: Activity;
  readonly journal: Journal;
  /** The admin endpoint changes this object in place. */
  readonly shapes: Shapes;
  now(): number;
  /** False while lists do not show a created record yet. */
  isListed(kind: WrittenKind, id: number): boolean;
  /** Formats an instant by the current `dates` shape. */
  readonly instant: WriteInstant;
}

export function createWorld(
  { seed, vehicles, churn, importVisibleAfterMs, createdVisibleAfterMs, bulkEvents }: WorldOptions,
  clock: SandboxClock,
  journal: Journal,
  shapes: Shapes,
): World {
  const roster = createFleetRoster(seed, vehicles, churn);
  return {
    seed,
    vehicles,
    churn,
    importVisibleAfterMs,
    createdVisibleAfterMs,
    bulkEvents,
    journal,
    shapes,
    roster,
    activity: createActivity(seed, roster),
    now: () => clock.now(),
    isListed: (kind, id) => (journal.createdAt(kind, id) ?? 0) + createdVisibleAfterMs <= clock.now(),
    instant: (at) => instantWriter(shapes)(at),
  };
}
