// Several processes that share one rate, made of limiters on one clock. What arrives is noted where it arrives: the
// way there takes now shorter, now longer.
import type { Clock } from '../../src/core/clock.ts';
import type { Limiter, Limits } from '../../src/core/limiter.ts';
import type { Log } from '../../src/core/log.ts';
import { createSharedLimiter } from '../../src/core/shared-limiter.ts';
import { drawFrom, newRate, type RateBook } from '../../src/core/shared-rate.ts';
import { seededRandom } from '../../src/sandbox/made-up/seeded-random.ts';

export interface Service {
  /** Instants of arrival. */
  arrivals: number[];
  mostInFlight(): number;
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
  let inFlight = 0;
  let most = 0;
  return {
    arrivals,
    mostInFlight: () => most,
    async call() {
      most = Math.max(most, ++inFlight);
      await clock.sleep(random.int(...wayMs));
      arrivals.push(clock.monotonic());
      await clock.sleep(answerMs);
      inFlight--;
    },
  };
}

/** A book in memory; a draw takes `rttMs`, half of it before the decision. */
export function memoryBook(clock: Clock, rttMs: number): RateBook & { isDown: boolean; draws: number } {
  let state = newRate;
  const book = {
    isDown: false,
    draws: 0,
    async draw(asked: Parameters<RateBook['draw']>[0]) {
      await clock.sleep(rttMs / 2);
      if (book.isDown) throw new Error('no database');
      book.draws++;
      const drawn = drawFrom(state, asked, clock.now());
      state = drawn.state;
      await clock.sleep(rttMs / 2);
      return drawn.grant;
    },
  };
  return book;
}

export const makeLimiter = (
  id: string,
  parts: { clock: Clock; log: Log; book: RateBook },
  limits: Limits,
): Limiter => createSharedLimiter({ ...parts, ...limits, id });

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
