// A month of the sandbox, polled by schedule: late data, recalculated days, vehicles that come and go.
// At the end every table equals the sandbox's own state, row for row, and a verification finds no final row wrong.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunSummary } from '../../src/core/glossary.ts';
import type { Table } from '../../src/warehouse/schema/table.ts';
import { checklist } from '../../src/warehouse/tables/checklist.ts';
import { dailySummary } from '../../src/warehouse/tables/daily-summary.ts';
import { driver } from '../../src/warehouse/tables/driver.ts';
import { event } from '../../src/warehouse/tables/event.ts';
import { itinerary } from '../../src/warehouse/tables/itinerary.ts';
import { pointOfInterest } from '../../src/warehouse/tables/point-of-interest.ts';
import { routePlan } from '../../src/warehouse/tables/route-plan.ts';
import { routePoint } from '../../src/warehouse/tables/route-point.ts';
import { routePointExecution } from '../../src/warehouse/tables/route-point-execution.ts';
import { routePointItem } from '../../src/warehouse/tables/route-point-item.ts';
import { vehicle } from '../../src/warehouse/tables/vehicle.ts';
import { stopPostgres } from '../support/databases/postgres.ts';
import { byKey, expectedRow, storedRow } from '../support/pull/projection.ts';
import { makeRig, type Rig } from '../support/pull/rig.ts';
import { verify, wrong } from '../support/pull/verified.ts';

const START = '2026-03-02T03:00:00.000Z';
const HOUR = 3_600_000;

/** The columns of a row that the service sends; the warehouse itself finds out whom the row is about. */
const figures = (row: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !/_id$|^subject$|^day$/.test(name)));
const byText = (a: object, b: object) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);

/** Data may come up to two days late, so each run reads that far back. */
const OPTIONS = {
  'pull-events': { since: '5d', lookback: '60h' },
  'pull-route-plans': { since: '5d', lookback: '4d', ahead: '3d' },
  'pull-daily-summaries': { since: '5d', lookback: '5d' },
  'pull-itineraries': { since: '5d' },
  'pull-checklists': { since: '5d' },
};

afterAll(stopPostgres);

/**
 * The whole month on one engine; on the other, enough of it to meet late data and recalculated days. A day is no
 * multiple of a step, so that polls come at another hour each time.
 */
const LIVES = [
  { engine: 'sqlite', days: 30, stepHours: 14, changes: 500 },
  { engine: 'postgres', days: 9, stepHours: 14, changes: 20 },
] as const;

describe.each(LIVES)('after $days days of polling into $engine', ({ engine, days, stepHours, changes: least }) => {
  let rig: Rig;
  const runs: RunSummary[] = [];
  const polls: number[] = [];

  beforeAll(async () => {
    rig = await makeRig({ startAt: START, sandbox: { vehicles: 5 }, engine, options: OPTIONS });
    const poll = async (job: string) => {
      runs.push(await rig.run(job));
    };
    for (let hour = 0; hour <= days * 24; hour += stepHours) {
      if (hour > 0) await rig.clock.advance(stepHours * HOUR);
      await poll('pull-vehicles');
      // Each day or two.
      if (polls.length % 2 === 0) {
        await poll('pull-drivers');
        await poll('pull-points-of-interest');
      }
      await poll('pull-events');
      polls.push(rig.clock.now());
      await poll('pull-route-plans');
      await poll('pull-daily-summaries');
      await poll('pull-itineraries');
      await poll('pull-checklists');
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

  it('no run has failed or counted wrongly', () => {
    expect(runs.filter(({ status }) => status !== 'ok')).toEqual([]);
    for (const { records, inserted, updated, unchanged, quarantined } of runs) {
      expect(inserted + updated + unchanged + quarantined).toBe(records);
    }
  });

  it('logged in once in each life of a refresh token, and renewed every other token', () => {
    const { logins, renewals } = rig.sandbox.ledger();
    expect(logins).toBeLessThanOrEqual(days + 1);
    expect(logins + renewals).toBeGreaterThanOrEqual(polls.length);
  });

  it('vehicles equal those of the service, and those that left are marked', async () => {
    const truth = await rig.truth('vehicles');
    equal(vehicle, await stored(vehicle, '_missing_since is null'), truth);
    const listed = truth.map(({ id }) => id);
    const marked = await stored(vehicle, '_missing_since is not null');
    expect(marked.every(({ id }) => !listed.includes(id))).toBe(true);
  });

  it('events equal those of the service', async () => {
    const known = (await rig.rows('select id from vehicle')).map(({ id }) => id);
    const truth = (await rig.truth('events', { from: from(), to: edge() })).filter(
      (record) => String(record.begin_date) < edge() && known.includes((record.vehicle as { id: number }).id),
    );
    equal(event, await stored(event, `begin_date >= '${from()}' and _missing_since is null`), truth);
  });

  it('plans, points, executions and items equal those of the service', async () => {
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

  it('every figure of the last days is the recalculated one, and each change is kept', async () => {
    const summed = await rig.rows(
      `select distinct day from daily_summary where day >= '${from().slice(0, 10)}' order by day`,
    );
    expect(summed.length).toBeGreaterThan(days - 5);
    for (const { day } of summed) {
      const truth = await rig.truth('daily_summaries', { day: String(day) });
      const rows = await stored(dailySummary, `day = '${day}' and subject = 'vehicle' and _missing_since is null`);
      expect(rows.map(figures).sort(byText)).toEqual(
        truth.map((record) => figures(expectedRow(dailySummary, record))).sort(byText),
      );
      const distances = await rig.rows(
        `select subject, round(sum(total_distance)) as metres from daily_summary where day = '${day}' and _missing_since is null group by 1 order by 1`,
      );
      // Every metre has a driver: the drivers' figures are the vehicles', summed another way.
      expect(distances.map(({ subject }) => subject)).toEqual(['driver', 'vehicle']);
      expect(distances[0]?.metres).toBe(distances[1]?.metres);
    }
    const unowned = `select * from daily_summary where subject = 'driver' and driver_id is null`;
    expect((await rig.rows(unowned)).length).toBe(0);
    expect((await rig.rows('select * from daily_summary_revision limit 1')).length).toBe(1);
  });

  it('each status change that polling could see is kept once, and no other', async () => {
    const [begin, end] = [Date.parse(START) + 2 * 24 * HOUR, rig.clock.now() - 5 * 24 * HOUR];
    const within = (at: unknown) => Date.parse(String(at)) >= begin && Date.parse(String(at)) < end;
    const plans = (await rig.truth('route_plans', { from: from(), to: edge() })).filter(({ date_time_start }) =>
      within(date_time_start),
    );
    const ids = new Set(
      plans.flatMap((plan) => [
        `route_plan ${plan.id}`,
        ...(plan.route_points as { id: number }[]).map(({ id }) => `route_point ${id}`),
      ]),
    );
    const log = await rig.truth('transitions', { from: from(), to: edge() });
    const expected = [...Map.groupBy(log, ({ entity, entity_id }) => `${entity} ${entity_id}`)]
      .filter(([name]) => ids.has(name))
      .flatMap(([name, changes]) => seenBy(polls, changes).map((seen) => `${name} ${seen}`));
    const rows = await rig.rows('select * from status_change');
    const kept = rows
      .filter(({ entity, entity_id }) => ids.has(`${entity} ${entity_id}`))
      .map((row) => `${row.entity} ${row.entity_id} ${row.from_status} ${row.to_status} ${row.observed_at}`);
    expect(expected.length).toBeGreaterThan(least);
    expect(kept.sort()).toEqual(expected.sort());
  });

  it.each([
    ['drivers', driver],
    ['points_of_interest', pointOfInterest],
  ] as const)('%s equal those of the service', async (resource, table) => {
    equal(table, await stored(table, '_missing_since is null'), await rig.truth(resource));
  });

  it('a verification of all of it finds late rows, none of a final day, and then every damage', {
    timeout: 300_000,
  }, async () => {
    // Nothing was polled meanwhile: the service has gone on.
    await rig.clock.advance(36 * HOUR);
    const found = await verify(rig, { days: '29d' });
    expect(found.run).toMatchObject({ status: 'ok', error: null });
    const states = wrong(found.rows).map(({ state }) => state);
    expect(states.length).toBeGreaterThan(0);
    expect(states.filter((state) => state === 'final')).toEqual([]);
    const finals = found.rows.filter(({ state, equal }) => state === 'final' && equal > 0);
    const dayOf = (table: Table) => finals.find(({ table_name }) => table_name === table.name)?.day ?? '';
    // In the nine days one itinerary began, on the last Monday, which is not final.
    const damages = damagesOf(dayOf).filter(([table]) => table !== itinerary || days > 9);
    for (const [table, column, where] of damages) await forge(rig, table, column, where);
    const { rows } = await verify(rig, { days: '29d' });
    for (const [table, column] of damages) {
      const forged = rows.filter((row) => row.table_name === table.name && row.differing_columns?.includes(column));
      const isListed = table.retentionBy === null && table.parent === null;
      const expected = isListed ? { state: 'provisional' } : { state: 'final', day: dayOf(table) };
      expect(forged, table.name).toMatchObject([expected]);
    }
  });
});

/** A table, a column, and the rows of which one is forged. Together with test/long/pull/verify.test.ts these are all tables. */
function damagesOf(dayOf: (table: Table) => string): [Table, string, string][] {
  const during = (table: Table, column: string): string =>
    `_missing_since is null and ${column} between '${dayOf(table)}T05:00:00.000Z' and '${dayOf(table)}T23:00:00.000Z'`;
  const ofPoints = (table: Table): string => `route_point_id in (select id from route_point
    where route_plan_id in (select id from route_plan where ${during(table, 'date_time_start')}))`;
  return [
    [driver, 'name', '_missing_since is null'],
    [pointOfInterest, 'title', '_missing_since is null'],
    [checklist, 'checklist_form_name', during(checklist, 'date_executed')],
    [itinerary, 'description', during(itinerary, 'date_time_start')],
    [routePlan, 'source', during(routePlan, 'date_time_start')],
    [routePointExecution, 'pictures', ofPoints(routePointExecution)],
    [routePointItem, 'description', ofPoints(routePointItem)],
  ];
}

async function forge(rig: Rig, { name, key }: Table, column: string, where: string): Promise<void> {
  const row = await rig.engine.read((sql) =>
    sql(name)
      .whereRaw(where)
      .first(...key),
  );
  await rig.engine.write(({ sql }) =>
    sql(name)
      .where(row)
      .update({ [column]: 'forged' }),
  );
}

/** The statuses that a poller at these instants sees in a log of changes: each that differs from the one before. */
function seenBy(instants: readonly number[], changes: readonly Record<string, unknown>[]): string[] {
  const seen: string[] = [];
  let last: unknown = null;
  for (const instant of instants) {
    const status = changes.filter(({ at }) => Date.parse(String(at)) <= instant).at(-1)?.to_status;
    if (status === undefined || status === last) continue;
    seen.push(`${last} ${status} ${new Date(instant).toISOString()}`);
    last = status;
  }
  return seen;
}
