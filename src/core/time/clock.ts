// Time as a dependency: all code that reads the time or waits takes a Clock, so that a test can control it.
import { setTimeout as timer } from 'node:timers/promises';

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds since an arbitrary instant; not affected when the machine's clock is set. */
  monotonic(): number;
  /** Resolves after `ms`; rejects with the signal's reason if it aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Longest delay of a Node timer; a longer sleep uses several timers. */
const LONGEST_TIMER_MS = 2_147_483_647;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  async sleep(ms, signal) {
    const until = performance.now() + ms;
    // A timer may fire a millisecond early; the caller would then wake before its deadline.
    for (let left = ms; left > 0; left = until - performance.now()) {
      const ms = Math.min(Math.ceil(left), LONGEST_TIMER_MS);
      await timer(ms, undefined, { signal }).catch(() => signal?.throwIfAborted());
    }
    signal?.throwIfAborted();
  },
};

/** The result of `work`; undefined if it takes longer than `ms`. The work itself goes on. */
export async function within<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T | undefined> {
  const done = new AbortController();
  const late = clock.sleep(ms, done.signal).catch(() => undefined);
  try {
    return (await Promise.race([work, late])) as T | undefined;
  } finally {
    done.abort();
  }
}

/** An instant as the warehouse stores it: UTC, milliseconds, `Z`. */
export const isoInstant = (ms: number): string => new Date(ms).toISOString();

/** The latest of some ISO instants, of which any may be unknown; null if there is none. */
export const latestInstant = (instants: readonly (string | null)[]): string | null =>
  instants
    .filter((instant) => instant !== null)
    .toSorted()
    .at(-1) ?? null;
