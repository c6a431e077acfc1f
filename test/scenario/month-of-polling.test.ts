// A month of the sandbox's life, polled by schedule: late data, recalculated days, vehicles that come and go.
// At the end every table equals the sandbox's own state, row for row.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunSummary } from '../../src/core/glossary.ts';
import type { Table } from '../../src/warehouse/table.ts';
import { dailySummary } from '../../src/warehouse/tables/daily-summary.ts';
import { event } from '../../src/warehouse/tables/event.ts';
import { routePlan } from '../../src/warehouse/tables/route-plan.ts';
import { routePoint } from '../../src/warehouse/tables/route-point.ts';
import { routePointExecution } from '../../src/warehouse/tables/route-point-execution.ts';
import { routePointItem } from '../../src/warehouse/tables/route-point-item.ts';
import { vehicle } from '../../src/warehouse/tables/vehicle.ts';
import { byKey, expectedRow, storedRow } from '../support/projection.ts';
import { makeRig, type Rig } from '../support/rig.ts';

const START = '2026-03-02T03:00:00.000Z';
const DAYS = 30;
const STEP_HOURS = 6;
const HOUR = 3_600_000;

let rig: Rig;
const runs: RunSummary[] = [];

beforeAll(async () => {
  rig = await makeRig({ startAt: START, sandbox: { vehicles: 5 } });
  const poll = async (job: string, options: Record<string, unknown>) => {
    runs.push(await rig.run(job, options));
  };
  for (let hour = 0; hour <= DAYS * 24; hour += STEP_HOURS) {
    await poll('pull-vehicles', {});
    if (hour % 24 === 0) await poll('pull-drivers', {});
    // Data may come up to two days late, so that is how far each run reads again.
    await poll('pull-events', { since: '5d', lookback: '60h' });
    await poll('pull-route-plans', { since: '5d', lookback: '4d', ahead: '3d' });
    await poll('pull-daily-summaries', { since: '5d', lookback: '5d' });
    if (hour < DAYS * 24) await rig.clock.advance(STEP_HOURS * HOUR);
  }
}, 240_000);
afterAll(() => rig.close());

const from = () => new Date(Date.parse(START) - 4 * 24 * HOUR).toISOString();
const edge = () => new Date(rig.clock.now() - 60_000).toISOString();
const stored = async (table: Table, where = 'true') =>
  (await rig.rows(`select * from "${table.name}" where ${where}`)).map((row) => storedRow(table, row));
const equal = (table: Table, rows: Record<string, unknown>[], records: Record<string, unknown>[]) => {
  expect(rows.length).toBeGreaterThan(0);
  const expected = records.map((record) => expectedRow(table, record));
  expect(byKey(table, rows)).toEqual(byKey(table, expected));
};

describe('after a month of polling', () => {
  it('no run failed or lost count', () => {
    expect(runs.filter(({ status }) => status !== 'ok')).toEqual([]);
    for (const { records, inserted, updated, unchanged, quarantined } of runs) {
      expect(inserted + updated + unchanged + quarantined).toBe(records);
    }
  });

  it('vehicles are those of the service, and those that left are marked', async () => {
    const truth = await rig.truth('vehicles');
    equal(vehicle, await stored(vehicle, '_missing_since is null'), truth);
    const listed = truth.map(({ id }) => id);
    const marked = await stored(vehicle, '_missing_since is not null');
    expect(marked.every(({ id }) => !listed.includes(id))).toBe(true);
  });

  it('events are those of the service', async () => {
    const known = (await rig.rows('select id from vehicle')).map(({ id }) => id);
    const truth = (await rig.truth('events', { from: from(), to: edge() })).filter(
      (record) => String(record.begin_date) < edge() && known.includes((record.vehicle as { id: number }).id),
    );
    equal(event, await stored(event, `begin_date >= '${from()}' and _missing_since is null`), truth);
  });

  it('plans, points, executions and items are those of the service', async () => {
    const plans = (await rig.truth('route_plans', { from: from(), to: edge() })).filter(
      ({ date_time_start }) => new Date(String(date_time_start)).toISOString() >= from(),
    );
    const until = plans
      .map(({ date_time_start }) => new Date(String(date_time_start)).toISOString())
      .sort()
      .at(-1);
    const mine = `select id from route_plan where date_time_start between '${from()}' and '${until}'`;
    type Nested = Record<string, Record<string, unknown>[]>;
    const points = plans.flatMap((plan) =>
      (plan as Nested).route_points!.map((point) => ({ ...point, route_plan_id: plan.id })),
    );
    const below = (name: string) =>
      points.flatMap((point) =>
        ((point as unknown as Nested)[name] ?? []).map(
          (record, position): Record<string, unknown> => ({
            ...record,
            position,
            route_point_id: (point as Record<string, unknown>).id,
          }),
        ),
      );
    const inPoints = `route_point_id in (select id from route_point where route_plan_id in (${mine}))`;
    const bare = (record: Record<string, unknown>) => ({
      ...record,
      vehicle: { ...(record.vehicle as object), device: undefined },
    });
    equal(routePlan, await stored(routePlan, `id in (${mine})`), plans.map(bare));
    equal(routePoint, await stored(routePoint, `route_plan_id in (${mine})`), points);
    equal(routePointExecution, await stored(routePointExecution, inPoints), below('routes_info'));
    equal(routePointItem, await stored(routePointItem, inPoints), below('route_point_items'));
  });

  it('every figure of the last days is the recalculated one, and each change was kept', async () => {
    const days = await rig.rows(
      `select distinct day from daily_summary where day >= '${from().slice(0, 10)}' order by day`,
    );
    expect(days.length).toBeGreaterThan(DAYS - 5);
    for (const { day } of days) {
      const truth = await rig.truth('daily_summaries', { day: String(day) });
      const rows = await stored(dailySummary, `day = '${day}' and _missing_since is null`);
      const figures = (row: Record<string, unknown>) =>
        Object.fromEntries(Object.entries(row).filter(([name]) => !/_id$|^subject$|^day$/.test(name)));
      const sorted = (all: Record<string, unknown>[]) =>
        all.map(figures).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
      expect(sorted(rows)).toEqual(sorted(truth.map((record) => expectedRow(dailySummary, record))));
    }
    expect((await rig.rows('select * from daily_summary_revision limit 1')).length).toBe(1);
  });

  it('each status change that polling could see was kept once, and no other', async () => {
    const seen = await rig.rows(
      'select entity, entity_id, from_status, to_status, observed_at from status_change order by observed_at',
    );
    const log = await rig.truth('transitions', { from: from(), to: edge() });
    const last = new Map<string, unknown>();
    for (const { entity, entity_id, from_status, to_status, observed_at } of seen) {
      const name = `${entity} ${entity_id}`;
      expect(from_status, name).toBe(last.get(name) ?? null);
      last.set(name, to_status);
      const truly = log.filter(
        (change) =>
          change.entity === entity &&
          change.entity_id === entity_id &&
          String(change.at) <= String(observed_at),
      );
      if (truly.length > 0) expect(truly.at(-1)?.to_status, `${name} at ${observed_at}`).toBe(to_status);
    }
  });
});
