// A clock that stands still until a test advances it. Sleepers wake in order of time. Before the clock moves on, the code of
// each woken sleeper runs, so that a new sleep started there can end in the same advance.
export type ManualClock = ReturnType<typeof createManualClock>;

interface Sleeper {
  at: number;
  wake: () => void;
}

export function createManualClock(startAt: number) {
  // Sleepers use the elapsed time; the clock shows the elapsed time plus an offset.
  let nowMs = 0;
  let offsetMs = startAt;
  const waiting = new Set<Sleeper>();

  const nextUntil = (end: number): Sleeper | undefined => {
    let next: Sleeper | undefined;
    for (const sleeper of waiting) {
      if (sleeper.at <= end && (next === undefined || sleeper.at < next.at)) next = sleeper;
    }
    return next;
  };

  return {
    now: () => offsetMs + nowMs,
    monotonic: () => nowMs,
    /** Sets the clock forward or back, as an administrator does. Sleepers are not affected. */
    set(byMs: number): void {
      offsetMs += byMs;
    },
    sleepers: () => waiting.size,
    /** Time until the next sleeper wakes; undefined if there is none. */
    untilNext(): number | undefined {
      const next = nextUntil(Number.POSITIVE_INFINITY);
      return next === undefined ? undefined : Math.max(0, next.at - nowMs);
    },
    sleep(ms: number, signal?: AbortSignal): Promise<void> {
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
    /** Moves time forward by `ms` and wakes the sleepers due by then. */
    async advance(ms: number): Promise<void> {
      const end = nowMs + ms;
      await flushPromises();
      for (let next = nextUntil(end); next !== undefined; next = nextUntil(end)) {
        nowMs = Math.max(nowMs, next.at);
        waiting.delete(next);
        next.wake();
        await flushPromises();
      }
      nowMs = end;
    },
  };
}

/** Runs all code that waits for promises only, not for time or I/O. */
const flushPromises = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
