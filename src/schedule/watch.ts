// Polls the warehouse once a second for changes by other processes that affect the schedule: pause and run requests,
// released leases, dead lease holders. Also detects that the clock was set, so that every job decides again.

import { asRoadbookError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { Clock } from '../core/time/clock.ts';
import { createLoop } from '../core/time/loop.ts';
import type { JobControl } from '../warehouse/control/job-controls.ts';
import type { Scheduler } from './scheduler.ts';

export interface ControlWatchDependencies {
  clock: Clock;
  log: Log;
  scheduler: Pick<Scheduler, 'wake' | 'runNow'>;
  /** Pause and run requests, by job. */
  controls(): Promise<ReadonlyMap<string, JobControl>>;
  /** Frees the leases of dead processes; returns the leases freed since the last call. */
  freedLeases(): Promise<string[]>;
}

const POLL_MS = 1_000;
/** If the clock and the elapsed time differ by more than this, the clock was set. */
const CLOCK_JUMP_MS = 1_000;

export function createControlWatch({ clock, log, scheduler, controls, freedLeases }: ControlWatchDependencies) {
  let paused = new Set<string>();
  let isUnreachable = false;
  /** Clock time minus elapsed time. */
  const offset = (): number => clock.now() - clock.monotonic();
  let lastOffset = offset();

  async function runOnce(): Promise<void> {
    if (Math.abs(offset() - lastOffset) > CLOCK_JUMP_MS) {
      log.warn({ by_ms: Math.round(offset() - lastOffset) }, 'the clock was set');
      scheduler.wake();
    }
    lastOffset = offset();
    try {
      await applyControls();
      for (const job of await freedLeases()) scheduler.wake(job);
      isUnreachable = false;
    } catch (thrown) {
      if (!isUnreachable) log.warn({ err: asRoadbookError(thrown) }, 'job controls and leases cannot be read');
      isUnreachable = true;
    }
  }

  async function applyControls(): Promise<void> {
    const byJob = await controls();
    const now = new Set([...byJob].filter(([, control]) => control.paused).map(([job]) => job));
    for (const job of paused.symmetricDifference(now)) scheduler.wake(job);
    paused = now;
    for (const [job, { runRequestedAt }] of byJob) if (runRequestedAt !== null) scheduler.runNow(job);
  }

  return { runOnce, ...createLoop(clock, POLL_MS, runOnce) };
}
