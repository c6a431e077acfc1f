// Time as a dependency: everything that asks for the time or waits takes a Clock, so that a test can move it.

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds since some fixed instant; setting the clock of the machine does not change them. */
  monotonic(): number;
  /** Resolves after `ms`; rejects with the signal's reason when it aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Longest delay a Node timer holds; a longer sleep is taken in parts. */
const LONGEST_TIMER_MS = 2_147_483_647;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  async sleep(ms, signal) {
    const until = performance.now() + ms;
    // A timer may end a millisecond early: whoever then looks at what the wait was for would find it unfinished.
    for (let left = ms; left > 0; left = until - performance.now()) {
      await timer(Math.min(Math.ceil(left), LONGEST_TIMER_MS), signal);
    }
    signal?.throwIfAborted();
  },
};

function timer(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      clearTimeout(handle);
      reject(signal?.reason);
    };
    const handle = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** An instant as the warehouse writes it: UTC, milliseconds, `Z`. */
export const isoInstant = (ms: number): string => new Date(ms).toISOString();
