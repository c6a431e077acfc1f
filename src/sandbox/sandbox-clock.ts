// The simulated clock: real, accelerated, or stepped by the test. `wallNow` is the time that a client shares with the
// sandbox: the stepped clock itself, otherwise the clock of the machine.
import type { Clock } from '../core/time/clock.ts';
import { createManualClock, type ManualClock } from '../core/time/manual-clock.ts';

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

/** The start of accelerated time; kept in the state file so that a restart does not jump back. */
export interface ClockOrigin {
  realAt: number;
  simulatedAt: number;
}

export const isAccelerated = (options: ClockOptions): boolean =>
  options.clock === undefined &&
  options.stepped !== true &&
  ((options.speed ?? 1) !== 1 || options.startAt !== undefined);

export const newOrigin = (options: ClockOptions): ClockOrigin => ({
  realAt: Date.now(),
  simulatedAt: options.startAt ?? Date.now(),
});

export function createSandboxClock(options: ClockOptions, origin: ClockOrigin | undefined): SandboxClock {
  if (options.stepped === true) return steppedClock(createManualClock(options.startAt ?? Date.now()));
  const { clock } = options;
  if (clock !== undefined && 'advance' in clock) return steppedClock(clock);
  if (clock !== undefined) return { mode: 'real', now: () => clock.now(), wallNow: () => clock.now() };
  if (origin === undefined) return { mode: 'real', now: () => Date.now(), wallNow: () => Date.now() };
  const speed = options.speed ?? 1;
  return {
    mode: 'accelerated',
    now: () => Math.floor(origin.simulatedAt + (Date.now() - origin.realAt) * speed),
    wallNow: () => Date.now(),
  };
}

const steppedClock = (clock: ManualClock): SandboxClock => ({
  mode: 'stepped',
  now: () => clock.now(),
  wallNow: () => clock.now(),
  advance: (ms) => clock.advance(ms),
});
