// Plan searches that are cut: the plans that were read stay known, a rejected search is not repeated in every run, and
// no time is marked covered that the smaller search may have missed.
import { describe, expect, it } from 'vitest';
import { DAY, openRig, putBefore } from '../../support/pull/pull-setup.ts';
import type { Rig } from '../../support/pull/rig.ts';
import { verify } from '../../support/pull/verified.ts';

const JOB = 'pull-route-plans';
const START = '2026-03-10T15:00:00.000Z';
const SINCE = { since: '3d' };

interface Plan {
  id: number;
  date_time_start: string;
  date_time_end: string;
}

const completedPlan = (id: number, hour: number): Plan & { status: string } => ({
  id,
  status: 'C',
  date_time_start: `2026-03-08T${String(hour).padStart(2, '0')}:15:00.000Z`,
  date_time_end: '2026-03-08T23:00:00.000Z',
});

/** A service with only these plans, which counts the plans requested by id and rejects the request for `rejectedId`. */
async function serviceWith(plans: readonly Plan[], rejectedId?: number) {
  const rig = await openRig(START, { vehicles: 1, churn: false });
  const asked = { details: 0, ids: new Set<string>(), rejectedId };
  const byId = new Map(plans.map((plan) => [String(plan.id), plan]));
  await putBefore(rig, (url) => {
    if (url.pathname !== '/import/route_plan') return undefined;
    const id = url.searchParams.get('route_plan_id');
    if (id !== null) asked.details++;
    if (id !== null) asked.ids.add(id);
    if (id === String(asked.rejectedId)) return { status: 422, body: {} };
    const { begin, end } = periodOf(url);
    const found = id === null ? plans.filter((plan) => startIn(plan, begin, end)) : [byId.get(id)];
    return { body: { data: found } };
  });
  return { rig, asked };
}

const periodOf = (url: URL) => ({
  begin: Date.parse(url.searchParams.get('begin_date') ?? ''),
  end: Date.parse(url.searchParams.get('end_date') ?? ''),
});
const startIn = ({ date_time_start }: Plan, begin: number, end: number): boolean =>
  Date.parse(date_time_start) >= begin && Date.parse(date_time_start) < end;

/** The sandbox, but it rejects searches longer than `most` days; `answers` may change the other answers. */
async function rejectingAbove(
  most: number,
  answers?: (plans: Plan[], period: { begin: number; end: number }) => Plan[],
) {
  const rig = await openRig(START, { vehicles: 2, churn: false });
  const limit = { most };
  let rejected = 0;
  await putBefore(rig, async (url, original) => {
    if (url.pathname !== '/import/route_plan' || url.searchParams.has('route_plan_id')) return undefined;
    const { begin, end } = periodOf(url);
    if (end - begin > limit.most * DAY) {
      rejected++;
      return { status: 413, body: {} };
    }
    if (answers === undefined) return undefined;
    const { data } = (await original()) as { data?: Plan[] };
    if (data === undefined) return undefined;
    return { body: { data: answers(data, { begin, end }) } };
  });
  /** How many searches of a run were rejected. */
  const run = async () => {
    rejected = 0;
    await rig.clock.advance(5 * 60_000);
    expect((await rig.run(JOB, SINCE)).status).toBe('ok');
    return rejected;
  };
  return { rig, limit, run };
}

const covered = (rig: Rig) =>
  rig.rows(`select begin_at, end_at from sync_coverage where scope = 'plans' order by begin_at`);

describe('a day that had to be cut', () => {
  it('has its completed plans requested once, in chunks or in full, also when all start together', async () => {
    const spread = Array.from({ length: 100 }, (_, index) => completedPlan(index + 1, index % 20));
    const together = Array.from({ length: 1_001 }, (_, index) => completedPlan(1_000 + index, 20));
    const { rig, asked } = await serviceWith([...spread, ...together]);
    const details: number[] = [];
    for (let round = 0; round < 3; round++) {
      asked.details = 0;
      expect((await rig.run(JOB, { ...SINCE, settle: '12h' })).status).toBe('ok');
      details.push(asked.details);
      await rig.clock.advance(5 * 60_000);
    }
    expect(details).toEqual([1_101, 0, 0]);
    const scopes = await rig.rows(`select scope from sync_coverage where scope like 'day 2026-03-08%'`);
    expect(scopes).toEqual([{ scope: 'day 2026-03-08' }]);
  });

  it('is stored in parts, and marked covered with the last part, also if too many plans start together for a cut', async () => {
    const together = Array.from({ length: 2_500 }, (_, index) => completedPlan(1_000 + index, 20));
    const { rig } = await serviceWith(together);
    const parts: { plans: number; isCovered: boolean }[] = [];
    const { engine } = rig.dependencies;
    rig.dependencies.engine = {
      ...engine,
      write: (work, how) =>
        engine.write(async (tx) => {
          let plans = 0;
          const result = await work({
            ...tx,
            loadEncoded(table, written, metadata) {
              if (table.name === 'route_plan') plans += written.reduce((sum, { count }) => sum + count, 0);
              return tx.loadEncoded(table, written, metadata);
            },
          });
          const hour = await tx
            .sql('sync_coverage')
            .whereLike('scope', 'day 2026-03-08%')
            .where('begin_at', '<=', '2026-03-08T20:00:00.000Z')
            .where('end_at', '>', '2026-03-08T20:00:00.000Z');
          if (plans > 0) parts.push({ plans, isCovered: hour.length > 0 });
          return result;
        }, how),
    };
    expect(await rig.run(JOB, { ...SINCE, settle: '12h' })).toMatchObject({ status: 'ok', quarantined: 0 });
    expect(parts).toEqual(Array.from({ length: 25 }, (_, part) => ({ plans: 100, isCovered: part === 24 })));
    expect(await rig.rows('select count(*) as n from route_plan where _missing_since is null')).toEqual([{ n: 2_500 }]);
    const [run] = await rig.rows('select inserted from sync_run order by started_at desc limit 1');
    expect(run?.inserted).toBeGreaterThanOrEqual(2_500);
  });

  it('counts the parts that were stored when a later part fails', async () => {
    const together = Array.from({ length: 2_500 }, (_, index) => completedPlan(1_000 + index, 20));
    const { rig } = await serviceWith(together, 3_400);
    const summary = await rig.run(JOB, { ...SINCE, settle: '12h' });
    expect(summary).toMatchObject({ status: 'partial', records: 2_400, inserted: 2_400 });
    expect(await rig.rows('select count(*) as n from route_plan')).toEqual([{ n: 2_400 }]);
  });
});

describe('a verification of a day that is read in parts', () => {
  it('counts what the stored parts repaired, although a later part fails', async () => {
    const together = Array.from({ length: 250 }, (_, index) => completedPlan(1_000 + index, 20));
    const { rig, asked } = await serviceWith(together);
    expect((await rig.run(JOB, SINCE)).status).toBe('ok');
    await rig.engine.write(({ sql }) => sql('route_plan').where({ id: 1_001 }).update({ status: 'P' }));
    asked.rejectedId = 1_240;
    await verify(rig, { tables: ['route_plan'], days: '3d', repair: true });
    expect(await rig.rows('select differing, repaired from sync_verification where differing > 0')).toEqual([
      { differing: 1, repaired: 1 },
    ]);
    expect(await rig.rows('select status from route_plan where id = 1001')).toEqual([{ status: 'C' }]);
  });

  it('counts each plan once if the calls do not suffice for all', async () => {
    const spread = Array.from({ length: 700 }, (_, index) => completedPlan(1_000 + index, index % 20));
    const { rig, asked } = await serviceWith(spread);
    expect((await rig.run(JOB, SINCE)).status).toBe('ok');
    await rig.engine.write(({ sql }) => sql('route_plan').update({ external_code: 'other' }));
    asked.ids.clear();
    await verify(rig, { tables: ['route_plan'], days: '3d', sample: 5, max_calls: 650 });
    expect(asked.ids.size).toBeGreaterThan(100);
    expect(await rig.rows('select sum(differing) as n from sync_verification')).toEqual([{ n: asked.ids.size }]);
  });
});

describe('a search that is too large', () => {
  it('is remembered, and grows again once the service accepts it', async () => {
    const { rig, limit, run } = await rejectingAbove(2.6);
    expect([await run(), await run()]).toEqual([11, 0]);
    limit.most = 100;
    for (let round = 0; round < 3; round++) await run();
    const searches = (await rig.preview(JOB, SINCE)).filter(({ what }) => what.startsWith('plans '));
    expect(searches.length).toBe(11);
  });

  it('really shrinks, and finds every plan', async () => {
    const { rig, run } = await rejectingAbove(0.5);
    const rejected = await run();
    expect(rejected).toBeLessThan(11 * 8);
    expect(await run()).toBeLessThan(rejected);
    await run();
    expect(await covered(rig)).toEqual([
      { begin_at: '2026-03-07T00:00:00.000Z', end_at: new Date(rig.clock.now()).toISOString() },
    ]);
    const from = '2026-03-07T00:00:00.000Z';
    const to = new Date(rig.clock.now() + 7 * DAY).toISOString();
    const truth = (await rig.truth('route_plans', { from, to })) as unknown as Plan[];
    const starting = truth.filter((plan) => startIn(plan, Date.parse(from), Number.POSITIVE_INFINITY));
    const stored = await rig.rows('select id from route_plan order by id');
    expect(stored.map(({ id }) => id)).toEqual(starting.map(({ id }) => id).toSorted((a, b) => a - b));
  });

  it('marks nothing covered when the service may list only plans that lie within the period', async () => {
    const onlyWithin = (plans: Plan[], { begin, end }: { begin: number; end: number }) =>
      plans.filter((plan) => startIn(plan, begin, end) && Date.parse(plan.date_time_end) <= end);
    const { rig, limit, run } = await rejectingAbove(2, onlyWithin);
    await run();
    expect(await covered(rig)).toEqual([]);
    limit.most = 100;
    for (let round = 0; round < 3; round++) await run();
    expect((await covered(rig)).length).toBe(1);
  });
});
