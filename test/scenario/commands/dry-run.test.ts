// A dry run is compared with the run that follows it: the calls are those it counted, or those and the ones it named.
import { describe, expect, it } from 'vitest';
import { makeWorkplace } from '../../support/process/workplace.ts';
import { addRecords, openRig } from '../../support/pull/pull-setup.ts';

const START = '2026-03-10T15:00:00.000Z';

/** The calls that can be counted, and whether there may be more. */
const countable = (steps: readonly { calls?: number; further?: string }[]) => ({
  calls: steps.reduce((sum, { calls = 0 }) => sum + calls, 0),
  more: steps.some(({ further }) => further !== undefined),
});

describe('a dry run', () => {
  it.each([
    ['pull-vehicles', {}],
    ['pull-drivers', {}],
    ['pull-points-of-interest', {}],
    ['pull-events', { since: '1d', categories: [1, 2] }],
    ['pull-daily-summaries', { since: '1d' }],
  ])('of %s counts every call of the run, also for a large fleet', async (job, options) => {
    const rig = await openRig(START, { vehicles: 3, churn: false });
    const many = Array.from({ length: 1_200 }, (_, index) => ({ id: 9_000_000 + index, plate: `Q${index}` }));
    await addRecords(rig, 'vehicles', many);
    for (const need of ['pull-vehicles', 'pull-drivers']) await rig.run(need);
    const { calls, more } = countable(await rig.preview(job, options));
    const { requests } = await rig.run(job, options);
    expect({ calls, more }).toEqual({ calls: requests, more: false });
  });

  it.each([
    ['pull-route-plans', /plan of the search/],
    ['pull-itineraries', /known itinerary/],
    ['pull-checklists', /checklist to open.*new picture/],
  ])('of %s says which calls it cannot count', async (job, words) => {
    const rig = await openRig(START, { vehicles: 3, churn: false });
    const steps = await rig.preview(job, { since: '3d' });
    for (const { further } of steps) expect(further).toMatch(words);
    const { requests } = await rig.run(job, { since: '3d' });
    expect(requests).toBeGreaterThanOrEqual(countable(steps).calls);
  });

  it('of plans that are read by id counts their calls', async () => {
    const rig = await openRig(START, { vehicles: 3, churn: false });
    await rig.run('pull-route-plans', { since: '3d' });
    const old = new Date(rig.clock.now() - 40 * 86_400_000).toISOString();
    await rig.engine.write(({ sql }) =>
      sql('route_plan').update({ status: 'E', date_time_start: old, date_time_end: old }),
    );
    const [{ n } = {}] = await rig.rows('select count(*) as n from route_plan');
    const watched = (await rig.preview('pull-route-plans')).filter(({ what }) => what.startsWith('open'));
    expect(countable(watched)).toEqual({ calls: n, more: false });
  });
});

describe('a dry run on an empty warehouse', () => {
  it('lists the jobs that run first, and says that the steps depend on their result', async () => {
    const place = makeWorkplace('');
    try {
      const { stderr } = await place.runHere(['run', 'pull-daily-summaries', '--dry-run']);
      expect(stderr).toMatch(/pull-vehicles would run first, because it has never succeeded: 1 step and 1 call\./);
      expect(stderr).toMatch(/pull-drivers would run first, because it has never succeeded: 1 step and 2 calls\./);
      expect(stderr).toMatch(/depend on the result of pull-vehicles and pull-drivers/);
      expect(stderr).not.toMatch(/ 0 (?:steps|calls)/);
      const { stdout } = await place.runHere(['run', 'pull-events', '--dry-run', '--json']);
      expect(JSON.parse(stdout)).toMatchObject({
        job: 'pull-events',
        calls: 0,
        steps: [],
        exact: false,
        first: [{ job: 'pull-vehicles', calls: 1, exact: true, further: [] }],
      });
      const plans = await place.runHere(['run', 'pull-route-plans', '--dry-run']);
      expect(plans.stderr).toMatch(/at least \d+ calls, and one for each plan of the search that may have changed;/);
    } finally {
      place.remove();
    }
  });
});
