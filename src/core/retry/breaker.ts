// Stops calling a service that is down: after so many outages in a row, calls are refused at once for a
// cool-down, then one probe decides. While a probe is under way nobody else gets through.
import type { Clock } from '../time/clock.ts';

/** What an outcome says about the service; `unknown` (an abort, say) says nothing. */
export type Verdict = 'up' | 'down' | 'unknown';

export interface BreakerOptions {
  /** Outages in a row that open the breaker. */
  threshold: number;
  coolDownMs: number;
  clock: Clock;
  judge: (error: unknown) => Verdict;
}

export interface Breaker {
  /** Runs `call`, or throws what `refuse` makes of the time left in ms. */
  run<T>(call: () => Promise<T>, refuse: (leftMs: number) => Error): Promise<T>;
}

export function createBreaker({ threshold, coolDownMs, clock, judge }: BreakerOptions): Breaker {
  let outages = 0;
  let openedAt = 0;
  let probing = false;

  function settle(verdict: Verdict): void {
    if (verdict === 'up') outages = 0;
    if (verdict === 'down') {
      outages += 1;
      openedAt = clock.monotonic();
    }
  }

  return {
    async run(call, refuse) {
      const isOpen = outages >= threshold;
      const leftMs = openedAt + coolDownMs - clock.monotonic();
      if (isOpen && (leftMs > 0 || probing)) throw refuse(Math.max(0, leftMs));
      if (isOpen) probing = true;
      try {
        const result = await call();
        settle('up');
        return result;
      } catch (error) {
        settle(judge(error));
        throw error;
      } finally {
        if (isOpen) probing = false;
      }
    },
  };
}
