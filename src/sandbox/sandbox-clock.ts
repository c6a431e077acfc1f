// The simulated clock: real, accelerated, or stepped by the test. `wallNow` is the time that a client shares with the
// sandbox: the stepped clock itself, otherwise the clock of the machine.
import { type Clock, systemClock } from '../core/time/clock.ts';
import { createManualClock, type ManualClock } from '../core/time/manual-clock.ts';
import { storedOrigin } from './world/journal.ts';

export interface SandboxClock {
  readonly mode: 'real' | 'accelerated' | 'stepped';
  now(): number;
  wallNow(): number;
  /** Moves a stepped clock; undefined if time runs by itself. */
  advance?: (ms: number) => Promise<void>;
}

export interface ClockOptions {
  /** The clock of the sandbox. A clock with `advance` makes the sandbox stepped. Default: the system's. */
  clock?: Clock | ManualClock;
  /** Simulated seconds per real second. Default 1. */
  speed?: number;
  /** True: time stands still until `advance` or POST /_sandbox/clock. Default false. */
  stepped?: boolean;
  /** Where a stepped or accelerated clock begins, in epoch milliseconds. Default: now. */
  startAt?: number;
}

export function createSandboxClock(options: ClockOptions & { stateFile?: string }): SandboxClock {
  const { clock, speed = 1, stepped, startAt, stateFile } = options;
  if (stepped === true) return steppedClock(createManualClock(startAt ?? Date.now()));
  if (clock !== undefined && 'advance' in clock) return steppedClock(clock);
  const wallNow = (): number => (clock ?? systemClock).now();
  const isReal = clock !== undefined || (speed === 1 && startAt === undefined);
  if (isReal) return { mode: 'real', now: wallNow, wallNow };
  // The state file keeps the origin, so that a restart does not jump back.
  const { realAt, simulatedAt } = storedOrigin(stateFile, { realAt: wallNow(), simulatedAt: startAt ?? wallNow() });
  return { mode: 'accelerated', now: () => Math.floor(simulatedAt + (wallNow() - realAt) * speed), wallNow };
}

const steppedClock = (clock: ManualClock): SandboxClock => ({
  mode: 'stepped',
  now: () => clock.now(),
  wallNow: () => clock.now(),
  advance: (ms) => clock.advance(ms),
});
