// A sample of test/prove/daemons.ts: three real daemons on one warehouse, killed and stopped in the middle of runs.
// No stop is as long as a lease: test/conformance/engines/leases.test.ts tests the holder that comes back too late, on each engine.
import { expect, it } from 'vitest';
import { hitDaemons } from '../support/daemons/daemons.ts';

it('three daemons on one warehouse run each tick once, whichever is killed', {
  timeout: 240_000,
}, async () => {
  const report = await hitDaemons({
    seed: 7,
    ticks: 18,
    cutOff: 3,
    schedule: '*/2 * * * * *',
    latencyMs: 700,
    restMs: [500, 1_500],
    stopMs: [[1_000, 3_000]],
  });
  expect(report).toMatchObject({
    doubled: 0,
    overlapping: 0,
    lateWrites: 0,
    leftRunning: 0,
    exits: [0, 0, 0],
  });
  expect(report.longestTakeover).toBeLessThan(35_000);
});
