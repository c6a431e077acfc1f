// Tries again what may succeed later. The delay is a pure function with full jitter; the waiting is done on
// the injected clock. A pause that the other side asked for consumes no attempt; a deadline bounds the whole.
import pRetry from 'p-retry';
import { Retriable } from '../errors.ts';
import type { Clock } from '../time/clock.ts';

export interface RetryPolicy {
  /** Attempts in all, the first included. */
  attempts: number;
  /** Largest delay before the second attempt; doubles for each later one. */
  baseMs: number;
  /** No single delay is longer. */
  capMs: number;
  /** After this long no further attempt is made, whatever the failures were. */
  deadlineMs: number;
}

export const DEFAULT_RETRY: RetryPolicy = { attempts: 5, baseMs: 500, capMs: 30_000, deadlineMs: 900_000 };

/** Full jitter: anywhere between nothing and the exponential bound. `random` is in [0, 1). */
export function backoffMs(failures: number, policy: RetryPolicy, random: number): number {
  const bound = Math.min(policy.capMs, policy.baseMs * 2 ** (failures - 1));
  return Math.floor(bound * random);
}

export interface RetryContext {
  clock: Clock;
  random: () => number;
  policy?: RetryPolicy;
  signal?: AbortSignal;
  /** Told of each failure that will be tried again, before the wait. */
  onRetry?: (error: Retriable, delayMs: number) => void;
  /** Asked before each retry; false gives up at once (a spent retry budget). */
  mayRetry?: () => boolean;
}

export function retry<T>(attempt: () => Promise<T>, context: RetryContext): Promise<T> {
  const { clock, random, policy = DEFAULT_RETRY, signal, onRetry, mayRetry } = context;
  const giveUpAt = clock.monotonic() + policy.deadlineMs;
  const guarded = () => {
    signal?.throwIfAborted();
    return attempt();
  };
  // p-retry's own waiting is off: the wait happens in onFailedAttempt, on the injected clock. It is not given
  // the signal: it would put the abort in place of the outcome of an attempt that has ended. It is given one
  // retry more than the policy, since without any left it would not go on after a pause.
  return pRetry(guarded, {
    retries: policy.attempts,
    minTimeout: 0,
    maxTimeout: 0,
    shouldConsumeRetry: ({ error }) => !isPause(error),
    shouldRetry: ({ error, retriesLeft }) =>
      error instanceof Retriable && (isPause(error) || retriesLeft > 1),
    onFailedAttempt: async ({ error, retriesConsumed, retriesLeft }) => {
      if (!(error instanceof Retriable)) return;
      const pause = isPause(error);
      if (!pause && retriesLeft <= 1) return;
      if (!pause && mayRetry?.() === false) throw error;
      const delayMs = pause ? (error.pauseMs ?? 0) : backoffMs(retriesConsumed + 1, policy, random());
      if (clock.monotonic() + delayMs >= giveUpAt) throw error;
      onRetry?.(error, delayMs);
      await clock.sleep(delayMs, signal);
    },
  });
}

const isPause = (error: unknown): boolean => error instanceof Retriable && error.pauseMs !== undefined;
