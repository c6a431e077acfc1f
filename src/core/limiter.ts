// One limiter for all calls to the service: so many at once, so many a minute, and a pause that holds all of
// them back. No sliding minute of the service ever sees more than `perMinute` of them arrive. By the monotonic clock:
// one that is set neither holds a call up nor lets one go early.
import type { Clock } from './clock.ts';
import { createWaitingLine } from './waiting-line.ts';

export interface Limits {
  /** Calls in flight at once. */
  concurrency: number;
  /** Arrivals in any sliding minute. */
  perMinute: number;
}

export interface LimiterOptions extends Limits {
  clock: Clock;
}

export interface Limiter {
  /** Runs `call` when there is room; higher `priority` goes first. */
  run<T>(call: () => Promise<T>, options?: { signal?: AbortSignal; priority?: number }): Promise<T>;
  /** Nothing starts for `ms` from now; a longer pause that is under way stays. */
  pause(ms: number): void;
  /** Other limits from now on; what has started counts on. */
  change(limits: Limits): void;
  /** Lets go of what it shares with other processes; nothing starts any more there. Idempotent. */
  close(): Promise<void>;
}

/**
 * Who goes first where calls wait: a login or renewal, which all others need; a push, which somebody waits for; what is
 * happening now; history.
 */
export const PRIORITY = { session: 1_000, push: 2, live: 1, history: 0 };

const MINUTE_MS = 60_000;
/** One call may take so much longer than another on its way, and arrive in the minute of later ones. */
export const UNDER_WAY_MS = 2_000;

interface Pace {
  /** Starts that may follow one another at once. */
  burst: number;
  /** Time that each start takes out of the pace. */
  spacingMs: number;
}

/** Burst plus a minute's steady starts together never exceed `perMinute`. */
export function paceOf(concurrency: number, perMinute: number): Pace {
  const burst = Math.max(1, Math.min(concurrency, Math.floor(perMinute / 20)));
  const steady = Math.max(1, perMinute - burst);
  return { burst, spacingMs: (MINUTE_MS + UNDER_WAY_MS) / steady };
}

export function createLimiter(options: LimiterOptions): Limiter {
  const { clock } = options;
  const waiting = createWaitingLine(clock.monotonic);
  let { concurrency } = options;
  let inFlight = 0;
  let pace = paceOf(concurrency, options.perMinute);
  /** When a start would find the pace fully rested (the "theoretical arrival time" of GCRA). */
  let restedAt = Number.NEGATIVE_INFINITY;
  let pausedUntilMs = Number.NEGATIVE_INFINITY;

  function admit(): void {
    while (waiting.length > 0 && inFlight < concurrency) {
      inFlight++;
      waiting.admitFirst();
    }
  }

  async function waitForTurn(signal: AbortSignal | undefined): Promise<void> {
    for (;;) {
      signal?.throwIfAborted();
      const now = clock.monotonic();
      const turnAt = Math.max(pausedUntilMs, restedAt - (pace.burst - 1) * pace.spacingMs);
      if (turnAt <= now) {
        restedAt = Math.max(restedAt, now) + pace.spacingMs;
        return;
      }
      // Looked at again after the wait: a pause may have been added meanwhile.
      await clock.sleep(Math.ceil(turnAt - now), signal);
    }
  }

  return {
    async run(call, { signal, priority = PRIORITY.live } = {}) {
      if (inFlight < concurrency) inFlight++;
      else await waiting.join(priority, signal);
      try {
        await waitForTurn(signal);
        return await call();
      } finally {
        inFlight--;
        admit();
      }
    },
    pause: (ms) => {
      pausedUntilMs = Math.max(pausedUntilMs, clock.monotonic() + ms);
    },
    change: (limits) => {
      concurrency = limits.concurrency;
      admit();
      pace = paceOf(limits.concurrency, limits.perMinute);
    },
    close: async () => undefined,
  };
}
