// The views of days on hand-made data: local time across clock changes, figures of vehicles and drivers, and when a
// day is final.
import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import { fillLocalTime } from '../../../src/warehouse/load/local-days.ts';
import { dailySummary } from '../../../src/warehouse/tables/daily-summary.ts';
import { driver } from '../../../src/warehouse/tables/driver.ts';
import { event } from '../../../src/warehouse/tables/event.ts';
import { vehicle } from '../../../src/warehouse/tables/vehicle.ts';
import { engineCases } from '../../support/warehouse/engines.ts';
import { openViews, query, useViews, type ViewPlace } from '../../support/warehouse/view-place.ts';

useViews();

const summary = (day: string, title: string, rest: object = {}) => ({
  day,
  subject: 'vehicle',
  title,
  ...rest,
});

/** The job has read the scopes last at `at`. */
async function readAt(place: ViewPlace, at: string, scopes: string[]): Promise<void> {
  await place.insert('table_job', [{ table_name: 'daily_summary', job: 'pull-daily-summaries', scopes: '%' }]);
  await place.insert(
    'sync_coverage',
    scopes.map((scope) => ({
      job: 'pull-daily-summaries',
      scope,
      begin_at: '2026-03-01T03:00:00.000Z',
      end_at: at,
      covered_at: at,
      run_id: 'run-1',
    })),
  );
}

describe.each(engineCases)('the views of days on $name', (engineCase) => {
  it('accept a date at the end of time', async () => {
    const place = await openViews(engineCase);
    const end = '9999-12-31T23:59:59.000Z';
    await place.load(event, [{ id: 1, event_category: 1, begin_date: '2026-03-02T12:00:00.000Z', end_date: end }]);
    const [[seconds] = []] = await place.rows('bi_event', ['duration_seconds']);
    expect(seconds).toBe((Date.parse(end) - Date.parse('2026-03-02T12:00:00Z')) / 1_000);
  });

  it('call no day final that was read only in part', async () => {
    const place = await openViews(engineCase);
    await place.load(vehicle, [{ id: 1, plate: 'P1' }]);
    await place.load(dailySummary, [
      summary('2026-03-05', 'P1', { vehicle_id: 1 }),
      { day: '2026-03-05', subject: 'driver', title: 'Ana' },
    ]);
    await place.insert('table_job', [{ table_name: 'daily_summary', job: 'pull-daily-summaries', scopes: '%' }]);
    const read = { job: 'pull-daily-summaries', scope: 'vehicle 1', run_id: 'run-1' };
    const at = '2026-03-19T12:00:00.000Z';
    await place.insert('sync_coverage', [
      { ...read, begin_at: '2026-03-01T03:00:00.000Z', end_at: '2026-03-05T17:00:00.000Z', covered_at: at },
      { ...read, begin_at: '2026-03-06T03:00:00.000Z', end_at: at, covered_at: at },
      { ...read, scope: 'vehicle 2', begin_at: '2026-03-01T03:00:00.000Z', end_at: at, covered_at: at },
    ]);
    expect(await place.rows('bi_vehicle_day', ['day', 'is_final'])).toEqual([['2026-03-05', false]]);
    expect(await place.rows('bi_driver_day', ['day', 'is_final'])).toEqual([['2026-03-05', false]]);
    const covered = await place.rows('bi_freshness', ['covered_until'], `table_name = 'daily_summary'`);
    expect(covered).toEqual([['2026-03-05T17:00:00.000Z']]);
  });

  it('show events on the wall clock, across both clock changes', async () => {
    const place = await openViews(engineCase, 'America/New_York');
    await place.load(vehicle, [{ id: 1, title: 'Van', fleet: { id: 4, name: 'East' } }]);
    const at = (id: number, begin: string, end: string | null, vehicleId = 1) => ({
      id,
      event_category: 1,
      begin_date: begin,
      end_date: end,
      distance: 10,
      vehicle: { id: vehicleId, plate: `P${vehicleId}` },
    });
    await place.load(event, [
      at(1, '2026-03-08T06:59:59.900Z', '2026-03-08T07:00:00.100Z'),
      at(2, '2026-03-08T07:00:00.000Z', '2026-03-09T04:00:00.000Z'),
      at(3, '2026-11-01T05:30:00.000Z', '2026-11-01T06:30:00.000Z'),
      at(4, '2026-11-02T04:59:59.999Z', null, 2),
      { id: 5, event_category: 777 },
      at(6, '2026-03-10T03:59:59.900Z', null, 2),
    ]);
    const columns = [
      'event_id',
      'category',
      'day',
      'hour',
      'begin_local',
      'end_local',
      'duration_seconds',
      'vehicle_plate',
      'fleet_name',
    ];
    expect(await place.rows('bi_event', columns)).toEqual([
      [1, 'Trip', '2026-03-08', 1, '2026-03-08 01:59:59', '2026-03-08 03:00:00', 1, 'P1', 'East'],
      [2, 'Trip', '2026-03-08', 3, '2026-03-08 03:00:00', '2026-03-09 00:00:00', 75_600, 'P1', 'East'],
      [3, 'Trip', '2026-11-01', 1, '2026-11-01 01:30:00', '2026-11-01 01:30:00', 3_600, 'P1', 'East'],
      [4, 'Trip', '2026-11-01', 23, '2026-11-01 23:59:59', null, null, 'P2', null],
      [5, null, null, null, null, null, null, null, null],
      [6, 'Trip', '2026-03-09', 23, '2026-03-09 23:59:59', null, null, 'P2', null],
    ]);
  });

  it('give each local day its bounds, even where midnight does not exist', async () => {
    const place = await openViews(engineCase);
    const columns = ['day', 'begin_at', 'end_at', 'hours', 'week', 'week_start', 'weekday', 'is_weekend'];
    const days = `day in ('2018-11-03', '2018-11-04', '2019-02-16', '2024-12-30')`;
    expect(await place.rows('bi_calendar', columns, days)).toEqual([
      ['2018-11-03', '2018-11-03T03:00:00.000Z', '2018-11-04T03:00:00.000Z', 24, 44, '2018-10-29', 6, true],
      ['2018-11-04', '2018-11-04T03:00:00.000Z', '2018-11-05T02:00:00.000Z', 23, 44, '2018-10-29', 7, true],
      ['2019-02-16', '2019-02-16T02:00:00.000Z', '2019-02-17T03:00:00.000Z', 25, 7, '2019-02-11', 6, true],
      ['2024-12-30', '2024-12-30T03:00:00.000Z', '2024-12-31T03:00:00.000Z', 24, 1, '2024-12-30', 1, false],
    ]);
    const months = ['day', 'year', 'quarter', 'month', 'month_start', 'weekday_name', 'zone'];
    expect(await place.rows('bi_calendar', months, `day = '2026-08-31'`)).toEqual([
      ['2026-08-31', 2026, 3, 8, '2026-08-01', 'Monday', 'America/Sao_Paulo'],
    ]);
  });

  it.each(['Australia/Lord_Howe', 'America/Havana', 'Asia/Kathmandu', 'Pacific/Apia'])(
    'agree with Temporal on every day of %s',
    async (zone) => {
      const place = await openViews(engineCase, zone);
      const days = await place.rows('bi_calendar', ['day', 'begin_at', 'end_at', 'week']);
      expect(days).toHaveLength(4_749);
      for (const [day, beginAt, endAt, week] of days) {
        const date = Temporal.PlainDate.from(day as string);
        const start = (of: Temporal.PlainDate) => new Date(of.toZonedDateTime(zone).epochMilliseconds).toISOString();
        expect([day, beginAt, endAt, week]).toEqual([day, start(date), start(date.add({ days: 1 })), date.weekOfYear]);
      }
    },
  );

  it('count the days before today', async () => {
    const place = await openViews(engineCase);
    await fillLocalTime(place.engine, 'UTC', Date.now());
    const [today] = await query(place.engine, 'select begin_at, end_at from bi_calendar where days_ago = 0');
    const [yesterday] = await query(place.engine, 'select end_at from bi_calendar where days_ago = 1');
    expect(yesterday?.end_at).toEqual(today?.begin_at);
    const between = await query(
      place.engine,
      `select day from bi_calendar where ${place.engine.dialect.now} >= begin_at
       and ${place.engine.dialect.now} < end_at and days_ago = 0`,
    );
    expect(between).toHaveLength(1);
  });

  it('follow a change of the time zone', async () => {
    const place = await openViews(engineCase);
    await place.load(event, [{ id: 1, event_category: 1, begin_date: '2026-03-10T01:00:00.000Z' }]);
    expect(await place.rows('bi_event', ['day', 'begin_local'])).toEqual([['2026-03-09', '2026-03-09 22:00:00']]);
    await fillLocalTime(place.engine, 'Asia/Tokyo', Date.parse('2026-03-20T00:00:00.000Z'));
    expect(await place.rows('bi_event', ['day', 'begin_local'])).toEqual([['2026-03-10', '2026-03-10 10:00:00']]);
    expect(await place.rows('bi_calendar', ['begin_at', 'zone'], `day = '2026-03-10'`)).toEqual([
      ['2026-03-09T15:00:00.000Z', 'Asia/Tokyo'],
    ]);
  });

  it('show the use of vehicles and drivers, known or not', async () => {
    const place = await openViews(engineCase);
    await place.load(vehicle, [{ id: 1, title: 'Van', cost_center: { id: 2, name: 'Sales' } }]);
    await place.load(driver, [{ id: 5, name: 'Ana', department: { id: 1, name: 'Night' } }]);
    const figures = {
      count_travel: 3,
      total_distance: 1_000,
      total_time_in_moviment: 600,
      total_time_in_ignition_on: 800,
      total_time_in_ignition_off: 1_600,
      count_high_speed: 2,
      total_time_in_high_speed: 30,
    };
    await place.load(dailySummary, [
      summary('2026-03-10', 'ABC', { vehicle_id: 1, ...figures }),
      summary('2026-03-10', 'XYZ', { total_time_in_ignition_on: 0, total_time_in_ignition_off: 0 }),
      { day: '2026-03-10', subject: 'driver', title: 'Ana', driver_id: 5, total_distance: 7 },
      { day: '2026-03-10', subject: 'driver', title: 'Unknown', total_distance: 8 },
    ]);
    await place.load(
      dailySummary,
      [summary('2026-03-10', 'ABC', { vehicle_id: 1, ...figures, total_distance: 1_020 })],
      '2026-03-21T00:00:00.000Z',
    );
    const columns = [
      'vehicle_plate',
      'vehicle_id',
      'vehicle_title',
      'cost_center_name',
      'distance',
      'idle_time',
      'utilisation',
      'idle_share',
      'speeding_count',
      'recalculations',
    ];
    expect(await place.rows('bi_vehicle_day', columns)).toEqual([
      ['ABC', 1, 'Van', 'Sales', 1_020, 200, 0.25, 0.25, 2, 1],
      ['XYZ', null, null, null, null, null, null, null, null, 0],
    ]);
    const ofDriver = ['driver_name', 'driver_id', 'department_name', 'distance'];
    expect(await place.rows('bi_driver_day', ofDriver)).toEqual([
      ['Ana', 5, 'Night', 7],
      ['Unknown', null, null, 8],
    ]);
  });

  it('call a day final three days after its end while no lag was measured', async () => {
    const place = await openViews(engineCase);
    await place.load(dailySummary, [
      summary('2026-03-15', 'ABC', { vehicle_id: 1 }),
      summary('2026-03-16', 'ABC', { vehicle_id: 1 }),
      summary('2026-03-15', 'OLD', { vehicle_id: 2 }),
      summary('2026-03-15', 'NOBODY'),
      { day: '2026-03-15', subject: 'driver', title: 'Ana' },
      { day: '2026-03-16', subject: 'driver', title: 'Ana' },
    ]);
    const columns = ['day', 'vehicle_plate', 'is_final', 'arrival_lag_seconds'];
    const ofVehicles = (final: boolean) => [
      ['2026-03-15', 'ABC', final, 259_200],
      ['2026-03-15', 'NOBODY', final, 259_200],
      ['2026-03-15', 'OLD', false, 259_200],
      ['2026-03-16', 'ABC', false, 259_200],
    ];
    expect(await place.rows('bi_vehicle_day', columns)).toEqual(ofVehicles(false));
    await readAt(place, '2026-03-19T03:00:00.000Z', ['vehicle 1', 'drivers']);
    await place.insert('sync_coverage', [
      {
        job: 'pull-daily-summaries',
        scope: 'vehicle 2',
        begin_at: '2026-03-01T03:00:00.000Z',
        end_at: '2026-03-16T03:00:00.000Z',
        covered_at: '2026-03-17T03:00:00.000Z',
        run_id: 'run-1',
      },
    ]);
    expect(await place.rows('bi_vehicle_day', columns)).toEqual(ofVehicles(true));
    expect(await place.rows('bi_driver_day', ['day', 'is_final'])).toEqual([
      ['2026-03-15', true],
      ['2026-03-16', false],
    ]);
  });

  it('measure how long a day keeps changing, on observed days', async () => {
    const place = await openViews(engineCase);
    const watched = Array.from({ length: 100 }, (_, id) => ({ id, day: '2026-03-10', title: `V${id}` }));
    const rows = (distance: number, some = watched) =>
      some.map(({ id, day, title }) => summary(day, title, { vehicle_id: id, total_distance: distance }));
    // The day ends on 11 March at 03:00 UTC. All are read before; one changes an hour after, one forty hours after.
    await place.load(dailySummary, rows(1), '2026-03-10T20:00:00.000Z');
    await place.load(dailySummary, rows(2, watched.slice(0, 1)), '2026-03-11T04:00:00.000Z');
    await place.load(dailySummary, rows(3, watched.slice(1, 2)), '2026-03-12T19:00:00.000Z');
    // History that was first read much later says nothing about the lag.
    await place.load(dailySummary, [summary('2026-03-05', 'V1', { vehicle_id: 1 })], '2026-03-14T00:00:00.000Z');
    await place.load(dailySummary, [summary('2026-03-15', 'V1', { vehicle_id: 1 })], '2026-03-16T04:00:00.000Z');
    await place.load(dailySummary, [summary('2026-03-15', 'V2', { vehicle_id: 2 })], '2026-03-16T04:00:00.000Z');
    await readAt(place, '2026-03-16T04:00:00.000Z', ['vehicle 1']);
    await place.insert('sync_coverage', [
      {
        job: 'pull-daily-summaries',
        scope: 'vehicle 2',
        begin_at: '2026-03-01T03:00:00.000Z',
        end_at: '2026-03-16T03:59:59.000Z',
        covered_at: '2026-03-16T03:59:59.000Z',
        run_id: 'run-1',
      },
    ]);
    const columns = ['vehicle_plate', 'arrival_lag_seconds', 'is_final'];
    expect(await place.rows('bi_vehicle_day', columns, `day = '2026-03-15'`)).toEqual([
      ['V1', 3_600, true],
      ['V2', 3_600, false],
    ]);
  });
});
