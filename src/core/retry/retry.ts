// Retries calls that may succeed later. The delay is a pure function with full jitter; waits use the injected clock. A
// pause that the server asked for consumes no attempt; a deadline bounds all attempts and waits together.
import pRetry from 'p-retry';
import { Retriable } from '../errors.ts';
import type { Clock } from '../time/clock.ts';

export interface RetryPolicy {
  /** Number of attempts, including the first. */
  attempts: number;
  /** Largest delay before the second attempt; doubles for each later one. */
  baseMs: number;
  /** No single delay is longer. */
  capMs: number;
  /** No attempt starts after this time, whatever the failures were. */
  deadlineMs: number;
}

export const DEFAULT_RETRY: RetryPolicy = { attempts: 5, baseMs: 500, capMs: 30_000, deadlineMs: 900_000 };

/** Full jitter: between zero and the exponential bound. `random` is in [0, 1). */
export function backoffMs(failures: number, policy: RetryPolicy, random: number): number {
  const bound = Math.min(policy.capMs, policy.baseMs * 2 ** (failures - 1));
  return Math.floor(bound * random);
}

export interface RetryContext {
  clock: Clock;
  random: () => number;
  policy?: RetryPolicy;
  signal?: AbortSignal;
  /** Called for each failure that is retried, before the wait. */
  onRetry?: (error: Retriable, delayMs: number) => void;
  /** Called before each retry; false stops retrying (the retry budget is spent). */
  mayRetry?: () => boolean;
}

export function retry<T>(attempt: () => Promise<T>, context: RetryContext): Promise<T> {
  const { clock, random, policy = DEFAULT_RETRY, signal, onRetry, mayRetry } = context;
  const giveUpAt = clock.monotonic() + policy.deadlineMs;
  const abortable = () => {
    signal?.throwIfAborted();
    return attempt();
  };
  // p-retry's own wait is off: onFailedAttempt waits, on the injected clock. p-retry does not get the signal, because an
  // abort would replace the outcome of an attempt that has already ended. It gets one retry more than the policy, because
  // with none left it would stop after a pause.
  return pRetry(abortable, {
    retries: policy.attempts,
    minTimeout: 0,
    maxTimeout: 0,
    shouldConsumeRetry: ({ error }) => !isPause(error),
    shouldRetry: ({ error, retriesLeft }) => error instanceof Retriable && (isPause(error) || retriesLeft > 1),
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
