// The machine's own clock. Every test that runs on the test clock holds that one to the same contract.
import { expect, it } from 'vitest';
import { systemClock } from '../../../src/core/time/clock.ts';

it('a sleep is never shorter than requested, although a timer may be', async () => {
  const sleeps = Array.from({ length: 200 }, async (_, index) => {
    await systemClock.sleep(index / 7);
    const began = systemClock.monotonic();
    await systemClock.sleep(5);
    return systemClock.monotonic() - began;
  });
  expect(Math.min(...(await Promise.all(sleeps)))).toBeGreaterThanOrEqual(5);
});
