// What a verification finds, on every engine: records that do not fit their table, events across midnight, and differences
// that later runs bring.
import { existsSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { loadJobs, tableJobs } from '../../../src/app/app.ts';
import { fillTableJobs } from '../../../src/warehouse/control/config-tables.ts';
import { factMemory } from '../../../src/warehouse/control/learned-facts.ts';
import { tableDrift } from '../../../src/warehouse/control/verification.ts';
import { fillLocalTime } from '../../../src/warehouse/load/local-days.ts';
import { openFleet } from '../../support/fleet/fleet-setup.ts';
import {
  addRecords,
  expectBalance,
  openRig,
  putBefore,
  removeRecords,
  requestsOf,
} from '../../support/pull/pull-setup.ts';
import type { Rig } from '../../support/pull/rig.ts';
import { verify, wrong } from '../../support/pull/verified.ts';
import { type EngineName, engineCases } from '../../support/warehouse/engines.ts';

const NOW = '2026-03-31T15:00:00.000Z';

/** A rig with local days and a history of 12 days. */
async function readHistory(jobs: readonly string[], engine: EngineName = 'sqlite'): Promise<Rig> {
  const rig = await openRig(NOW, { vehicles: 2, churn: false }, { engine });
  await fillLocalTime(rig.engine, rig.dependencies.timezone, rig.clock.now());
  for (const job of ['vehicles', ...jobs])
    expect((await rig.run(`pull-${job}`, job === 'vehicles' ? {} : { since: '12d' })).status).toBe('ok');
  return rig;
}

describe.each(engineCases)('a verification on $name', ({ name: engine }) => {
  it('is partial if a record no longer fits its table, and with repair the quarantine has it', async () => {
    const rig = await openRig(NOW, { vehicles: 1, churn: false }, { engine });
    await addRecords(rig, 'vehicles', [{ id: 7, year: 2024 }]);
    await rig.run('pull-vehicles');
    await removeRecords(rig);
    await addRecords(rig, 'vehicles', [{ id: 7, year: 'last' }]);
    const kept = () => rig.rows('select table_name, record_key from sync_quarantine');

    const found = await verify(rig, { tables: ['vehicle'] });
    expect(found.run).toMatchObject({ status: 'partial', error: null, records: 2, unchanged: 1, quarantined: 1 });
    expect(wrong(found.rows)).toEqual([]);
    expect(await kept()).toEqual([]);

    const repaired = await verify(rig, { tables: ['vehicle'], repair: true });
    expect(repaired.run).toMatchObject({ status: 'partial', quarantined: 1 });
    expectBalance(repaired.run);
    expect(await kept()).toEqual([{ table_name: 'vehicle', record_key: '7' }]);
  });

  it('finds an event across midnight that the service no longer has, on the day on which it ends', async () => {
    const rig = await openRig(NOW, { vehicles: 2, churn: false }, { engine });
    await rig.run('pull-vehicles');
    await rig.run('pull-events', { since: '6d' });
    const tables = ['event'];
    const clean = await verify(rig, { tables });
    expect(wrong(clean.rows)).toEqual([]);

    const event = await rig.engine.read((sql) => sql('event').first());
    const night = { begin_date: '2026-03-28T02:30:00.000Z', end_date: '2026-03-28T03:30:00.000Z' };
    await rig.engine.write(({ sql }) => sql('event').insert({ ...event, ...night, id: 987_654_321 }));
    const found = await verify(rig, { tables });
    const there = { table_name: 'event', day: '2026-03-28', missing_here: 0, differing: 0, missing_there: 1 };
    expect(wrong(found.rows)).toMatchObject([there]);
    await verify(rig, { tables, repair: true });
    expect(wrong((await verify(rig, { tables })).rows)).toEqual([]);
  });

  it('updates an event whose end has moved across midnight, and finds one across midnight that is missing here', async () => {
    const rig = await openRig(NOW, { vehicles: 1, churn: false }, { engine });
    const [begin_date, end_date] = ['2026-03-28T02:30:00.000Z', '2026-03-28T03:30:00.000Z'];
    const night = [1, 2].map((id) => ({
      id: 987_654_320 + id,
      event_category: 1,
      vehicle: { id: 1_000_000 },
      begin_date,
      end_date,
    }));
    // A service that finds events by their start.
    await putBefore(rig, async (url, original) => {
      if (url.pathname !== '/event/') return undefined;
      const periods: { begin: string; end: string }[] = JSON.parse(url.searchParams.get('periods') ?? '');
      const begins = (at: string): boolean =>
        periods.some(({ begin, end }) => Date.parse(begin) <= Date.parse(at) && Date.parse(at) < Date.parse(end));
      const found = (await original()) as { begin_date: string }[];
      const trips = url.searchParams.get('event_category') === '1' ? night : [];
      return { body: [...found, ...trips].filter((each) => begins(each.begin_date)) };
    });
    await rig.run('pull-vehicles');
    await rig.run('pull-events', { since: '6d' });
    const stored = () => rig.rows('select id, end_date, _missing_since from event where id > 987654320 order by id');
    const both = night.map(({ id }) => ({ id, end_date, _missing_since: null }));
    expect(await stored()).toEqual(both);

    const [moved, lost] = night;
    await rig.engine.write(async ({ sql }) => {
      await sql('event').where({ id: moved?.id }).update({ end_date: '2026-03-28T02:50:00.000Z' });
      await sql('event').where({ id: lost?.id }).delete();
    });
    const found = await verify(rig, { tables: ['event'], repair: true });
    expect(wrong(found.rows)).toMatchObject([{ day: '2026-03-27', missing_here: 1, differing: 1, missing_there: 0 }]);
    expect(await stored()).toEqual(both);
    expect(wrong((await verify(rig, { tables: ['event'] })).rows)).toEqual([]);
  });

  it('finds itineraries of a week that only one side has, where a search returns only those that lie in its period', async () => {
    const [now, monday] = ['2026-03-26T15:00:00.000Z', '2026-03-23'];
    const rig = await openRig(now, { vehicles: 12, churn: false }, { engine });
    await rig.run('pull-itineraries');
    const week = await rig.rows(`select * from itinerary where date_time_start between '${monday}' and '2026-03-24'`);
    await rig.engine.write(async ({ sql }) => {
      await sql('itinerary').where({ id: week[0]?.id }).delete();
      await sql('itinerary').insert({ ...week[0], id: 987_654_321 });
    });
    await putBefore(rig, async (url, original) => {
      if (url.pathname !== '/itinerary/') return undefined;
      const until = Date.parse(url.searchParams.get('date_time_end') ?? '');
      const { data } = (await original()) as { data: Record<string, string>[] };
      return { body: { data: data.filter(({ date_time_end = '' }) => Date.parse(date_time_end) <= until) } };
    });
    expect(wrong((await verify(rig, { tables: ['itinerary'] })).rows)).toMatchObject([
      { table_name: 'itinerary', day: monday, missing_here: 1, missing_there: 1, differing: 0 },
    ]);
  });

  it('stores no picture and no fact unless it repairs', async () => {
    const rig = await openRig(NOW, { vehicles: 4, churn: false }, { engine });
    const { images } = rig.dependencies;
    // In the shortest slices, whose answers show what a search returns.
    await factMemory(rig.engine, 'slice scale of pull-route-plans').write(1 / 16, rig.clock.now());
    for (const job of ['pull-checklists', 'pull-route-plans']) await rig.run(job, { since: '6d' });
    const facts = () => rig.rows("select name from sync_state where name like '%searched by start%'");
    expect(await facts()).toHaveLength(1);
    await rig.engine.write(async ({ sql }) => {
      await sql('image').delete();
      await sql('sync_state').whereLike('name', '%searched by start%').delete();
    });
    rmSync(images, { recursive: true });

    const tables = ['checklist', 'route_plan'];
    const found = await verify(rig, { tables });
    const missing = wrong(found.rows).reduce((sum, { table_name, missing_here }) => {
      expect(table_name).toBe('image');
      return sum + missing_here;
    }, 0);
    expect(missing).toBeGreaterThan(0);
    expect(existsSync(images)).toBe(false);
    expect(await facts()).toEqual([]);
    await verify(rig, { tables, repair: true });
    expect(existsSync(images)).toBe(true);
    expect(await facts()).toHaveLength(1);
  });

  it('hides no row for good that the service leaves out of an answer by mistake', async () => {
    const rig = await readHistory(['events', 'daily-summaries'], engine);
    const rows = () =>
      rig.rows(
        "select 'event' as name, count(*) as n from bi_event union all select 'day', count(*) from bi_vehicle_day union all select 'events', sum(events) from bi_event_day order by name",
      );
    const reach = () =>
      rig.rows(
        'select scope, min(begin_at) as first, max(end_at) as last from sync_coverage group by scope order by scope',
      );
    const [before, reached] = [await rows(), await reach()];
    rig.sandbox.addFault({ call: 'events', fault: 'no-records', times: 10_000 });
    rig.sandbox.addFault({ call: 'daily-summary', fault: 'no-records', times: 10_000 });
    const hidden = await verify(rig, { tables: ['event', 'daily_summary'], days: '12d', repair: true });
    expect(new Set(wrong(hidden.rows).map(({ table_name, state }) => `${table_name} ${state}`))).toContain(
      'event final',
    );
    expect(await rows()).not.toEqual(before);
    // Every instant that was read first or last is still covered: no day is beyond reach, and none looks older.
    expect(await reach()).toEqual(reached);
    rig.sandbox.clearFaults();
    for (const job of ['pull-events', 'pull-daily-summaries']) await rig.run(job, { since: '1d' });
    expect(await rows()).toEqual(before);
  });

  it('hides no row that a listing leaves out which the probe has found cut off', async () => {
    const rig = await openRig(NOW, { vehicles: 12, churn: false }, { engine });
    const lists = ['vehicles', 'drivers', 'points-of-interest'];
    for (const job of lists) await rig.run(`pull-${job}`);
    await rig.run('pull-events', { since: '1d', categories: [1] });
    const shapes = JSON.stringify({ listingCap: 4 });
    await fetch(`${rig.sandbox.url}/_sandbox/shapes`, { method: 'POST', body: shapes });
    const tables = ['vehicle', 'driver', 'point_of_interest', 'event'];
    const { run, rows } = await verify(rig, { tables, probe: true, repair: true });
    expect(run.error).toBeNull();
    expect(rows.reduce((sum, { missing_there }) => sum + missing_there, 0)).toBe(0);
    for (const job of lists) await rig.run(`pull-${job}`);
    for (const name of tables)
      expect(await rig.rows(`select * from ${name} where _missing_since is not null`), name).toEqual([]);
  });

  it('computes the figures of a day anew whose events it restores, and finds rows on a wrong day', async () => {
    const rig = await readHistory(['events'], engine);
    const figures = () => rig.rows('select * from bi_event_day order by day, vehicle_id, category_id');
    const before = await figures();
    const [lost, moved] = ['2026-03-27', '2026-03-28'];
    await rig.engine.write(async ({ sql }) => {
      await sql('event').where({ _day: lost }).delete();
      await sql('event').where({ _day: moved }).update({ _day: '2020-01-01' });
    });
    const found = await verify(rig, { tables: ['event'], repair: true });
    const here = wrong(found.rows);
    expect(here.filter(({ day }) => day === lost)).toMatchObject([{ differing: 0, missing_there: 0 }]);
    expect(here.filter(({ day, differing }) => day === moved && differing > 0)).toMatchObject([
      { differing_columns: expect.stringMatching(/^{"_day":\d+}$/) },
    ]);
    expect(await figures()).toEqual(before);
    expect(wrong((await verify(rig, { tables: ['event'] })).rows)).toEqual([]);
  });

  it('counts drift that nothing has repaired, though later samples miss it', async () => {
    const rig = await readHistory(['events'], engine);
    const drifted = async () => (await tableDrift(rig.engine)).map(({ table, drifted }) => [table, drifted]);
    await rig.engine.write(({ sql }) => sql('event').where({ _day: '2026-03-20' }).update({ distance: -7 }));
    const { rows } = await verify(rig, { tables: ['event'], days: '12d' });
    const count = wrong(rows)[0]?.differing;
    expect(await drifted()).toEqual([['event', count]]);
    expect(wrong((await verify(rig, { tables: ['event'], days: '7d' })).rows)).toEqual([]);
    expect(await drifted()).toEqual([['event', count]]);
    await verify(rig, { tables: ['event'], days: '12d', repair: true });
    expect(await drifted()).toEqual([['event', count]]);
    await verify(rig, { tables: ['event'], days: '7d' });
    expect(await drifted()).toEqual([['event', 0]]);
  });

  it('counts drift of a vehicle until that vehicle is compared again, though another one of the same day is', async () => {
    const rig = await readHistory(['events'], engine);
    const drifted = async () => (await tableDrift(rig.engine)).map(({ drifted }) => drifted);
    // A slice for each vehicle.
    await factMemory(rig.engine, 'slice scale of pull-events').write(1 / 100, rig.clock.now());
    const [{ id } = {}] = await rig.rows('select min(id) as id from vehicle');
    await rig.engine.write(({ sql }) =>
      sql('event').where({ _day: '2026-03-27', vehicle_id: id }).update({ distance: -7 }),
    );
    const count = wrong((await verify(rig, { tables: ['event'] })).rows)[0]?.differing;
    expect(await drifted()).toEqual([count]);

    const { fleet } = rig.dependencies;
    await putBefore(rig, (url) =>
      url.searchParams.get('vehicles_id')?.includes(String(id)) ? { status: 400, body: {} } : undefined,
    );
    const other = await verify(rig, { tables: ['event'] });
    expect(other.run.status).toBe('partial');
    expect(other.rows.map(({ day }) => day)).toContain('2026-03-27');
    expect(await drifted()).toEqual([count]);

    rig.dependencies.fleet = fleet;
    await verify(rig, { tables: ['event'], repair: true });
    await verify(rig, { tables: ['event'] });
    expect(await drifted()).toEqual([0]);
  });

  it('counts pictures that are stored, and no drift any more once a repaired one is compared again', async () => {
    const rig = await readHistory(['checklists'], engine);
    const [{ hash } = {}] = await rig.rows(`select picture as hash from checklist_answer where picture is not null
      and checklist_id in (select id from checklist where _day < '2026-03-27')`);
    await rig.engine.write(({ sql }) => sql('image').where({ hash }).delete());
    const asked = { tables: ['checklist'], days: '12d' };
    const drift = async () => (await tableDrift(rig.engine)).find(({ table }) => table === 'image');
    await verify(rig, { ...asked, repair: true });
    const repaired = await drift();
    expect(repaired).toMatchObject({ drifted: 1 });
    expect(repaired?.drift_ratio).toBeLessThan(0.2);
    const { run, rows } = await verify(rig, asked);
    expect([run.status, wrong(rows)]).toEqual(['ok', []]);
    expectBalance(run);
    expect(await drift()).toMatchObject({ compared: repaired?.compared, drifted: 0, drift_ratio: 0 });
  });

  it('counts no drift any more once a repaired day is compared again, though it has no row', async () => {
    const rig = await readHistory(['events'], engine);
    const [one] = await rig.rows("select * from event where _day = '2026-03-27'");
    rig.sandbox.addFault({ call: 'events', fault: 'no-records', times: 100_000 });
    const asked = { tables: ['event'], days: '12d', repair: true };
    await rig.engine.write(({ sql }) => sql('event').delete());
    const final = async () => {
      await rig.run('pull-events', { since: '12d' });
      return (await verify(rig, asked)).rows.filter(({ state }) => state === 'final');
    };
    expect((await final()).reduce((sum, { compared }) => sum + compared, 0)).toBe(0);
    expect(await tableDrift(rig.engine)).toEqual([]);
    await rig.engine.write(({ sql }) => sql('event').insert(one));
    await verify(rig, asked);
    expect(await tableDrift(rig.engine)).toMatchObject([{ table: 'event', drifted: 1, drift_ratio: 1 }]);
    await final();
    expect(await tableDrift(rig.engine)).toMatchObject([{ table: 'event', compared: 0, drifted: 0, drift_ratio: 0 }]);
  });

  it('compares an hour with too many plans for the memory', async () => {
    const rig = await openRig(NOW, { vehicles: 1, churn: false }, { engine });
    const [start, end] = ['2026-03-28T20:15:00.000Z', '2026-03-28T23:00:00.000Z'];
    const plans = Array.from({ length: 1_001 }, (_, index) => ({
      id: index + 1,
      status: 'C',
      date_time_start: start,
      date_time_end: end,
    }));
    await putBefore(rig, (url) => {
      if (url.pathname !== '/import/route_plan') return undefined;
      const [id, from = '', to = ''] = ['route_plan_id', 'begin_date', 'end_date'].map((name) =>
        url.searchParams.get(name),
      );
      const isSearched = Date.parse(from ?? '') < Date.parse(end) && Date.parse(to ?? '') > Date.parse(start);
      return { body: { data: id === null ? (isSearched ? plans : []) : plans.slice(Number(id) - 1, Number(id)) } };
    });
    expect(await rig.run('pull-route-plans', { since: '4d' })).toMatchObject({ status: 'ok', inserted: 1_001 });
    const { run, rows } = await verify(rig, { tables: ['route_plan'] });
    expect(run).toMatchObject({ status: 'ok', error: null });
    expect(rows.filter(({ compared }) => compared > 0)).toMatchObject([
      { day: '2026-03-28', compared: 1_001, equal: 1_001 },
    ]);
  });

  it('leaves out plans and itineraries that every run reads by id, and compares the others of their day', async () => {
    const [now, monday, friday] = ['2026-03-27T15:00:00.000Z', '2026-03-23', '2026-03-20'];
    const rig = await openRig(now, { vehicles: 12, churn: false }, { engine });
    const jobs = (await loadJobs()).map((job) => [job.name, { options: job.options.parse({}) }]);
    await fillTableJobs(rig.engine, tableJobs(await loadJobs(), { jobs: Object.fromEntries(jobs) }));
    await fillLocalTime(rig.engine, rig.dependencies.timezone, rig.clock.now());
    for (const job of ['pull-itineraries', 'pull-route-plans'])
      expect((await rig.run(job, { since: '12d' })).status).toBe('ok');
    const plansOf = (day: string): Promise<{ id: number }[]> =>
      rig.engine.read((sql) => sql('route_plan').where({ _day: day }).orderBy('id').select('id'));
    const damage = (table: string, id: unknown, values: object) =>
      rig.engine.write(({ sql }) => sql(table).where({ id }).update(values));
    // The warehouse has seen this plan under way; the service has finished it since.
    const [open, settled] = await plansOf(monday);
    await damage('route_plan', open?.id, { status: 'S' });
    await damage('route_plan', settled?.id, { source: 'forged' });
    await damage('route_plan', (await plansOf(friday))[0]?.id, { source: 'forged' });
    // The itineraries of the week end tonight.
    const [week] = await rig.rows(
      `select id from itinerary where date_time_start between '${monday}' and '2026-03-24'`,
    );
    await damage('itinerary', week?.id, { description: 'forged' });

    let searches = 0;
    await rig.engine.read(async (reader) => {
      reader.on('query', ({ sql }: { sql: string }) => {
        if (sql.includes('as dated')) searches++;
      });
    });
    const { rows } = await verify(rig, { tables: ['route_plan', 'itinerary'], days: '8d' });
    expect(searches).toBe(1);
    expect(wrong(rows)).toMatchObject([
      { table_name: 'route_plan', day: friday, state: 'final', differing: 1 },
      { table_name: 'route_plan', day: monday, state: 'final', differing_columns: '{"source":1}' },
    ]);
  });
});

it('finds and repairs values that no run has stored', async () => {
  const rig = await readHistory(['events', 'checklists']);
  const [event] = await rig.rows("select * from event where _day = '2026-03-27'");
  const [checklist] = await rig.rows("select * from checklist where _day = '2026-03-27'");
  await rig.engine.write(async ({ sql }) => {
    await sql('event').where({ id: event?.id }).update({ begin_date: '2026-03-27T2x', end_date: '2026-03-28T05:00' });
    await sql('checklist').where({ id: checklist?.id }).update({ extra: 'not json' });
  });
  const tables = ['event', 'checklist'];
  const found = await verify(rig, { tables, repair: true });
  expect(found.run.status).toBe('ok');
  expect(wrong(found.rows)).toMatchObject([
    { table_name: 'checklist', differing_columns: '{"extra":1}' },
    { table_name: 'event', differing_columns: '{"begin_date":1,"end_date":1}' },
  ]);
  expect(wrong((await verify(rig, { tables })).rows)).toEqual([]);
});

it('goes on with other tables if the service rejects the calls of one', async () => {
  const rig = await readHistory(['events']);
  rig.sandbox.addFault({ call: 'events', fault: '403', times: 1_000 });
  const { run, rows } = await verify(rig, { tables: ['vehicle', 'event'] });
  expect(run).toMatchObject({ status: 'partial', error: { code: 'forbidden' } });
  expect(rows.map(({ table_name }) => table_name)).toEqual(['vehicle']);
});

it('logs in once where the service rejects the login', async () => {
  const rig = await readHistory(['events']);
  const settings = { credentials: { userName: 'x', password: 'wrong' }, password: 'wrong' } as never;
  rig.dependencies.fleet = openFleet(rig.sandbox.url, rig.sandbox, { settings }).fleet;
  const logins = requestsOf(rig, 'login');
  const { run } = await verify(rig, { tables: ['vehicle', 'event'] });
  expect(run).toMatchObject({ status: 'failed', error: { code: 'login_refused' } });
  expect(requestsOf(rig, 'login')).toBe(logins + 1);
});
