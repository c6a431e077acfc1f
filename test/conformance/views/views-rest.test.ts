// The views of checklists, pushes and freshness on hand-made data, and how views follow the schema.
import { describe, expect, it } from 'vitest';
import { fillTableJobs } from '../../../src/warehouse/control/config-tables.ts';
import { tableFreshness } from '../../../src/warehouse/queries/table-freshness.ts';
import { baseTables } from '../../../src/warehouse/schema/catalog.ts';
import { bringSchemaUpToDate } from '../../../src/warehouse/schema/converge.ts';
import { migrations } from '../../../src/warehouse/schema/migrations.ts';
import { viewQuery } from '../../../src/warehouse/schema/view.ts';
import { views } from '../../../src/warehouse/schema/view-catalog.ts';
import { checklist } from '../../../src/warehouse/tables/checklist.ts';
import { checklistAnswer } from '../../../src/warehouse/tables/checklist-answer.ts';
import { driver } from '../../../src/warehouse/tables/driver.ts';
import { image } from '../../../src/warehouse/tables/image.ts';
import { vehicle } from '../../../src/warehouse/tables/vehicle.ts';
import { biCalendar } from '../../../src/warehouse/views/bi-calendar.ts';
import { biFreshness } from '../../../src/warehouse/views/bi-freshness.ts';
import { engineCases } from '../../support/warehouse/engines.ts';
import { openViews, query, useViews } from '../../support/warehouse/view-place.ts';

useViews();

/** The scope of events of a vehicle, as a job declares it. */
const EVENTS_OF = 'vehicle % categories all';

const coverage = (job: string, scope: string, from: string, to: string, at: string) => ({
  job,
  scope,
  begin_at: from,
  end_at: to,
  covered_at: at,
  run_id: 'run-1',
});

const run = (run_id: string, job: string, finished: string | null, changed: number) => ({
  run_id,
  job,
  cause: 'manual',
  status: finished === null ? 'running' : 'ok',
  started_at: `2026-03-1${run_id}T00:00:00.000Z`,
  finished_at: finished,
  host: 'here',
  pid: 1,
  slices: 0,
  requests: 0,
  retries: 0,
  records: 0,
  inserted: changed,
  updated: 0,
  unchanged: 0,
  quarantined: 0,
  sent: 0,
  confirmed: 0,
  rejected: 0,
  unknown: 0,
});

describe.each(engineCases)('the other views on $name', (engineCase) => {
  it('show the answers of checklists with question, risk, person and picture', async () => {
    const place = await openViews(engineCase);
    await place.load(driver, [
      { id: 50, user_id: 5, name: 'Ana', cost_center: { id: 1, name: 'Sales' } },
      { id: 60, user_id: 6, name: 'Two' },
      { id: 61, user_id: 6, name: 'of them' },
    ]);
    await place.load(checklist, [
      {
        id: 1,
        checklist_form: { id: 9, name: 'Departure' },
        user: { id: 5, name: 'Ana' },
        date_executed: '2026-03-10T02:59:00.000Z',
        date_created: '2026-03-10T03:01:00.000Z',
      },
      { id: 2, user_id: 6 },
    ]);
    await place.load(checklistAnswer, [
      {
        id: 100,
        checklist_id: 1,
        value: 'Worn',
        risk_level: 'H',
        picture: 'a.png',
        checklist_form_field: { id: 3, name: 'Tyres', type: 'list', order: 2 },
      },
      { id: 101, checklist_id: 2, value: 'Fine', risk_level: 'Z' },
      { id: 102, checklist_id: 404, value: 'Lonely', risk_level: 'M', picture: '' },
    ]);
    await place.load(image, [{ hash: 'a.png', file: 'aa/a.png', fetched_at: '2026-03-10T04:00:00.000Z', attempts: 1 }]);
    const columns = [
      'answer_id',
      'form_name',
      'day',
      'executed_local',
      'agent_name',
      'driver_id',
      'cost_center_name',
      'question',
      'answer',
      'risk',
      'is_high_risk',
      'has_picture',
      'picture_file',
    ];
    expect(await place.rows('bi_checklist_answer', columns)).toEqual([
      [
        100,
        'Departure',
        '2026-03-09',
        '2026-03-09 23:59:00',
        'Ana',
        50,
        'Sales',
        'Tyres',
        'Worn',
        'high',
        true,
        true,
        'aa/a.png',
      ],
      [101, null, null, null, null, null, null, null, 'Fine', 'Z', false, false, null],
      [102, null, null, null, null, null, null, null, 'Lonely', 'medium', false, false, null],
    ]);
  });

  it('show pushes, their duration and which need a person', async () => {
    const place = await openViews(engineCase);
    const entry = (external_code: string, state: string, rest: object) => ({
      kind: 'route_plans',
      external_code,
      state,
      content_hash: 'x',
      remote_key: external_code,
      attempts: 1,
      unclear_sends: 0,
      created_at: '2026-03-10T12:00:00.000Z',
      updated_at: '2026-03-10T12:00:00.000Z',
      revision: 1,
      ...rest,
    });
    await place.insert('push_outbox', [
      entry('A', 'confirmed', {
        remote_id: 77,
        sent_hash: 'x',
        sent_at: '2026-03-10T12:00:05.000Z',
        confirmed_at: '2026-03-10T12:01:00.000Z',
      }),
      entry('B', 'rejected', { message: 'no such plate' }),
      entry('C', 'confirmed', { sent_hash: 'older' }),
      entry('D', 'ready', {}),
      entry('E', 'confirmed', { sent_hash: 'x', attention: 'found_twice' }),
      entry('E', 'confirmed', { sent_hash: 'x', code_use: 2 }),
      entry('F', 'confirmed', { sent_hash: 'x', reasons: '["point not assigned: S1"]' }),
    ]);
    const attempt = (number: number, error_code: string | null, of: object = { external_code: 'B' }) => ({
      kind: 'route_plans',
      ...of,
      number,
      what: 'create',
      started_at: '2026-03-10T12:00:00.000Z',
      error_code,
      times: 1,
    });
    await place.insert('push_attempt', [attempt(1, 'timeout'), attempt(2, 'rejected'), attempt(3, null)]);
    await place.insert('push_attempt', [attempt(1, 'timeout', { external_code: 'E', code_use: 2 })]);
    const columns = [
      'code',
      'state',
      'is_confirmed',
      'needs_attention',
      'remote_id',
      'created_local',
      'sent_local',
      'seconds_to_confirm',
      'last_error_code',
    ];
    expect(await place.rows('bi_push', columns)).toEqual([
      ['A', 'confirmed', true, false, 77, '2026-03-10 09:00:00', '2026-03-10 09:00:05', 60, null],
      ['B', 'rejected', false, true, null, '2026-03-10 09:00:00', null, null, 'rejected'],
      ['C', 'confirmed', true, true, null, '2026-03-10 09:00:00', null, null, null],
      ['D', 'ready', false, false, null, '2026-03-10 09:00:00', null, null, null],
      ['E', 'confirmed', true, false, null, '2026-03-10 09:00:00', null, null, 'timeout'],
      ['E', 'confirmed', true, true, null, '2026-03-10 09:00:00', null, null, null],
      ['F', 'confirmed', true, true, null, '2026-03-10 09:00:00', null, null, null],
    ]);
    const kept = (await query(place.engine, 'select * from bi_push'))[0] ?? {};
    expect(Object.keys(kept)).not.toContain('payload');
  });

  it('report freshness by the stalest scope that counts, as status does', async () => {
    const place = await openViews(engineCase);
    await place.load(vehicle, [{ id: 1 }, { id: 2 }]);
    await fillTableJobs(place.engine, [
      { table_name: 'vehicle', job: 'pull-vehicles', scopes: '%', vehicle_scope: null, driver_scope: null },
      {
        table_name: 'event',
        job: 'pull-events',
        scopes: '%categories all',
        vehicle_scope: EVENTS_OF,
        driver_scope: null,
      },
    ]);
    const [a, b, c] = ['2026-03-10T00:00:00.000Z', '2026-03-11T00:00:00.000Z', '2026-03-12T00:00:00.000Z'];
    await place.insert('sync_coverage', [
      coverage('pull-vehicles', 'all', a, b, c),
      coverage('pull-events', 'vehicle 1 categories all', a, b, b),
      coverage('pull-events', 'vehicle 1 categories all', c, c, c),
      coverage('pull-events', 'vehicle 2 categories all', a, a, b),
      coverage('pull-events', 'vehicle 1 categories 1,2', a, a, a),
      coverage('backfill of pull-events', 'vehicle 1 categories all', a, a, a),
    ]);
    await place.insert('sync_run', [
      run('1', 'pull-vehicles', b, 2),
      run('2', 'pull-vehicles', c, 0),
      run('3', 'pull-vehicles', null, 0),
    ]);
    const columns = ['table_name', 'row_count', 'last_change_at', 'last_read_at', 'covered_until'];
    const found = await place.rows('bi_freshness', columns);
    expect(found.map(([name]) => name)).toEqual(baseTables.map(({ name }) => name));
    expect(found.filter(([, , , read]) => read !== null)).toEqual([
      ['event', 0, null, b, a],
      ['vehicle', 2, b, c, b],
    ]);
    const freshness = await tableFreshness(place.engine, [
      { job: 'pull-events', tracks: (scope) => scope.endsWith('categories all'), partScopes: [EVENTS_OF] },
    ]);
    // The read on the 11th reaches only to the 10th.
    expect(freshness).toMatchObject({ freshAt: a, lastChangeAt: null });
    const [event] = await query(place.engine, `select freshness_seconds from bi_freshness where table_name = 'event'`);
    const ageSeconds = (Date.now() - Date.parse(a)) / 1_000;
    expect(Math.abs(Number(event?.freshness_seconds) - ageSeconds)).toBeLessThan(3_600);
  });

  it('report no table as complete while a known vehicle was not read, as status does', async () => {
    const place = await openViews(engineCase);
    const [known, read, end] = ['2026-03-09T00:00:00.000Z', '2026-03-11T00:00:00.000Z', '2026-03-10T00:00:00.000Z'];
    await fillTableJobs(place.engine, [
      {
        table_name: 'event',
        job: 'pull-events',
        scopes: '%categories all',
        vehicle_scope: EVENTS_OF,
        driver_scope: null,
      },
    ]);
    await place.load(vehicle, [{ id: -1 }, { id: 1 }, { id: 11 }], known);
    const event = async (): Promise<unknown[]> => {
      const columns = ['last_read_at', 'covered_until', 'freshness_seconds'];
      const [row] = await place.rows('bi_freshness', columns, `table_name = 'event'`);
      const fresh = await tableFreshness(place.engine, [
        { job: 'pull-events', tracks: () => true, partScopes: [EVENTS_OF] },
      ]);
      const days = Math.round((Date.now() - Number(row?.[2]) * 1_000 - Date.parse(known)) / 86_400_000);
      return [row?.[0], row?.[1], row?.[2] === null ? null : days, fresh.freshAt];
    };
    expect(await event(), 'nothing was read').toEqual([null, null, null, null]);
    await place.insert('sync_coverage', [coverage('pull-events', 'vehicle 1 categories all', known, end, read)]);
    expect(await event(), 'vehicle 11 was not').toEqual([null, null, 0, known]);
    await place.insert('sync_coverage', [coverage('pull-events', 'vehicle 11 categories all', known, end, read)]);
    expect(await event(), 'all were').toEqual([read, end, 1, end]);
  });

  it('report daily figures as complete once the drivers of every vehicle were read too, as status does', async () => {
    const place = await openViews(engineCase);
    const [known, at] = ['2026-03-09T00:00:00.000Z', '2026-03-11T00:00:00.000Z'];
    const job = 'pull-daily-summaries';
    const [vehicle_scope, driver_scope] = ['vehicle %', 'drivers of vehicle %'];
    await fillTableJobs(place.engine, [{ table_name: 'daily_summary', job, scopes: '%', vehicle_scope, driver_scope }]);
    await place.load(vehicle, [{ id: 1 }, { id: 2 }], known);
    const freshness = async (): Promise<unknown[]> => {
      const columns = ['last_read_at', 'covered_until'];
      const [row = []] = await place.rows('bi_freshness', columns, `table_name = 'daily_summary'`);
      const filler = { job, tracks: () => true, partScopes: [vehicle_scope, driver_scope] };
      return [...row, (await tableFreshness(place.engine, [filler])).freshAt];
    };
    const read = (...scopes: string[]) =>
      place.insert(
        'sync_coverage',
        scopes.map((scope) => coverage(job, scope, known, at, at)),
      );
    await read('vehicle 1', 'vehicle 2', 'drivers', 'drivers of vehicle 1');
    expect(await freshness(), 'not those of vehicle 2').toEqual([null, null, known]);
    await read('drivers of vehicle 2');
    expect(await freshness(), 'all').toEqual([at, at, at]);
  });

  it('have the declared columns, in their order', async () => {
    const place = await openViews(engineCase);
    for (const { name, columns } of views) {
      const found = await place.engine.read((sql) => place.engine.columnsOf(sql, name));
      expect({ name, columns: found }).toEqual({ name, columns: columns.map((column) => column.name) });
    }
  });

  it('are dropped for a migration of the tables under them, and come back', async () => {
    const place = await openViews(engineCase);
    await place.load(vehicle, [{ id: 1, plate: 'ABC1D23' }]);
    const move = {
      name: '1 plate',
      up: async (sql: { raw(text: string): unknown }) => {
        await sql.raw('alter table vehicle rename column plate to old_plate');
        await sql.raw('alter table vehicle add column plate text');
        await sql.raw('update vehicle set plate = lower(old_plate)');
        await sql.raw('alter table vehicle drop column old_plate');
      },
    };
    await bringSchemaUpToDate(place.engine, [...migrations, move as never]);
    const [row] = await query(place.engine, 'select plate from vehicle');
    expect(row).toEqual({ plate: 'abc1d23' });
    for (const { name } of views) await query(place.engine, `select * from ${name} limit 1`);
  });

  it('are created again where their text changed or they are gone, and untouched otherwise', async () => {
    const place = await openViews(engineCase);
    const { engine } = place;
    await engine.write(async ({ sql }) => {
      await sql.raw('drop view bi_push');
      await engine.replaceView(sql, 'bi_event', 'select 1 as old');
      const freshness = viewQuery(biFreshness, engine.dialect);
      await engine.replaceView(sql, 'bi_freshness', `select * from (${freshness}) as old where false`);
      await sql('schema_view').where({ name: 'bi_freshness' }).update({ hash: 'of the old text' });
      await engine.replaceView(sql, 'bi_gone', 'select 1 as gone');
      await sql('schema_view').insert({ name: 'bi_gone', hash: 'x' });
      const calendar = viewQuery(biCalendar, engine.dialect);
      await engine.replaceView(sql, 'bi_calendar', `select * from (${calendar}) as kept where false`);
    });
    await bringSchemaUpToDate(engine);
    const columnsOf = (name: string) => engine.read((sql) => engine.columnsOf(sql, name));
    expect(await columnsOf('bi_push')).toContain('state');
    expect(await columnsOf('bi_event')).toContain('begin_local');
    expect(await query(engine, 'select table_name from bi_freshness')).not.toEqual([]);
    expect(await columnsOf('bi_gone')).toBeUndefined();
    expect(await query(engine, 'select day from bi_calendar')).toEqual([]);
  });
});
