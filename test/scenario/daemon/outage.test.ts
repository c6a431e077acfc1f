// The service is down for ten minutes while the schedule goes on, on a clock that the test moves: real requests, a
// real warehouse, the scheduler of the daemon. The sandbox counts its requests.
import { expect, it, onTestFinished } from 'vitest';
import { loadJobs } from '../../../src/app/app.ts';
import { RETRY_BUDGET } from '../../../src/core/retry/retry-budget.ts';
import { createScheduler } from '../../../src/schedule/scheduler.ts';
import { runChain } from '../../../src/sync/job-chain.ts';
import { readTicks } from '../../../src/warehouse/control/runs.ts';
import { makeRig } from '../../support/pull/rig.ts';

const MINUTE = 60_000;
const PERIOD = 5 * MINUTE;
const START = '2026-03-10T12:00:30.000Z';
const OPTIONS: Record<string, Record<string, unknown>> = {
  'pull-vehicles': {},
  'pull-drivers': {},
  'pull-points-of-interest': {},
  'pull-events': { since: '1d', lookback: '30m', categories: [1, 2] },
};
const NAMES = Object.keys(OPTIONS);

it('a service that is down for ten minutes gets few requests, no storm at its return, and is caught up', async () => {
  const rig = await makeRig({ startAt: START, sandbox: { vehicles: 4, churn: false } });
  onTestFinished(() => rig.close());
  const { clock, sandbox, engine, dependencies } = rig;
  const jobs = await loadJobs();
  const find = (name: string) => {
    const job = jobs.find((each) => each.name === name);
    return job && { job, options: job.options.parse(OPTIONS[name]) as Record<string, unknown> };
  };
  let running = 0;
  const scheduler = createScheduler(
    NAMES.map((name) => ({ name, cron: '*/5 * * * *', timezone: 'UTC' })),
    {
      clock,
      log: dependencies.log,
      readTicks: (job) => readTicks(engine, job),
      async run(name, request, stops) {
        const found = find(name);
        if (found === undefined) throw new Error(`no job ${name}`);
        running++;
        await runChain({ ...found, ...request, ...stops }, { find, names: [] }, dependencies).finally(() => running--);
      },
    },
  );

  /** Lets time pass, but not while a run works without waiting for it; returns the requests of each minute. */
  async function pass(ms: number): Promise<number[]> {
    const asked = () => Object.values(sandbox.ledger().requests).reduce((sum, count) => sum + count, 0);
    const minutes: number[] = [];
    for (let minute = 0; minute < ms / MINUTE; minute++) {
      const before = asked();
      for (let second = 0; second < 60; second++) {
        await clock.advance(1_000);
        do await new Promise((resolve) => setImmediate(resolve));
        while (clock.sleepers() < NAMES.length || (running > 0 && clock.sleepers() === NAMES.length - running));
      }
      minutes.push(asked() - before);
    }
    return minutes;
  }

  scheduler.start();
  await pass(2 * PERIOD);
  const ordinary = Math.max(...(await pass(2 * PERIOD)));
  const awayAt = new Date(clock.now()).toISOString();
  sandbox.addFault({ call: '*', fault: 'refused' });
  const away = await pass(10 * MINUTE);
  sandbox.clearFaults();
  const backAt = new Date(clock.now()).toISOString();
  const back = await pass(2 * PERIOD);
  await scheduler.stop(0);

  const { reserve, perRequest } = RETRY_BUDGET;
  const during = await rig.rows(
    `select requests, retries from sync_run where started_at >= '${awayAt}' and started_at < '${backAt}'`,
  );
  for (const { requests, retries } of during)
    expect(Number(retries)).toBeLessThanOrEqual(reserve + perRequest * Number(requests));
  expect(away.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0);
  expect(Math.max(...back)).toBeLessThanOrEqual(ordinary * 2);
  const caughtUp = await rig.rows(
    `select job, min(started_at) as at from sync_run where status = 'ok' and started_at >= '${backAt}' group by job order by job`,
  );
  expect(caughtUp.map(({ job }) => job)).toEqual(NAMES.toSorted());
  // The events of the outage have been read: no vehicle has a gap there.
  const [read = {}] = await rig.rows(
    `select count(*) as n, max(begin_at) as begin_at, min(end_at) as end_at from sync_coverage where job = 'pull-events'`,
  );
  expect(Number(read.n)).toBeGreaterThan(0);
  expect(String(read.begin_at) < awayAt && String(read.end_at) > backAt).toBe(true);
});
