// Verification on a month of a small fleet, on every engine: an untouched warehouse is equal to the service, and whatever
// is corrupted, deleted, invented or hidden by hand is found, named and repaired.
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/core/time/clock.ts';
import { factMemory } from '../../../src/warehouse/control/learned-facts.ts';
import { tableDrift, type VerifiedDay } from '../../../src/warehouse/control/verification.ts';
import { leaseManagerOn } from '../../support/daemons/lease-manager.ts';
import { stopPostgres } from '../../support/databases/postgres.ts';
import { drive } from '../../support/fleet/fleet-setup.ts';
import { makeRig, type Rig } from '../../support/pull/rig.ts';
import { verify, wrong } from '../../support/pull/verified.ts';
import { engineCases } from '../../support/warehouse/engines.ts';

afterAll(stopPostgres);

const NOW = '2026-03-31T15:00:00.000Z';
const PULLS = [
  'vehicles',
  'drivers',
  'points-of-interest',
  'events',
  'daily-summaries',
  'itineraries',
  'checklists',
  'route-plans',
];

/** The first row of the table that `where` finds. */
const firstRow = (rig: Rig, table: string, where: string): Promise<Record<string, unknown>> =>
  rig.engine.read((sql) => sql(table).whereRaw(where).orderBy('_first_seen_at').first());

/** A day that no run reads again, and yesterday. */
const [SETTLED, YESTERDAY] = ['2026-03-27', '2026-03-30'] as const;
const during = (column: string, day: string): string =>
  `${column} between '${day}T05:00:00.000Z' and '${day}T23:00:00.000Z'`;

/** Damages one row in each way, and says what has to be found. */
async function damage(rig: Rig): Promise<Partial<VerifiedDay>[]> {
  const event = await firstRow(rig, 'event', during('begin_date', SETTLED));
  const ofVehicle = `vehicle_id = ${event.vehicle_id}`;
  const gone = await firstRow(rig, 'event', `${during('begin_date', SETTLED)} and ${ofVehicle} and id <> ${event.id}`);
  const plan = await firstRow(rig, 'route_plan', during('date_time_start', SETTLED));
  const answer = await firstRow(
    rig,
    'checklist_answer',
    `checklist_id in (select id from checklist where ${during('date_executed', SETTLED)})`,
  );
  await rig.engine.write(async ({ sql }) => {
    await sql('event').where({ event_category: event.event_category, id: event.id }).update({ distance: -7 });
    await sql('event').where({ event_category: gone.event_category, id: gone.id }).delete();
    await sql('event').insert({ ...event, id: 987_654_321 });
    await sql('route_point').where({ route_plan_id: plan.id }).update({ _missing_since: NOW });
    await sql('checklist_answer').where({ id: answer.id }).update({ value: 'forged', risk_level: 'X' });
    await sql('daily_summary').where({ day: YESTERDAY, vehicle_id: event.vehicle_id }).update({ total_distance: -1 });
    await sql('vehicle').where({ id: event.vehicle_id }).update({ title: 'old title' });
    // The days of drivers include its share; its own days cannot be compared without it.
    await sql('vehicle').whereNot({ id: event.vehicle_id }).delete();
  });
  const [{ points } = { points: 0 }] = (await rig.rows(
    `select count(*) as points from route_point where route_plan_id = ${plan.id}`,
  )) as { points: number }[];
  const none = { differing: 0, missing_here: 0, missing_there: 0, differing_columns: null };
  return [
    {
      ...none,
      table_name: 'checklist_answer',
      day: SETTLED,
      state: 'final',
      differing: 1,
      differing_columns: '{"value":1,"risk_level":1}',
    },
    {
      ...none,
      table_name: 'daily_summary',
      day: YESTERDAY,
      state: 'provisional',
      differing: 1,
      differing_columns: '{"total_distance":1}',
    },
    {
      ...none,
      table_name: 'event',
      day: SETTLED,
      state: 'final',
      differing: 1,
      missing_here: 1,
      missing_there: 1,
      differing_columns: '{"distance":1}',
    },
    { ...none, table_name: 'route_point', day: SETTLED, state: 'final', missing_here: points },
    {
      ...none,
      table_name: 'vehicle',
      day: '2026-03-31',
      state: 'provisional',
      differing: 1,
      missing_here: 1,
      differing_columns: '{"title":1}',
    },
  ];
}

describe.each(engineCases)('verification on $name', ({ name }) => {
  it('finds nothing in an untouched month, and every damage, which it repairs', { timeout: 300_000 }, async () => {
    const rig = await makeRig({
      startAt: NOW,
      engine: name,
      sandbox: { vehicles: 2, churn: false },
      options: { 'pull-events': { categories: [1, 2] } },
    });
    try {
      for (const job of PULLS) expect((await drive(rig.clock, rig.run(`pull-${job}`))).status).toBe('ok');
      const clean = await verify(rig, { days: '28d', sample: 80 });
      expect(wrong(clean.rows)).toEqual([]);
      expect(new Set(clean.rows.map(({ table_name }) => table_name)).size).toBe(13);
      expect(clean.rows.filter(({ state, compared }) => state === 'final' && compared > 0).length).toBeGreaterThan(30);
      expect(clean.run.requests).toBe(clean.requests);

      const expected = await damage(rig);
      const found = await verify(rig);
      expect(wrong(found.rows)).toEqual(expected.map((row) => ({ ...row, repaired: 0 })));
      const verdicts = `select table_name, verdict from bi_verification where run_id = '${found.run.run_id}' and verdict <> 'equal'`;
      expect(await rig.rows(`${verdicts} order by table_name`)).toEqual(
        expected.map(({ table_name, state }) => ({ table_name, verdict: state === 'final' ? 'drift' : 'late' })),
      );
      expect((await tableDrift(rig.engine)).filter(({ drifted }) => drifted > 0)).toMatchObject([
        { table: 'checklist_answer', drifted: 1 },
        { table: 'event', drifted: 3 },
        { table: 'route_point' },
      ]);

      const repaired = await verify(rig, { repair: true });
      expect(wrong(repaired.rows)).toEqual(
        expected.map((row) => ({
          ...row,
          repaired: (row.differing ?? 0) + (row.missing_here ?? 0) + (row.missing_there ?? 0),
        })),
      );
      const { records, inserted, updated, unchanged, quarantined } = repaired.run;
      expect(records).toBe(inserted + updated + unchanged + quarantined);
      expect(wrong((await verify(rig)).rows)).toEqual([]);

      const small = await verify(rig, { max_calls: 20 });
      expect(small.run).toMatchObject({ status: 'partial', error: { code: 'too_few_calls' } });
      expect(small.run.slices).toBeGreaterThan(0);
      expect(small.requests).toBeLessThanOrEqual(20);
      // A call for each of the two categories.
      const none = await verify(rig, { tables: ['event'], max_calls: 1 });
      expect(none).toMatchObject({ requests: 0, run: { status: 'failed', error: { code: 'too_few_calls' } } });
      // Nothing is cut without a call. The day whose row was marked as missing is due, so it is not compared; the share of the
      // other vehicle is, if that day was repaired before the vehicle itself.
      expect(none.run.error?.message).toMatch(/compare ([56]) of \1 slices/);
    } finally {
      await rig.close();
    }
  });
});

it('compares an hour with more plans than its share of the calls, or says that the calls are too few', {
  timeout: 600_000,
}, async () => {
  const rig = await makeRig({
    startAt: '2026-03-28T15:00:00.000Z',
    sandbox: { vehicles: 130, churn: false },
    options: { 'pull-route-plans': { since: '1d', lookback: '1d', ahead: '1d' } },
  });
  onTestFinished(() => rig.close());
  // The shortest slices: they cannot be cut.
  await factMemory(rig.engine, 'slice scale of pull-route-plans').write(1 / 16, rig.clock.now());
  expect((await drive(rig.clock, rig.run('pull-route-plans'))).status).toBe('ok');
  const slices = await rig.rows(
    `select count(*) as plans from route_plan where ${during('date_time_start', SETTLED)}
    group by cast(strftime('%s', date_time_start) as integer) / 5400`,
  );
  const plans = slices.map((slice) => Number(slice.plans));
  expect(Math.max(...plans)).toBeGreaterThan(50);
  const asked = { tables: ['route_plan'], days: '1d', sample: 200 };
  const whole = await verify(rig, { ...asked, max_calls: 800 });
  expect(whole.run).toMatchObject({ status: 'ok', error: null });
  expect(whole.rows).toContainEqual(
    expect.objectContaining({
      table_name: 'route_plan',
      day: SETTLED,
      compared: plans.reduce((sum, each) => sum + each, 0),
    }),
  );
  // Slices of a day: they are cut, and all parts are compared.
  await factMemory(rig.engine, 'slice scale of pull-route-plans').write(1, rig.clock.now());
  const inParts = await verify(rig, { ...asked, max_calls: 800 });
  expect(inParts.run).toMatchObject({ status: 'ok', error: null });
  const counts = (rows: readonly VerifiedDay[]): unknown[] =>
    rows.filter(({ compared }) => compared > 0).map(({ table_name, day, compared }) => [table_name, day, compared]);
  expect(counts(inParts.rows)).toEqual(counts(whole.rows));
  const cut = await verify(rig, { ...asked, max_calls: 10 });
  expect(cut.run).toMatchObject({
    status: 'partial',
    error: {
      code: 'too_few_calls',
      message: expect.stringMatching(/^10 calls were too few to compare \d+ of \d+ slices, such as plans 2026-03-2/),
    },
  });
  expect(cut.requests).toBeLessThanOrEqual(10);
});

it('makes no more calls than allowed where they are retried, also under a lease', async () => {
  const rig = await makeRig({ startAt: NOW, sandbox: { vehicles: 2, churn: false } });
  onTestFinished(() => rig.close());
  rig.dependencies.leases = leaseManagerOn(rig.engine, { clock: systemClock, log: rig.dependencies.log });
  expect((await drive(rig.clock, rig.run('pull-vehicles'))).status).toBe('ok');
  const fault = { call: 'vehicles', fault: '500' };
  await fetch(`${rig.sandbox.url}/_sandbox/faults`, { method: 'POST', body: JSON.stringify(fault) });
  const { requests, run } = await verify(rig, { tables: ['vehicle'], max_calls: 3 });
  expect([requests, run.requests]).toEqual([3, 3]);
});

it('rejects a table that no job pulls, logs one line for a failure, and waits for its next tick', async () => {
  const rig = await makeRig({ startAt: NOW, sandbox: { vehicles: 1 } });
  onTestFinished(() => rig.close());
  await expect(verify(rig, { tables: ['events'] })).rejects.toThrow(/"event"/);
  await rig.run('pull-vehicles');
  rig.sandbox.addFault({ call: 'vehicles', fault: '500', times: 100 });
  rig.logLines.length = 0;
  const { run: cut } = await verify(rig);
  expect(cut.error?.code).toBe('service_failed');
  const lines = rig.logLines.map((line) => JSON.parse(line) as { level: string; msg: string });
  expect(lines.filter(({ level }) => level !== 'debug')).toMatchObject([{ level: 'error', msg: 'run finished' }]);
  expect(await rig.rows(`select retry_at from sync_run where run_id = '${cut.run_id}'`)).toEqual([{ retry_at: null }]);
});
