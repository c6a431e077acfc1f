// Samples of test/prove/soak.ts, seconds long: the daemon runs through chaos and loses nothing; round by round its runs
// leave nothing behind. A longer run measures how memory grows by the hour; this file tests that its figures distinguish
// a leak from the steps of an allocator.
import { expect, it } from 'vitest';
import { soak } from '../support/soak/soak.ts';
import { figuresOf } from '../support/soak/soak-figures.ts';
import { steadyRuns } from '../support/soak/steady-runs.ts';

it('a daemon with chaos on keeps its files and its log small, and loses nothing', { timeout: 400_000 }, async () => {
  const report = await soak({ minutes: 0.05, schedule: '* * * * * *' });
  expect(report).toMatchObject({ twice: 0, lost: 0, wrong: [], exit: 0 });
  expect(report.compared).toBeGreaterThan(50);
  expect(report.runs).toBeGreaterThan(0);
  expect(report.faults).toBeGreaterThan(0);
  expect(report.samples).toBeGreaterThan(1);
  expect(report.files.most).toBeLessThan(60);
  expect(report.walMb).toBeLessThan(64);
  expect(report.rss.late).toBeGreaterThan(30);
  expect(report.rss.most).toBeLessThan(700);
  expect(report.held.late).toBeGreaterThan(5);
  expect(report.held.most).toBeLessThan(500);
  expect(report.delayMs.mean).toBeGreaterThan(0);
  expect(report.delayMs.most).toBeLessThan(10_000);
});

it('runs leave nothing behind: no file, no socket, no timer, no memory', async () => {
  const ROUNDS = 5;
  const { rounds, runs, jobs, accepted, exit } = await steadyRuns(ROUNDS);
  expect({ runs, accepted, exit }).toEqual({ runs: { ok: (ROUNDS + 1) * jobs }, accepted: ROUNDS, exit: 0 });
  const [, early, ...later] = rounds;
  const late = later.at(-1);
  if (early === undefined || late === undefined) throw new Error('too few rounds');
  const runsBetween = later.length * jobs;
  // Less than one a round: a file may be open for a moment just then.
  expect(late.files - early.files).toBeLessThan(later.length);
  // Connection pools fill up as they are used.
  expect(late.warehouseFiles).toBeLessThan(16);
  expect(late.sockets - early.sockets).toBeLessThan(runsBetween / 2);
  expect(late.timers - early.timers).toBeLessThan(runsBetween / 2);
  // The page keeps some lines of each run's log.
  expect(late.mb - early.mb).toBeLessThan(5);
});

const MINUTES = 10;
/** Once a second; every two minutes a body of 60 MB leaves its memory allocated, three times; collection goes up and down. */
const samplesOf = (leakMbAnHour: number) =>
  Array.from({ length: MINUTES * 60 }, (_, second) => {
    const leak = (leakMbAnHour * second) / 3_600;
    return {
      at: second * 1_000,
      rss: 200 + 60 * Math.min(3, Math.floor(second / 120)) + (second % 3) + leak,
      held: 50 + (second % 30) + leak,
      files: 40,
      delayMean: 10,
      delayMax: 20,
    };
  });

it.for([0, 100])('ten minutes distinguish a leak of %d MB an hour from the memory of large bodies', (leak) => {
  const { rss, held } = figuresOf(samplesOf(leak));
  expect(Math.abs(rss.steady.least - leak)).toBeLessThan(15);
  expect(Math.abs(rss.steady.most - leak)).toBeLessThan(15);
  expect(Math.abs(held.slope - leak)).toBeLessThan(15);
});
