// Which days are final, by what was read and not by the rows of the day: the same on every engine.
import { describe, expect, it } from 'vitest';
import { fillTableJobs } from '../../../src/warehouse/control/config-tables.ts';
import { deleteOutdated } from '../../../src/warehouse/retention.ts';
import { itinerary } from '../../../src/warehouse/tables/itinerary.ts';
import { routePlan } from '../../../src/warehouse/tables/route-plan.ts';
import { routePoint } from '../../../src/warehouse/tables/route-point.ts';
import { vehicle } from '../../../src/warehouse/tables/vehicle.ts';
import { engineCases } from '../../support/warehouse/engines.ts';
import { openViews, query, useViews } from '../../support/warehouse/view-place.ts';

useViews();

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const iso = (ms: number): string => new Date(ms).toISOString();

describe.each(engineCases)('bi_day_status on $name', (engineCase) => {
  async function setUp() {
    const place = await openViews(engineCase, 'UTC');
    const today = new Date().setUTCHours(0, 0, 0, 0);
    /** The instant that many days after the beginning of today, and that many hours. */
    const at = (days: number, hours = 0): string => iso(today + days * DAY_MS + hours * HOUR_MS);
    const day = (days: number): string => at(days).slice(0, 10);
    const markCovered = (job: string, scope: string, from: string, to: string) =>
      place.insert('sync_coverage', [{ job, scope, begin_at: from, end_at: to, covered_at: to, run_id: 'r' }]);
    const scopes = { scopes: '%', vehicle_scope: null, driver_scope: null };
    await fillTableJobs(place.engine, [
      { table_name: 'route_plan', job: 'pull-route-plans', ...scopes, reread_seconds: 2 * 86_400 },
      { table_name: 'checklist', job: 'pull-checklists', ...scopes, reread_seconds: 86_400 },
      {
        table_name: 'event',
        job: 'pull-events',
        scopes: '%',
        vehicle_scope: 'vehicle %',
        driver_scope: null,
        reread_seconds: 86_400,
      },
      { table_name: 'daily_summary', job: 'pull-daily-summaries', ...scopes, reread_seconds: 86_400 },
      { table_name: 'itinerary', job: 'pull-itineraries', ...scopes, reread_seconds: 2 * 86_400 },
      { table_name: 'vehicle', job: 'pull-vehicles', ...scopes },
    ]);
    const statusOf = async (table: string, days: readonly number[]) => {
      const rows = await query(place.engine, `select * from bi_day_status where table_name = '${table}'`);
      const found = new Map(rows.map((row) => [String(row.day).slice(0, 10), row]));
      return days.map((each) => {
        const row = found.get(day(each));
        const instant = (value: unknown) => (value == null ? null : iso(Date.parse(value as string)));
        return [row?.status, instant(row?.read_until), instant(row?.expected_final_at), Boolean(row?.is_final)];
      });
    };
    return { place, at, markCovered, statusOf, today };
  }

  it('is final for a day that was read and has no rows, and a hole for one that was never read', async () => {
    const { at, markCovered, statusOf } = await setUp();
    await markCovered('pull-route-plans', 'plans', at(-10), at(-1, 5));
    expect(await statusOf('route_plan', [-11, -10, -4, -3, -2, -1])).toEqual([
      ['hole', null, null, false],
      ['final', at(-9), null, true],
      ['final', at(-3), null, true],
      ['provisional', at(-2), at(0), false],
      ['provisional', at(-1), at(1), false],
      // Read in part, and no run since.
      ['provisional', at(-1, 5), at(2), false],
    ]);
    // Nothing was read: yesterday is a hole, and today is not over.
    expect(await statusOf('checklist', [-1, 0])).toEqual([
      ['hole', null, null, false],
      ['provisional', null, at(2), false],
    ]);
    // Whatever the measured lag of the figures is: no run reads the day again.
    await markCovered('pull-daily-summaries', 'all', at(-10), at(-1));
    expect((await statusOf('daily_summary', [-3, -2])).map(([status]) => status)).toEqual(['final', 'provisional']);
  });

  it('is not final while a plan of the day, or of one of its stops, is still read again', async () => {
    const { place, at, markCovered, statusOf } = await setUp();
    await markCovered('pull-route-plans', 'plans', at(-20), at(0));
    const plan = (id: number, days: number, status: string | null) => ({ id, status, date_time_start: at(days, 8) });
    const stop = (id: number, route_plan_id: number, days: number) => ({
      id,
      route_plan_id,
      time_scheduled: at(days, 9),
    });
    const open = [plan(1, -8, 'E'), plan(2, -10, null), plan(3, -12, 'A')];
    await place.load(routePlan, [...open, plan(4, -14, 'C'), plan(5, -15, 'I')], at(-5));
    await place.load(routePoint, [stop(1, 1, -8), stop(2, 1, -7), stop(3, 4, -14)], at(-5));
    const days = [-15, -14, -12, -10, -8, -7, -6];
    const statuses = async () => (await statusOf('route_plan', days)).map(([status]) => status);
    const [P, F] = ['provisional', 'final'];
    expect(await statuses()).toEqual([F, F, P, P, P, P, F]);
    // When the plan will end is not known.
    expect(await statusOf('route_plan', [-7])).toEqual([['provisional', at(-6), null, false]]);
    // A plan that has just been completed may still change, but its first known status is no change.
    await place.load(
      routePlan,
      open.map((each) => ({ ...each, status: 'C' })),
      at(-1),
    );
    expect(await statuses()).toEqual([F, F, P, F, P, P, F]);
    await place.engine.write(({ sql }) =>
      sql('status_change')
        .update({ observed_at: at(-4) })
        .where({ run_id: 'run-1' }),
    );
    expect(await statuses()).toEqual([F, F, F, F, F, F, F]);
    // One that has just gone missing may return.
    await place.load(routePlan, open, at(-1, 1));
    await place.engine.write(({ sql }) => sql('status_change').delete());
    await place.engine.write(({ sql }) => sql('route_plan').update({ _missing_since: at(-6) }));
    expect(await statuses()).toEqual([F, F, P, P, P, P, F]);
    await place.engine.write(({ sql }) => sql('route_plan').update({ _missing_since: at(-8) }));
    expect(await statuses()).toEqual([F, F, F, F, F, F, F]);
  });

  it('is not final while an itinerary that started on the day is still read again', async () => {
    const { place, at, markCovered, statusOf } = await setUp();
    // No run since yesterday: the next one begins two days before.
    await markCovered('pull-itineraries', 'all', at(-20), at(-1));
    const running = (id: number, start: number, end: number | null, more = {}) => ({
      id,
      date_time_start: at(start, 23),
      date_time_end: end === null ? null : at(end, 1),
      ...more,
    });
    const excluded = running(4, -10, null, { date_excluded: at(-9) });
    const [ended, lasting, endless] = [running(1, -7, -4), running(2, -8, -3), running(3, -9, null)];
    await place.load(itinerary, [ended, lasting, endless, excluded, running(5, -2, null)], at(-5));
    const statuses = async () =>
      (await statusOf('itinerary', [-10, -9, -8, -7, -6])).map(([status, , expected]) => [status, expected]);
    const [P, F] = [
      ['provisional', null],
      ['final', null],
    ];
    expect(await statuses()).toEqual([F, P, P, F, F]);
    // The search still reaches this one.
    expect(await statusOf('itinerary', [-2])).toEqual([['provisional', at(-1), at(1), false]]);
    await place.engine.write(({ sql }) => sql('itinerary').update({ _missing_since: at(-6) }));
    expect(await statuses()).toEqual([F, F, F, F, F]);
  });

  it('leaves out days whose rows retention has deleted, also after it was raised', async () => {
    const { place, at, markCovered, statusOf } = await setUp();
    await markCovered('pull-route-plans', 'plans', at(-10), at(0));
    expect((await statusOf('route_plan', [-6]))[0]).toEqual(['final', at(-5), null, true]);
    for (const before of [at(-5), at(-8)]) {
      await deleteOutdated(place.engine, routePlan, before, () => false);
      const [gone, kept] = await statusOf('route_plan', [-6, -5]);
      expect(gone).toEqual([undefined, null, null, false]);
      expect(kept).toEqual(['final', at(-4), null, true]);
    }
  });

  it('shows a gap as a hole, and the days after it by themselves', async () => {
    const { at, markCovered, statusOf } = await setUp();
    await markCovered('pull-checklists', 'all', at(-9), at(-6, 10));
    await markCovered('pull-checklists', 'all', at(-5, 3), at(-1));
    expect((await statusOf('checklist', [-7, -6, -5, -4, -2])).map(([status]) => status)).toEqual([
      'provisional',
      'hole',
      'hole',
      'final',
      'provisional',
    ]);
  });

  it('is as far as the last vehicle, and a vehicle counts from the day on which it became known', async () => {
    const { place, at, markCovered, statusOf } = await setUp();
    await place.load(vehicle, [{ id: 1 }, { id: 2 }], at(-9));
    await markCovered('pull-events', 'vehicle 1', at(-9), at(-1));
    await markCovered('pull-events', 'vehicle 2', at(-9), at(-3));
    expect((await statusOf('event', [-6, -4, -3])).map(([status]) => status)).toEqual(['final', 'provisional', 'hole']);
    // A new vehicle was read for its history only from its own first day on.
    await markCovered('pull-events', 'vehicle 3', at(-5), at(-1));
    await place.load(vehicle, [{ id: 4 }], at(-4, 1));
    expect((await statusOf('event', [-6, -5, -4])).map(([status]) => status)).toEqual(['final', 'final', 'hole']);
  });
});
