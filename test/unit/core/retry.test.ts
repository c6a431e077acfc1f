import { describe, expect, it } from 'vitest';
import { Fatal, Retriable } from '../../../src/core/errors.ts';
import { backoffMs, type RetryContext, type RetryPolicy, retry } from '../../../src/core/retry/retry.ts';
import { createManualClock } from '../../../src/core/time/manual-clock.ts';

const policy: RetryPolicy = { attempts: 4, baseMs: 1_000, capMs: 3_000, deadlineMs: 600_000 };
const busy = (pauseMs?: number) => new Retriable('busy', { code: 'busy', pauseMs });

/** Fails with each of `failures` in turn, then returns the number of the attempt. */
function failing(failures: Error[], context: Partial<RetryContext> = {}) {
  const seen: number[] = [];
  const clock = createManualClock(0);
  const waits: number[] = [];
  const left = [...failures];
  const result = retry(
    async () => {
      seen.push(clock.now());
      const failure = left.shift();
      if (failure !== undefined) throw failure;
      return seen.length;
    },
    { clock, random: () => 0.5, policy, onRetry: (_error, delayMs) => waits.push(delayMs), ...context },
  );
  result.catch(() => undefined);
  return { clock, result, seen, waits };
}

describe('backoff', () => {
  it('doubles up to the cap and spreads over the whole range', () => {
    expect([1, 2, 3, 4].map((failures) => backoffMs(failures, policy, 0.999_999))).toEqual([999, 1_999, 2_999, 2_999]);
    expect(backoffMs(3, policy, 0)).toBe(0);
  });
});

describe('retry', () => {
  it('repeats a call after a retriable failure, on the injected clock', async () => {
    const { clock, result, seen, waits } = failing([busy(), busy()]);
    await clock.advance(10_000);
    expect(await result).toBe(3);
    expect(waits).toEqual([500, 1_000]);
    expect(seen).toEqual([0, 500, 1_500]);
  });

  it('stops when the attempts are used up, with the last failure', async () => {
    const { clock, result, seen, waits } = failing([busy(), busy(), busy(), busy(), busy()]);
    await clock.advance(60_000);
    await expect(result).rejects.toThrow('busy');
    expect(seen).toHaveLength(4);
    expect(waits, 'nothing is waited for after the last').toHaveLength(3);
  });

  it('makes five attempts by default', async () => {
    const { clock, result, seen } = failing(Array.from({ length: 9 }, busy), { policy: undefined });
    await clock.advance(60_000);
    await expect(result).rejects.toThrow('busy');
    expect(seen).toHaveLength(5);
  });

  it('stops at once where the budget is spent; a requested pause does not use the budget', async () => {
    const budget = [true, false];
    const { clock, result, seen } = failing([busy(), busy(5_000), busy(), busy()], {
      mayRetry: () => budget.shift() ?? false,
    });
    await clock.advance(60_000);
    await expect(result).rejects.toThrow('busy');
    expect(seen).toEqual([0, 500, 5_500]);
  });

  it('does not repeat a call that cannot succeed', async () => {
    const { result, seen } = failing([new Fatal('no', { code: 'no' })]);
    await expect(result).rejects.toThrow('no');
    expect(seen).toHaveLength(1);
  });

  it('uses no attempt for a requested pause', async () => {
    const { clock, result, seen } = failing([busy(5_000), busy(5_000), busy(5_000), busy(5_000), busy(5_000), busy()]);
    await clock.advance(60_000);
    expect(await result).toBe(7);
    expect(seen.slice(0, 6)).toEqual([0, 5_000, 10_000, 15_000, 20_000, 25_000]);
  });

  it('stops at the deadline although pauses use no attempt', async () => {
    const { clock, result, seen } = failing(Array.from({ length: 100 }, () => busy(60_000)));
    await clock.advance(6_000_000);
    await expect(result).rejects.toThrow('busy');
    expect(seen).toHaveLength(10);
  });

  it.each([
    ['back', -86_400_000],
    ['ahead', 86_400_000],
  ])('keeps the deadline while the clock is set %s', async (_way, byMs) => {
    const { clock, result, seen } = failing(Array.from({ length: 100 }, () => busy(60_000)));
    await clock.advance(90_000);
    clock.set(byMs);
    await clock.advance(6_000_000);
    await expect(result).rejects.toThrow('busy');
    expect(seen).toHaveLength(10);
  });

  it('ends the wait when the signal aborts', async () => {
    const stop = new AbortController();
    const clock = createManualClock(0);
    const result = retry(() => Promise.reject(busy(60_000)), {
      clock,
      random: Math.random,
      policy,
      signal: stop.signal,
    });
    result.catch(() => undefined);
    await clock.advance(1);
    stop.abort(new Error('stopping'));
    await expect(result).rejects.toThrow('stopping');
  });
});
