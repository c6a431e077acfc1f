// Looks once a second at what other processes do to the schedule through the warehouse: orders that were given,
// leases that were let go or whose holder died. And at the clock: where it was set, every wait is thought over.

import { asRoadbookError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { Clock } from '../core/time/clock.ts';
import { createLoop } from '../core/time/loop.ts';
import type { JobControl } from '../warehouse/control/job-controls.ts';
import type { Scheduler } from './scheduler.ts';

export interface WatchDependencies {
  clock: Clock;
  log: Log;
  scheduler: Pick<Scheduler, 'wake' | 'runNow'>;
  /** The orders, by job. */
  controls(): Promise<ReadonlyMap<string, JobControl>>;
  /** Frees the leases of the dead; gives those that were let go since the last time. */
  freedLeases(): Promise<string[]>;
}

export interface Watch {
  start(): void;
  /** One look; the loop makes one a second. */
  runOnce(): Promise<void>;
  stop(): Promise<void>;
}

const LOOK_MS = 1_000;
/** A clock that has moved by this much more or less than the time that passed was set. */
const SET_MS = 1_000;

export function createWatch({ clock, log, scheduler, controls, freedLeases }: WatchDependencies): Watch {
  let paused = new Set<string>();
  let isAway = false;
  /** What the clock shows beyond the time that has passed. */
  const offset = (): number => clock.now() - clock.monotonic();
  let setTo = offset();

  async function runOnce(): Promise<void> {
    if (Math.abs(offset() - setTo) > SET_MS) {
      log.warn({ by_ms: Math.round(offset() - setTo) }, 'the clock was set');
      scheduler.wake();
    }
    setTo = offset();
    try {
      await readOrders();
      for (const job of await freedLeases()) scheduler.wake(job);
      isAway = false;
    } catch (thrown) {
      if (!isAway) log.warn({ err: asRoadbookError(thrown) }, 'orders and leases cannot be read');
      isAway = true;
    }
  }

  async function readOrders(): Promise<void> {
    const orders = await controls();
    const now = new Set([...orders].filter(([, order]) => order.paused).map(([job]) => job));
    for (const job of paused.symmetricDifference(now)) scheduler.wake(job);
    paused = now;
    for (const [job, { runRequestedAt }] of orders) if (runRequestedAt !== null) scheduler.runNow(job);
  }

  return { runOnce, ...createLoop(clock, LOOK_MS, runOnce) };
}
