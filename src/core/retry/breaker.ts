// A circuit breaker: after `threshold` outages in a row, calls fail at once for a cool-down. Then one probe call decides;
// all other calls keep failing until the probe ends.
import type { Clock } from '../time/clock.ts';

/** What an outcome says about the service; `unknown`, for example an abort, says nothing. */
export type Reachability = 'up' | 'down' | 'unknown';

export interface BreakerOptions {
  /** Outages in a row that open the breaker. */
  threshold: number;
  coolDownMs: number;
  clock: Clock;
  judge: (error: unknown) => Reachability;
}

export function createBreaker({ threshold, coolDownMs, clock, judge }: BreakerOptions) {
  let outages = 0;
  let openedAt = 0;
  let probing = false;

  function record(reachability: Reachability): void {
    if (reachability === 'up') outages = 0;
    if (reachability === 'down') {
      outages += 1;
      openedAt = clock.monotonic();
    }
  }

  return {
    /** Runs `call`. While the breaker is open, throws `openError` of the remaining ms instead. */
    async run<T>(call: () => Promise<T>, openError: (leftMs: number) => Error): Promise<T> {
      const isOpen = outages >= threshold;
      const leftMs = openedAt + coolDownMs - clock.monotonic();
      if (isOpen && (leftMs > 0 || probing)) throw openError(Math.max(0, leftMs));
      if (isOpen) probing = true;
      try {
        const result = await call();
        record('up');
        return result;
      } catch (error) {
        record(judge(error));
        throw error;
      } finally {
        if (isOpen) probing = false;
      }
    },
  };
}
