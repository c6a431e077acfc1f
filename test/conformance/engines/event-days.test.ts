// event_day has the figures of the events, whatever changes them; and rows have the local day of the configured zone.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Engine, Row } from '../../../src/warehouse/engine.ts';
import { fillLocalTime } from '../../../src/warehouse/load/local-days.ts';
import { rowMapping } from '../../../src/warehouse/load/row-mapping.ts';
import { deleteOutdated } from '../../../src/warehouse/retention.ts';
import { event } from '../../../src/warehouse/tables/event.ts';
import { engineCases } from '../../support/warehouse/engines.ts';
import { metadataAt } from '../../support/warehouse/load-metadata.ts';
import { openViews, query, useViews, type ViewPlace } from '../../support/warehouse/view-place.ts';

useViews();

const NOW = Date.parse('2026-03-20T00:00:00.000Z');

/** Midnight in Sao Paulo is at 03:00 UTC. */
const record = (id: number, begin: string, minutes = 10, vehicleId = 7) => ({
  event_category: 2,
  id,
  begin_date: `2026-${begin}:00.000Z`,
  end_date: new Date(Date.parse(`2026-${begin}:00.000Z`) + minutes * 60_000).toISOString(),
  distance: 100,
  vehicle: { id: vehicleId },
});

const rowOf = (id: number, begin: string, minutes?: number, vehicleId?: number): Row =>
  (rowMapping(event)(record(id, begin, minutes, vehicleId) as never) as { row: Row }).row;

const figures = (engine: Engine) =>
  query(
    engine,
    `select day, vehicle_id, cast(sum(events) as bigint) as events,
       cast(sum(duration_seconds) as bigint) as duration_seconds, cast(sum(distance_metres) as bigint) as distance_metres
     from bi_event_day group by day, vehicle_id order by 1, 2`,
  );

const counted = (engine: Engine) =>
  query(
    engine,
    `select day, vehicle_id, cast(count(*) as bigint) as events,
       cast(coalesce(sum(duration_seconds), 0) as bigint) as duration_seconds,
       cast(coalesce(sum(distance_metres), 0) as bigint) as distance_metres
     from bi_event where day is not null group by day, vehicle_id order by 1, 2`,
  );

describe.each(engineCases)('the days of events on $name', (engineCase) => {
  const load = ({ engine }: ViewPlace, at: string, ...rows: Row[]) =>
    engine.write((tx) => tx.load(event, rows, metadataAt('run', `2026-03-${at}T00:00:00.000Z`)));

  it('follow every change of the events', async () => {
    const place = await openViews(engineCase);
    const { engine } = place;
    await load(place, '12', rowOf(1, '03-10T02:59'), rowOf(2, '03-10T03:00'), rowOf(3, '03-10T04:00'));
    expect(await figures(engine)).toEqual([
      { day: '2026-03-09', vehicle_id: 7, events: 1, duration_seconds: 600, distance_metres: 100 },
      { day: '2026-03-10', vehicle_id: 7, events: 2, duration_seconds: 1_200, distance_metres: 200 },
    ]);
    // One event lasts longer, one moves to an earlier month, one to another vehicle; unchanged and new ones beside them.
    await load(place, '13', rowOf(1, '03-10T02:59', 20), rowOf(2, '02-10T03:00'), rowOf(4, '03-11T12:00'));
    await load(place, '14', rowOf(3, '03-10T04:00', 10, 8), rowOf(4, '03-11T12:00'));
    // An event without a begin has no day.
    await load(place, '14', rowOf(5, '03-12T12:00'));
    await load(place, '14', [2, 5, null, ...rowOf(5, '03-12T12:00').slice(3)]);
    expect(await figures(engine)).toEqual(await counted(engine));
    expect(await figures(engine)).toMatchObject([
      { day: '2026-02-10', vehicle_id: 7, events: 1 },
      { day: '2026-03-09', vehicle_id: 7, duration_seconds: 1_200 },
      { day: '2026-03-10', vehicle_id: 8 },
      { day: '2026-03-11', vehicle_id: 7 },
    ]);
    const march = { from: '2026-03-01T00:00:00.000Z', to: '2026-04-01T00:00:00.000Z' };
    const range = { vehicle_id: { in: [7] }, begin_date: march };
    await engine.write((tx) => tx.markMissing(event, range, [[2, 4]], metadataAt('run', '2026-03-15T00:00:00.000Z')));
    expect(await figures(engine)).toEqual(await counted(engine));
    expect((await figures(engine)).map(({ day }) => day)).toEqual(['2026-02-10', '2026-03-10', '2026-03-11']);
    await deleteOutdated(engine, event, '2026-03-10T12:00:00.000Z', () => false);
    expect(await figures(engine)).toEqual(await counted(engine));
    expect((await figures(engine)).map(({ day }) => day)).toEqual(['2026-03-11']);
  });

  it('are right after any loads, of new, unchanged and changed events', async () => {
    const place = await openViews(engineCase);
    const anyContent = fc.record({
      begin_date: fc.option(fc.integer({ min: 0, max: 6 }).map((hour) => `2026-03-10T0${hour}:30:00.700Z`)),
      end_date: fc.option(fc.constant('2026-03-10T12:00:00.300Z')),
      distance: fc.constantFrom(null, 0, 70, 999_999_999),
      vehicle: fc.option(fc.integer({ min: 7, max: 9 }).map((id) => ({ id }))),
    });
    const contents = fc.sample(anyContent, { numRuns: 80, seed: 4 });
    // An event usually has the same content as before, so that a load may be of new and unchanged ones only.
    const anyEvent = fc.record({
      id: fc.integer({ min: 1, max: 40 }),
      version: fc.oneof({ weight: 15, arbitrary: fc.constant(0) }, fc.constant(40)),
    });
    const anyLoad = fc.uniqueArray(anyEvent, { selector: ({ id }) => id, maxLength: 6 });
    for (const events of fc.sample(anyLoad, { numRuns: 40, seed: 4 })) {
      const records = events.map(({ id, version }) => ({ ...contents[id + version - 1], event_category: 2, id }));
      const rows = records.map((each) => (rowMapping(event)(each as never) as { row: Row }).row);
      // All at one time, as a clock that stands still would make it.
      await load(place, '12', ...rows);
      expect(await figures(place.engine)).toEqual(await counted(place.engine));
    }
  });

  it('leave out distances that cannot be, whose sum could not be stored', async () => {
    const place = await openViews(engineCase);
    const absurd = (id: number, distance: string): Row => rowOf(id, '03-10T12:00').with(4, distance);
    await load(place, '12', absurd(1, '9223372036854775807'), rowOf(2, '03-10T12:00'));
    await load(place, '13', absurd(3, '9223372036854775807'), absurd(4, '-9223372036854775808'));
    expect(await figures(place.engine)).toMatchObject([{ events: 4, distance_metres: 100 }]);
  });

  it('count the events without a vehicle when one with the number 0 comes', async () => {
    const place = await openViews(engineCase);
    const ofVehicle = (id: number, vehicle: number | null): Row => rowOf(id, '03-10T12:00').with(5, vehicle);
    await load(place, '12', ofVehicle(1, null));
    await load(place, '13', ofVehicle(1, null), ofVehicle(2, 0), ofVehicle(3, 0));
    await load(place, '14', ofVehicle(2, 0), rowOf(3, '03-10T12:00', 20).with(5, 0));
    expect(await figures(place.engine)).toMatchObject([{ vehicle_id: null, events: 3, duration_seconds: 2_400 }]);
  });

  it('are not computed again in a new year in which the zone has the same offsets', async () => {
    const place = await openViews(engineCase);
    const { engine } = place;
    await load(place, '12', rowOf(1, '03-10T02:59'));
    await engine.write(({ sql }) => sql('event').update({ _day: '2026-03-01' }));
    await fillLocalTime(engine, 'America/Sao_Paulo', NOW + 366 * 86_400_000);
    expect(await query(engine, 'select _day from event')).toEqual([{ _day: '2026-03-01' }]);
    expect(await query(engine, 'select max(year) as year from local_day')).toEqual([{ year: 2029 }]);
    await fillLocalTime(engine, 'America/Manaus', NOW + 366 * 86_400_000);
    expect(await query(engine, 'select _day from event')).toEqual([{ _day: '2026-03-09' }]);
  });

  it('move with the time zone, also for rows that were read before and stored after the change', async () => {
    const place = await openViews(engineCase);
    const { engine } = place;
    await load(place, '12', rowOf(1, '03-10T02:59'));
    const read = engine.encodeRows(event, [rowOf(2, '03-10T02:59')]);
    await fillLocalTime(engine, 'Asia/Tokyo', NOW);
    await engine.write((tx) => tx.loadEncoded(event, [read], metadataAt('run', '2026-03-13T00:00:00.000Z')));
    expect(await figures(engine)).toMatchObject([{ day: '2026-03-10', events: 2 }]);
  });

  it('are of the stored time zone, also if the process that loads them still has the one before', async () => {
    const place = await openViews(engineCase);
    await load(place, '12', rowOf(1, '03-10T16:00'));
    await fillLocalTime(await place.open(), 'Asia/Tokyo', NOW);
    await load(place, '13', rowOf(2, '03-10T16:00'));
    expect(await figures(place.engine)).toMatchObject([{ day: '2026-03-11', events: 2 }]);
    expect(await figures(place.engine)).toEqual(await counted(place.engine));
  });

  it('are filled in for rows of a version that did not store the day', async () => {
    const place = await openViews(engineCase);
    const { engine } = place;
    await load(place, '12', rowOf(1, '03-10T02:59'));
    await engine.write(async ({ sql }) => {
      await sql('event').update({ _day: null });
      await sql('event_day').delete();
    });
    await fillLocalTime(engine, 'America/Sao_Paulo', NOW);
    expect(await query(engine, 'select day from bi_event')).toEqual([{ day: '2026-03-09' }]);
    expect(await figures(engine)).toEqual(await counted(engine));
  });
});
