// A sample of test/prove/soak.ts, seconds long: the daemon lives through chaos, holds on to no file, loses nothing.
import { expect, it } from 'vitest';
import { soak } from '../support/soak.ts';

it('a daemon with chaos on keeps its files and its log small, and loses nothing', async () => {
  const report = await soak({ minutes: 0.05, schedule: '* * * * * *' });
  expect(report).toMatchObject({ twice: 0, lost: 0, exit: 0 });
  expect(report.runs).toBeGreaterThan(0);
  expect(report.faults).toBeGreaterThan(0);
  expect(report.samples).toBeGreaterThan(1);
  expect(report.files.most).toBeLessThan(60);
  expect(report.walMb).toBeLessThan(64);
});
