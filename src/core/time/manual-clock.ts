// A clock that stands still until it is moved. Sleepers wake in the order of their instants, and what they
// do next is let run before the clock moves on, so that a sleep inside a sleep is met in the same advance.
import type { Clock } from './clock.ts';

export interface ManualClock extends Clock {
  /** Moves time forward by `ms`, waking whoever sleeps until then. */
  advance(ms: number): Promise<void>;
  /** Sets the clock forward or back, as an administrator does: nobody wakes earlier or later for it. */
  set(byMs: number): void;
  /** How many sleepers wait now. */
  sleepers(): number;
  /** Time until the next of them wakes; undefined where nobody sleeps. */
  untilNext(): number | undefined;
}

interface Sleeper {
  at: number;
  wake: () => void;
}

export function createManualClock(startAt: number): ManualClock {
  // Sleepers live on the time that has passed; what the clock shows is that and how it was set.
  let nowMs = 0;
  let shownMs = startAt;
  const waiting = new Set<Sleeper>();

  const nextUntil = (end: number): Sleeper | undefined => {
    let next: Sleeper | undefined;
    for (const sleeper of waiting) {
      if (sleeper.at <= end && (next === undefined || sleeper.at < next.at)) next = sleeper;
    }
    return next;
  };

  return {
    now: () => shownMs + nowMs,
    monotonic: () => nowMs,
    set(byMs) {
      shownMs += byMs;
    },
    sleepers: () => waiting.size,
    untilNext() {
      const next = nextUntil(Number.POSITIVE_INFINITY);
      return next === undefined ? undefined : Math.max(0, next.at - nowMs);
    },
    sleep(ms, signal) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const onAbort = () => {
          waiting.delete(sleeper);
          reject(signal?.reason);
        };
        const sleeper: Sleeper = {
          at: nowMs + Math.max(0, ms),
          wake: () => {
            signal?.removeEventListener('abort', onAbort);
            resolve();
          },
        };
        signal?.addEventListener('abort', onAbort, { once: true });
        waiting.add(sleeper);
      });
    },
    async advance(ms) {
      const end = nowMs + ms;
      await settle();
      for (let next = nextUntil(end); next !== undefined; next = nextUntil(end)) {
        nowMs = Math.max(nowMs, next.at);
        waiting.delete(next);
        next.wake();
        await settle();
      }
      nowMs = end;
    },
  };
}

/** Lets every promise that can go on without time or I/O do so. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
