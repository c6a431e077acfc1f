// Cost follows change, not history: the requests of a run, counted by the service itself.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadJobs } from '../../../src/app/app.ts';
import { periodAt } from '../../../src/schedule/due.ts';
import { nextTick } from '../../../src/schedule/ticks.ts';
import { makeRig, type Rig } from '../../support/pull/rig.ts';

const HOUR = 3_600_000;
const pulls = (await loadJobs()).filter(({ into }) => into !== undefined);
/** Allowed factor above or below the estimate, if the calls depend on the records. */
const TOLERANCE: Readonly<Record<string, number>> = {
  'pull-itineraries': 2,
  'pull-route-plans': 3,
  'pull-checklists': 3,
};
let rig: Rig;
let before: Record<string, number> = {};

beforeEach(async () => {
  rig = await makeRig({ startAt: '2026-03-10T12:00:00.000Z', sandbox: { vehicles: 30, churn: false } });
});
afterEach(() => rig.close());

/** Requests by call since the previous invocation. */
function newRequests(): Record<string, number> {
  const now = rig.sandbox.ledger().requests as Record<string, number>;
  const since = Object.entries(now).map(([call, count]) => [call, count - (before[call] ?? 0)] as const);
  before = { ...now };
  return Object.fromEntries(since.filter(([call, count]) => count > 0 && call !== 'login' && call !== 'renew'));
}

describe('the cost of a run', () => {
  it('of plans is one search for each day in range and one call for each plan that may still change', async () => {
    await rig.run('pull-route-plans', { since: '14d' });
    newRequests();
    await rig.clock.advance(5 * 60_000);
    const { records } = await rig.run('pull-route-plans', { since: '14d' });
    const completedBefore = new Date(rig.clock.now() - 48 * HOUR - 5 * 60_000).toISOString();
    const [{ open, all } = {}] = await rig.rows(
      `select sum(status not in ('C', 'I') or date_time_end >= '${completedBefore}') as open, count(*) as "all" from route_plan`,
    );
    const { 'route-plan': details, 'route-plans': searches, ...others } = newRequests();
    expect(others).toEqual({});
    expect(searches).toBe(11);
    expect(details).toBe(open);
    expect(Number(open)).toBeLessThan(Number(all) / 3);
    expect(records).toBeGreaterThan(0);
  });

  it('of plans with nothing new rewrites no row', async () => {
    await rig.run('pull-route-plans', { since: '5d' });
    const dump = () => rig.rows('select * from route_point union all select * from route_point order by id limit 50');
    const rows = await dump();
    const summary = await rig.run('pull-route-plans', { since: '5d' });
    expect(summary).toMatchObject({ inserted: 0, updated: 0, quarantined: 0 });
    expect(await dump()).toEqual(rows);
  });

  it('of events is one call for each category, for any number of periods', async () => {
    await rig.run('pull-events', { since: '3d' });
    newRequests();
    await rig.clock.advance(10 * 60_000);
    const { slices } = await rig.run('pull-events', { since: '3d' });
    expect(newRequests()).toEqual({ events: 24 });
    expect(slices).toBe(1);
  });

  it('of daily summaries is two calls for each trailing day', async () => {
    await rig.run('pull-daily-summaries', { since: '10d' });
    newRequests();
    await rig.clock.advance(HOUR);
    await rig.run('pull-daily-summaries', { since: '10d', lookback: '2d' });
    expect(newRequests()).toEqual({ 'daily-summary': 6 });
  });

  it('of an outage is a search for each of its days, whether or not the day was ahead when it began', async () => {
    await rig.run('pull-route-plans', { since: '2d' });
    await rig.clock.advance(6 * 24 * HOUR);
    await rig.run('pull-route-plans', { since: '2d' });
    const from = new Date(rig.clock.now() - 6 * 24 * HOUR).toISOString();
    const truth = await rig.truth('route_plans', { from, to: new Date(rig.clock.now()).toISOString() });
    const missing = `select id from route_plan where id in (${truth.map(({ id }) => id).join(',')})`;
    expect((await rig.rows(missing)).length).toBe(truth.length);
  });

  it('of a plan that was final when the daemon stopped includes one more read after it is complete', async () => {
    await rig.run('pull-route-plans', { since: '2d' });
    await rig.clock.advance(5 * 24 * HOUR);
    newRequests();
    await rig.run('pull-route-plans', { since: '2d', lookback: '8d' });
    const first = newRequests()['route-plan'] ?? 0;
    const [{ plans } = {}] = await rig.rows('select count(*) as plans from route_plan');
    expect(first).toBe(plans);
    await rig.run('pull-route-plans', { since: '2d', lookback: '8d' });
    expect(newRequests()['route-plan'] ?? 0).toBeLessThan(first);
  });

  it.each(pulls)('of $name is close to the estimate in its declaration', async (job) => {
    const { name } = job;
    const tolerance = TOLERANCE[name] ?? 1;
    const schedule = { cron: job.schedule, timezone: 'UTC' };
    const periodMs = periodAt(schedule, nextTick(schedule, rig.clock.now()) ?? 0);
    const options = job.options.parse({}) as Record<string, unknown>;
    // The first run does not count.
    const reach = 'since' in options ? { since: '8d' } : {};
    await rig.run('pull-vehicles');
    await rig.run('pull-drivers');
    await rig.run(name, reach);
    newRequests();
    await rig.clock.advance(periodMs);
    await rig.run(name, reach);
    const calls = Object.values(newRequests()).reduce((sum, count) => sum + count, 0);
    const estimate = job.cost?.(options, { vehicles: 30, periodMs }).calls ?? 1;
    expect(calls).toBeLessThanOrEqual(estimate * tolerance);
    expect(calls).toBeGreaterThanOrEqual(estimate / tolerance);
  });
});
