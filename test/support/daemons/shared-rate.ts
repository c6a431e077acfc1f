// Several processes that share one rate, made of limiters on one clock. Requests are recorded on arrival: the way
// to the service takes now shorter, now longer.

import { newRate, type PermitSource, takePermits } from '../../../src/core/rate/rate.ts';
import type { Clock } from '../../../src/core/time/clock.ts';
import { seededRandom } from '../../../src/sandbox/made-up/seeded-random.ts';

export interface Service {
  /** Instants of arrival. */
  arrivals: number[];
  call(): Promise<void>;
}

export interface ServiceOptions {
  /** Time to the service, from and to, ms. */
  wayMs: readonly [number, number];
  answerMs: number;
}

export function makeService(clock: Clock, { wayMs, answerMs }: ServiceOptions): Service {
  const random = seededRandom('ways', 1);
  const arrivals: number[] = [];
  return {
    arrivals,
    async call() {
      await clock.sleep(random.int(...wayMs));
      arrivals.push(clock.monotonic());
      await clock.sleep(answerMs);
    },
  };
}

export interface MemoryRate {
  isDown: boolean;
  asks: number;
  /** The way of a process to the rate: an ask takes `rttMs`, half of it before the decision. */
  permits(rttMs: () => number): PermitSource;
}

export function memoryRate(clock: Clock): MemoryRate {
  let state = newRate;
  const rate: MemoryRate = {
    isDown: false,
    asks: 0,
    permits: (rttMs) => ({
      async take(asked) {
        const wayMs = rttMs() / 2;
        await clock.sleep(wayMs);
        if (rate.isDown) throw new Error('no database');
        rate.asks++;
        const taken = takePermits(state, asked, clock.now());
        state = taken.state;
        await clock.sleep(wayMs);
        return taken.grant;
      },
    }),
  };
  return rate;
}

/** The most arrivals within any span of that length, and the fewest within one that lies between the two instants. */
export function windows(
  arrivals: readonly number[],
  spanMs: number,
  { from, to }: { from: number; to: number },
): { most: number; fewest: number } {
  const sorted = arrivals.toSorted((a, b) => a - b);
  const within = (start: number) => sorted.filter((at) => at >= start && at < start + spanMs).length;
  const most = Math.max(0, ...sorted.map(within));
  const starts = [from, ...sorted.map((at) => at + 0.001)].filter((at) => at >= from && at + spanMs <= to);
  return { most, fewest: Math.min(...starts.map(within)) };
}
