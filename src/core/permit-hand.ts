// What a process has in hand of a rate that it shares: permits, each good for a time, the calls it may have at once, and
// the pause that all keep. By the own monotonic clock.
import { type Grant, SHARED_RATE } from './shared-rate.ts';

interface Permit {
  fromMs: number;
  untilMs: number;
}

export interface PermitHand {
  /** Permits that were not used, lapsed ones included until they are dropped. */
  readonly count: number;
  /** Calls at once that the last draw confirmed. */
  readonly lanes: number;
  readonly pausedUntilMs: number;
  /** `askedMs` is when the draw was asked for. */
  take(grant: Grant, askedMs: number): void;
  /** Permits of before are worth nothing after it. */
  pause(untilMs: number): void;
  dropLapsed(): void;
  /** Uses one that is good now; false where there is none. */
  use(): boolean;
  /** When the next is good. */
  goodFromMs(): number;
  /** No call more may start before the next draw. */
  closeLanes(): void;
}

export function createPermitHand(nowMs: () => number): PermitHand {
  let permits: Permit[] = [];
  let lanes = 0;
  let pausedUntilMs = Number.NEGATIVE_INFINITY;

  function pause(untilMs: number): void {
    pausedUntilMs = Math.max(pausedUntilMs, untilMs);
    permits = [];
  }

  const goodFromMs = (): number =>
    permits[0] === undefined ? Number.POSITIVE_INFINITY : Math.max(permits[0].fromMs, pausedUntilMs);

  return {
    get count() {
      return permits.length;
    },
    get lanes() {
      return lanes;
    },
    get pausedUntilMs() {
      return pausedUntilMs;
    },
    take({ waitsMs, lanes: given, pausedMs }, askedMs) {
      const now = nowMs();
      lanes = given;
      // Where between question and answer it was given is not known: it is good from the answer on, and ends as if it
      // had been given with the question.
      const fresh = waitsMs.map((ms) => ({ fromMs: now + ms, untilMs: askedMs + ms + SHARED_RATE.permitMs }));
      permits = [...permits, ...fresh];
      if (pausedMs > 0) pause(now + pausedMs);
    },
    pause,
    dropLapsed() {
      const now = nowMs();
      permits = permits.filter(({ untilMs }) => untilMs > now);
    },
    use() {
      if (goodFromMs() > nowMs()) return false;
      permits.shift();
      return true;
    },
    goodFromMs,
    closeLanes() {
      lanes = 0;
    },
  };
}
