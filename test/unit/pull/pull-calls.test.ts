import { describe, expect, it } from 'vitest';
import { mapCalls } from '../../../src/sync/pull/calls.ts';
import { recordLimit } from '../../../src/sync/pull/plan/slice-limits.ts';

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);
const forever = () => new AbortController().signal;

describe('many calls of a slice', () => {
  it('return their results in order, with at most 32 in progress', async () => {
    let underWay = 0;
    let most = 0;
    const results = await mapCalls(numbers(100), forever(), () => async (n) => {
      most = Math.max(most, ++underWay);
      // The first calls end last.
      for (let turn = 0; turn < 100 - n; turn++) await Promise.resolve();
      underWay--;
      return n * 2;
    });
    expect(results).toEqual(numbers(100).map((n) => n * 2));
    expect(most).toBe(32);
  });

  it('end with the first failure: those in progress are aborted, no other is started', async () => {
    const begun: number[] = [];
    const aborted: number[] = [];
    const calls = mapCalls(numbers(50), forever(), (signal) => async (n) => {
      begun.push(n);
      if (n === 5) throw new Error('the fifth failed');
      await new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          aborted.push(n);
          reject(signal.reason);
        });
      });
    });
    await expect(calls).rejects.toThrow('the fifth failed');
    expect(begun).toEqual(numbers(32));
    expect(aborted.sort((a, b) => a - b)).toEqual(numbers(32).filter((n) => n !== 5));
  });

  it('end with the run', async () => {
    const run = new AbortController();
    const calls = mapCalls(numbers(3), run.signal, (signal) => async () => {
      await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    });
    run.abort(new Error('stopped'));
    await expect(calls).rejects.toThrow('stopped');
  });

  it('are none where there is nothing to ask for', async () => {
    expect(await mapCalls([], forever(), () => async () => 1)).toEqual([]);
  });
});

describe('the records of a slice', () => {
  it('are limited to what memory holds: a slice with more is cut, and fails only if it cannot be', () => {
    const [cuttable, smallest] = [recordLimit(() => true), recordLimit(() => false)];
    cuttable(50_000);
    expect(() => cuttable(1)).toThrow(expect.objectContaining({ code: 'too_many' }));
    const whole = recordLimit(() => true, 500_000);
    whole(500_000);
    expect(() => whole(1)).toThrow(expect.objectContaining({ code: 'too_many' }));
    smallest(500_000);
    expect(() => smallest(1)).toThrow(expect.objectContaining({ code: 'slice_too_large' }));
  });
});
