// A sample of test/prove/many-vehicles.ts: more vehicles than one address can hold.
import { describe, expect, it } from 'vitest';
import { MOST_URL_BYTES } from '../../../src/sync/pull/plan/chunks.ts';
import { isAsPlanned, simulateManyVehicles } from '../../support/pull/many-vehicles.ts';

describe('a large fleet', () => {
  it('is read by the planned calls, through addresses of bounded length', async () => {
    const { stages, longestAddress, outOfLine } = await simulateManyVehicles(1_200, 24);
    expect(stages.filter((stage) => !isAsPlanned(stage))).toEqual([]);
    expect(stages.map(({ planned, calls }) => [planned !== null, calls > 0])).toEqual([
      [true, true],
      [true, true],
      [false, false],
      [true, true],
      [true, true],
    ]);
    expect(stages.map(({ slices }) => slices)).toEqual([1, 1, 372, 4, 2]);
    // As full as allowed, so that the bound is reached and not only kept.
    expect(longestAddress).toBeLessThanOrEqual(MOST_URL_BYTES);
    expect(longestAddress).toBeGreaterThan(MOST_URL_BYTES * 0.8);
    expect(outOfLine).toBe(0);
  });
});
