// The contract of every engine: exact counts, unchanged rows untouched, atomic transactions, concurrent readers.
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { RoadbookError } from '../../../src/core/errors.ts';
import type { JsonObject } from '../../../src/core/json.ts';
import { createRedactor } from '../../../src/core/text/redaction.ts';
import { markCovered } from '../../../src/warehouse/control/coverage.ts';
import { quarantine, quarantineRows, release } from '../../../src/warehouse/control/quarantine.ts';
import type { Engine, LoadMetadata, Row, RowRange } from '../../../src/warehouse/engine.ts';
import { rowMapping } from '../../../src/warehouse/load/row-mapping.ts';
import { StaleRead } from '../../../src/warehouse/load/stale-read.ts';
import { insideOf, markVanished } from '../../../src/warehouse/load/vanished.ts';
import { tables } from '../../../src/warehouse/schema/catalog.ts';
import { bringSchemaUpToDate } from '../../../src/warehouse/schema/converge.ts';
import { migrations } from '../../../src/warehouse/schema/migrations.ts';
import type { Table } from '../../../src/warehouse/schema/table.ts';
import { views } from '../../../src/warehouse/schema/view-catalog.ts';
import { dailySummary } from '../../../src/warehouse/tables/daily-summary.ts';
import { driver } from '../../../src/warehouse/tables/driver.ts';
import { event } from '../../../src/warehouse/tables/event.ts';
import { image } from '../../../src/warehouse/tables/image.ts';
import { routePlan } from '../../../src/warehouse/tables/route-plan.ts';
import { routePoint } from '../../../src/warehouse/tables/route-point.ts';
import { vehicle } from '../../../src/warehouse/tables/vehicle.ts';
import { stopPostgres } from '../../support/databases/postgres.ts';
import { engineCases, rowsOf } from '../../support/warehouse/engines.ts';
import { metadataAt } from '../../support/warehouse/load-metadata.ts';

const rowFor = (table: Table) => {
  const toRow = rowMapping(table);
  return (record: JsonObject): Row => {
    const mapped = toRow(record);
    if (!('row' in mapped)) throw new Error(mapped.invalid);
    return mapped.row;
  };
};
const row = rowFor(vehicle);
const eventRow = rowFor(event);
const fleet = (count: number, title = 'title'): Row[] =>
  Array.from({ length: count }, (_, index) => row({ id: index + 1, title: `${title} ${index}`, year: 2_020 }));
const first = metadataAt('run-1', '2026-01-01T00:00:00.000Z');
const second = metadataAt('run-2', '2026-01-02T00:00:00.000Z');
/** One event more than the largest batch of any engine (postgres/load.ts). */
const severalBatches = (): Row[] =>
  Array.from({ length: 25_001 }, (_, n) => eventRow({ id: n + 1, event_category: 1 }));

/** One snapshot for the whole query; SQLite's transactions always have one. */
const SNAPSHOT: Record<string, object> = { postgres: { isolationLevel: 'repeatable read' }, sqlite: {} };

afterAll(stopPostgres);

describe.each(engineCases)('the $name engine', ({ make }) => {
  let place: Awaited<ReturnType<typeof make>>;
  let engine: Engine;

  /** With the schema and nothing else; each test gets a copy. */
  let original: typeof place;

  beforeAll(async () => {
    original = await make();
    const opened = await original.open();
    await bringSchemaUpToDate(opened);
    await opened.close();
  });
  afterAll(() => original.remove());
  beforeEach(async () => {
    place = await original.copy();
    engine = await place.open();
  });
  afterEach(async () => {
    await engine.close();
    await place.remove();
  });

  const load = (rows: Row[], metadata = first) => engine.write((tx) => tx.load(vehicle, rows, metadata));
  const stored = (columns = '*') => engine.read((sql) => sql('vehicle').select(sql.raw(columns)).orderBy('id'));

  it('creates every declared table with its columns', async () => {
    for (const table of tables) {
      const columns = await engine.read((sql) => engine.columnsOf(sql, table.name));
      expect(columns, table.name).toEqual(table.columns.map(({ name }) => name));
    }
  });

  it('counts inserted, updated and unchanged rows exactly', async () => {
    expect(await load(fleet(100))).toEqual({ inserted: 100, updated: 0, unchanged: 0 });
    expect(await load(fleet(100), second)).toEqual({ inserted: 0, updated: 0, unchanged: 100 });
    const mixed = [...fleet(60), ...fleet(100, 'changed').slice(60), ...fleet(130).slice(100)];
    expect(await load(mixed, second)).toEqual({ inserted: 30, updated: 40, unchanged: 60 });
  });

  it('counts exactly over several batches', async () => {
    expect(await load(fleet(12_345))).toEqual({ inserted: 12_345, updated: 0, unchanged: 0 });
    expect(await load([...fleet(12_000), ...fleet(12_345, 'x').slice(12_000)], second)).toEqual({
      inserted: 0,
      updated: 345,
      unchanged: 12_000,
    });
  });

  it('does not write a row whose content is unchanged', async () => {
    await load(fleet(3));
    const before = await stored();
    await load(fleet(3), second);
    expect(await stored()).toEqual(before);
  });

  it('writes changed values with their run, and keeps the time of the first read', async () => {
    await load(fleet(2));
    await load([row({ id: 1, title: 'new', year: 2_020 })], second);
    expect(await stored('id, title, _first_seen_at, _changed_at, _run_id')).toEqual([
      { id: 1, title: 'new', _first_seen_at: first.at, _changed_at: second.at, _run_id: 'run-2' },
      { id: 2, title: 'title 1', _first_seen_at: first.at, _changed_at: first.at, _run_id: 'run-1' },
    ]);
  });

  it('detects a value that became null, and one that was null', async () => {
    await load([row({ id: 1, title: 'a' })]);
    expect(await load([row({ id: 1 })], second)).toEqual({ inserted: 0, updated: 1, unchanged: 0 });
    expect(await load([row({ id: 1, title: 'a' })], second)).toEqual({
      inserted: 0,
      updated: 1,
      unchanged: 0,
    });
  });

  it('keeps integers beyond 2^53 exactly', async () => {
    await load([row({ id: '9007199254740993', title: 'big' })]);
    const [found] = await engine.read((sql) => sql('vehicle').select(sql.raw('cast(id as text) as id')));
    expect(found).toEqual({ id: '9007199254740993' });
  });

  it('returns every number unchanged', async () => {
    const numbers = [
      ...[-46.521922, 5.364093, 74.726267, -23.632104, 0, -0.5, 1e-5, 1.1e-7, 2 ** 53, 1e15 + 0.3, 5e-324],
      ...fc.sample(fc.double({ noNaN: true, min: -1e6, max: 1e6 }), { numRuns: 300, seed: 1 }),
      ...fc
        .sample(fc.integer({ min: -180_000_000, max: 180_000_000 }), { numRuns: 6_000, seed: 1 })
        .map((n) => n / 1e6),
    ];
    const days = numbers.map((speed_max, index) =>
      rowFor(dailySummary)({ day: '2026-01-01', subject: 'vehicle', title: `t${index}`, speed_max }),
    );
    await engine.write((tx) => tx.load(dailySummary, days, first));
    const kept: { title: string; speed_max: number }[] = await engine.read((sql) =>
      sql('daily_summary').select('title', 'speed_max'),
    );
    const back = new Map(kept.map(({ title, speed_max }) => [title, speed_max]));
    expect(numbers.map((_, index) => back.get(`t${index}`))).toEqual(numbers.map((number) => number + 0));
    expect(await engine.write((tx) => tx.load(dailySummary, days, second))).toMatchObject({ updated: 0 });
  });

  it('returns hostile text byte for byte', async () => {
    const texts = [`'; drop table vehicle; --`, '=1+1', '$x', '\u{1f69a} ção', '\\', '"', '%s', '?', ':at', '\u2028'];
    await load(texts.map((title, index) => row({ id: index, title })));
    expect(await stored('title')).toEqual(texts.map((title) => ({ title })));
  });

  it('keeps a record whose text is too long for an index', async () => {
    const letters = Array.from({ length: 4_000 }, (_, n) => String.fromCodePoint(0x4e00 + ((n * 7_919) % 20_000)));
    const code = letters.join('');
    const rows = [rowFor(routePlan)({ id: 1, external_code: code })];
    await engine.write((tx) => tx.load(routePlan, rows, first));
    const [kept] = await engine.read((sql) => sql('route_plan').select('external_code', 'extra'));
    expect(kept.external_code).toBeNull();
    expect(JSON.parse(kept.extra).external_code === code).toBe(true);
  });

  it('marks records that vanished from a range, once, and unmarks those that return', async () => {
    await load(fleet(4));
    const missing = (seen: Row[], metadata = second) =>
      engine.write((tx) => tx.markMissing(vehicle, {}, seen, metadata));
    expect(await missing([[1], [2], [3]])).toBe(1);
    expect(await missing([[1], [2], [3]], metadataAt('run-3', '2026-01-03T00:00:00.000Z'))).toBe(0);
    expect(await stored('id, _missing_since')).toContainEqual({ id: 4, _missing_since: second.at });
    expect(await load(fleet(4), second)).toEqual({ inserted: 0, updated: 1, unchanged: 3 });
    expect(await stored('_missing_since')).toEqual(Array(4).fill({ _missing_since: null }));
  });

  it('does not overwrite a row with a stale read', async () => {
    const late = { ...second, readAt: '2025-12-31T00:00:00.000Z' };
    await load(fleet(3));
    const before = await stored('*');
    await expect(load([row({ id: 2, plate: 'OLD' }), row({ id: 9 })], late)).rejects.toThrow(StaleRead);
    await expect(engine.write((tx) => tx.markMissing(vehicle, {}, [[1], [2]], late))).rejects.toThrow(StaleRead);
    expect(await stored('*')).toEqual(before);
    // A clock that was ahead has written this row: it must not block every read until then.
    const early = { runId: 'run-0', at: '2025-12-31T12:00:00.000Z', readAt: '2025-12-31T11:00:00.000Z' };
    expect(await load([row({ id: 3, plate: 'NOW' })], early)).toMatchObject({ updated: 1 });
    expect(await engine.write((tx) => tx.markMissing(vehicle, {}, [[1], [3]], early))).toBe(1);
    await engine.write((tx) => tx.load(vehicle, fleet(3), second));
    // The content is stored already, or no run has stored it: either read will do.
    expect(await load([...fleet(3), row({ id: 9 })], late)).toEqual({
      inserted: 1,
      updated: 0,
      unchanged: 3,
    });
    expect(await load([row({ id: 2, plate: 'NEW' })], second)).toMatchObject({ updated: 1 });
  });

  it('does not touch a row that differs only in its load metadata', async () => {
    const made = rowFor(image);
    const picture = (fetched_at: string, attempts = 1) => made({ hash: 'p', fetched_at, attempts });
    const read = (one: Row, metadata: LoadMetadata) => engine.write((tx) => tx.load(image, [one], metadata));
    await read(picture(first.at), first);
    const late = { ...second, readAt: '2025-12-31T00:00:00.000Z' };
    expect(await read(picture(second.at), late)).toEqual({ inserted: 0, updated: 0, unchanged: 1 });
    expect(await read(picture(second.at, 2), second)).toMatchObject({ updated: 1 });
    expect(await engine.read((sql) => sql('image').select('fetched_at', 'attempts'))).toEqual([
      { fetched_at: second.at, attempts: 2 },
    ]);
  });

  it('marks nothing outside the range', async () => {
    await load([row({ id: 1, status: 'A' }), row({ id: 2, status: 'B' }), row({ id: 3, status: 'C' })]);
    const range = { status: { in: ['A', 'B'] }, id: { in: [1, 2, 3] } };
    expect(await engine.write((tx) => tx.markMissing(vehicle, range, [[1]], second))).toBe(1);
    expect(await stored('id, _missing_since')).toContainEqual({ id: 3, _missing_since: null });
  });

  it('counts the records that are present in a range', async () => {
    await load([row({ id: 1, status: 'A' }), row({ id: 2, status: 'B' }), row({ id: 3, status: 'C' })]);
    const present = (range: RowRange) => engine.write((tx) => tx.countPresent(vehicle, range));
    expect(await present({})).toBe(3);
    expect(await present({ status: { in: ['A', 'B'] }, id: { in: [2, 3] } })).toBe(1);
    await load([row({ id: '9007199254740993', status: 'D' })]);
    expect(await present({ status: { in: ['D'] }, id: { in: ['9007199254740993', 1] } })).toBe(1);
    await engine.write(({ sql }) => sql('vehicle').where({ status: 'D' }).delete());
    const any = (range: RowRange) => engine.write((tx) => tx.hasPresent(vehicle, range));
    expect(await any({ status: { in: ['A', 'B'] }, id: { in: [2, 3] } })).toBe(true);
    expect(await any({ id: { in: [] } })).toBe(false);
    await engine.write((tx) => tx.markMissing(vehicle, {}, [[1], [2]], second));
    expect(await present({})).toBe(2);
    expect(await any({ id: { in: [3] } })).toBe(false);
    expect(await any({ id: { in: [2] } })).toBe(true);
  });

  it('loads rows that were written to a file in any number of parts, and returns them', async () => {
    const rows = fleet(30_000);
    const parts = [rows.slice(0, 1), [], rows.slice(1, 13_000), rows.slice(13_000)];
    const written = parts.map((part) => engine.encodeRows(vehicle, part));
    expect(written.flatMap((each) => each.rows())).toEqual(rows);
    const loaded = (metadata: LoadMetadata) => engine.write((tx) => tx.loadEncoded(vehicle, written, metadata));
    expect(await loaded(first)).toEqual({ inserted: 30_000, updated: 0, unchanged: 0 });
    expect(await loaded(second)).toEqual({ inserted: 0, updated: 0, unchanged: 30_000 });
    expect(await engine.write((tx) => tx.loadEncoded(vehicle, [], second))).toEqual({
      inserted: 0,
      updated: 0,
      unchanged: 0,
    });
  });

  it('returns fractions from a file to the last bit', () => {
    const figures = [0.1, -46.521922, 1e-300, 5e-324, 1 / 3, 12, -0.5, 1e300];
    const days = figures.map((figure, at) =>
      rowFor(dailySummary)({
        day: '2026-01-01',
        subject: 'vehicle',
        title: `T${at}`,
        total_distance: figure,
      }),
    );
    expect(engine.encodeRows(dailySummary, days).rows()).toEqual(days);
  });

  it('returns texts, identifiers and yes or no as they were encoded', () => {
    const texts = ['', ' ', '\\N', '\\', '\\n', 'a\tb\nc\r', 'null', 'true', '\'"', 'ç€𝄞', '1', '\\\\.'];
    const drivers = texts.map((name, at) =>
      rowFor(driver)({ id: at === 0 ? '9007199254740993' : at, name, is_deliveryman: at % 2 === 0 }),
    );
    expect(engine.encodeRows(driver, drivers).rows()).toEqual(drivers);
  });

  it('marks vanished records where others have come, but not records that moved out of the range', async () => {
    const range = { status: { in: ['A'] } };
    const read = (rows: Row[]) =>
      engine.write(async (tx) => {
        await tx.load(vehicle, rows, second);
        const keys = () => rows.map((each) => [each[0] ?? null]);
        const inside = rows.filter(insideOf(vehicle, range)).length;
        await markVanished(tx, { table: vehicle, range }, { inside, keys }, second);
      });
    await load([1, 2, 3].map((id) => row({ id, status: 'A' })));
    await read([row({ id: 1, status: 'B' }), row({ id: 2, status: 'A' }), row({ id: 4, status: 'A' })]);
    expect(await stored('id, _missing_since')).toEqual([
      { id: 1, _missing_since: null },
      { id: 2, _missing_since: null },
      { id: 3, _missing_since: second.at },
      { id: 4, _missing_since: null },
    ]);
  });

  it('reports a failure in the first of several batches, and stores nothing', async () => {
    const rows = severalBatches();
    // The key is null, so the table rejects it.
    rows[0] = (rows[0] as Row).with(0, null) as Row;
    const failed = engine.write((tx) => tx.load(event, rows, first));
    await expect(failed).rejects.toThrow(RoadbookError);
    expect(await engine.read((sql) => sql('event'))).toEqual([]);
  });

  it('loads every row of several batches', async () => {
    const rows = severalBatches();
    const counts = await engine.write((tx) => tx.load(event, rows, first));
    expect(counts).toEqual({ inserted: rows.length, updated: 0, unchanged: 0 });
    const [stored] = await engine.read((sql) => sql('event').count({ n: '*' }).max({ last: 'id' }));
    expect(stored).toEqual({ n: rows.length, last: rows.length });
    expect(await engine.write((tx) => tx.load(event, rows, second))).toMatchObject({
      unchanged: rows.length,
    });
  });

  it('commits a transaction completely or not at all', async () => {
    const failed = engine.write(async (tx) => {
      await tx.load(vehicle, fleet(10), first);
      await markCovered(tx, { scopes: ['all'], beginAt: first.at, endAt: second.at }, { job: 'j', ...first });
      throw new Error('cut');
    });
    await expect(failed).rejects.toThrow('cut');
    expect(await stored()).toEqual([]);
    expect(await engine.read((sql) => sql('sync_coverage'))).toEqual([]);
    expect(await load(fleet(1))).toEqual({ inserted: 1, updated: 0, unchanged: 0 });
  });

  it('lets readers see the last commit while a transaction is open', async () => {
    await load(fleet(1));
    await engine.write(async (tx) => {
      await tx.load(vehicle, fleet(10), second);
      expect(await stored('id')).toEqual([{ id: 1 }]);
    });
    expect(await stored('id')).toHaveLength(10);
  });

  it('finds the latest value of each key up to its bound', async () => {
    await load([
      row({ id: 1, driver_id: 5, title: 'a' }),
      row({ id: 2, driver_id: 5, title: 'c' }),
      row({ id: 3, driver_id: 5, title: 'e' }),
      row({ id: 4, driver_id: 6, title: 'b' }),
      row({ id: 5, driver_id: 8, title: 'f' }),
    ]);
    const bounds = new Map([5, 6, 7, 8].map((key) => [key, key === 6 ? 'b' : 'd']));
    const latest = await engine.latest(vehicle, 'driver_id', 'title', bounds);
    expect(Object.fromEntries(latest)).toEqual({ 5: 'c', 6: 'b' });
  });

  it('stores an invalid record once, however often it occurs', async () => {
    const invalid = { table: vehicle, key: null, reason: 'id: missing', record: { plate: 'ABC1234' } };
    for (const metadata of [first, second]) {
      await engine.write((tx) =>
        quarantine(tx, quarantineRows('pull-vehicles', [invalid], createRedactor()), metadata),
      );
    }
    const [kept, ...others] = await engine.read((sql) => sql('sync_quarantine'));
    expect(others).toEqual([]);
    expect(kept).toMatchObject({
      times: 2,
      first_seen_at: first.at,
      last_seen_at: second.at,
      run_id: 'run-2',
    });
  });

  it('keeps invalid records apart that are equal once their numbers are masked', async () => {
    const [one, other] = [10_000_000_019, 10_000_000_108];
    const invalid = [one, other].map((id) => ({ table: vehicle, key: String(id), reason: 'year', record: { id } }));
    const rows = quarantineRows('pull-vehicles', invalid, createRedactor());
    expect(new Set(rows.map(({ payload }) => payload)).size).toBe(1);
    await engine.write((tx) => quarantine(tx, rows, first));
    const { redact } = createRedactor();
    await engine.write((tx) => release(tx, vehicle, () => [String(one)], { readAt: second.readAt, redact }));
    const kept = await engine.read((sql) => sql('sync_quarantine').select('record_key'));
    expect(kept).toEqual([{ record_key: String(other) }]);
  });

  it('keeps an invalid version that was read after the rows that are loaded', async () => {
    const invalid = [{ table: vehicle, key: '7', reason: 'year', record: { id: 7, year: 'last' } }];
    const { redact } = createRedactor();
    await engine.write(async (tx) => {
      await quarantine(tx, quarantineRows('pull-vehicles', invalid, createRedactor()), second);
      expect(await release(tx, vehicle, () => ['7'], { readAt: first.readAt, redact })).toBe(0);
      expect(await release(tx, vehicle, () => ['7'], { readAt: second.readAt, redact })).toBe(1);
    });
  });

  it('stores and removes 20,000 invalid records in few statements, whatever else is stored', async () => {
    const invalidRecords = Array.from({ length: 20_000 }, (_, id) => ({
      table: vehicle,
      key: String(id),
      reason: 'year: expected a whole number',
      record: { id, year: 'last' },
    }));
    const odd = { name: 'a\0b\ud800c\\N', tab: '\t' };
    const oddRecord = { table: vehicle, key: 'odd', reason: 'name: a\0b\n\\N', record: odd };
    const twice = [oddRecord, ...invalidRecords, ...invalidRecords.slice(0, 10)];
    const rows = quarantineRows('pull-vehicles', twice, createRedactor());
    let statements = 0;
    await engine.write(async (tx) => {
      tx.sql.on('query', () => statements++);
      await quarantine(tx, rows, first);
      expect(statements).toBeLessThanOrEqual(10);
      const { redact } = createRedactor();
      expect(await release(tx, vehicle, () => ['19999', '20000'], { readAt: second.readAt, redact })).toBe(1);
      expect(await release(tx, driver, () => ['1'], { readAt: second.readAt, redact })).toBe(0);
      expect(statements).toBeLessThanOrEqual(13);
    });
    const counted = async () => {
      const counts = await engine.read((sql) =>
        sql('sync_quarantine').select('times').count('* as n').groupBy('times').orderBy('times'),
      );
      return counts.map(({ times, n }) => [times, Number(n)]);
    };
    expect(await counted()).toEqual([
      [1, 19_990],
      [2, 10],
    ]);
    await engine.write((tx) => quarantine(tx, rows, second));
    expect(await counted()).toEqual([
      [1, 1],
      [2, 19_990],
      [4, 10],
    ]);
    const [kept] = await engine.read((sql) => sql('sync_quarantine').where({ record_key: 'odd' }));
    expect(kept.reason).toBe('name: a\ufffdb\n\\N');
    expect(JSON.parse(kept.payload)).toEqual(odd);
  });

  it('keeps an invalid record that contains what no text column can hold, and its reason', async () => {
    const record = { name: 'a\0b\ud800c', tab: '\t' };
    const invalid = { table: vehicle, key: 'k\0ey', reason: 'name: a\0b', record };
    await engine.write((tx) => quarantine(tx, quarantineRows('pull-vehicles', [invalid], createRedactor()), first));
    const [kept] = await engine.read((sql) => sql('sync_quarantine'));
    expect(JSON.parse(kept.payload)).toEqual(record);
    expect(kept).toMatchObject({ record_key: 'k\ufffdey', reason: 'name: a\ufffdb' });
  });

  it('returns the same values for the same row to every reader', async () => {
    const point = {
      id: 7,
      route_plan_id: 1,
      latitude: 0.1,
      distance: 1e21,
      time_scheduled: '2026-03-01T12:30:00.500Z',
      time_window: [{ from: 1, to: 2 }],
      disable_picture: true,
      unknown: 'kept',
    };
    const summary = { day: '2026-02-28', subject: 'vehicle', title: 'ABC1D23', count: 2 };
    await engine.write(async (tx) => {
      await tx.load(routePoint, [rowFor(routePoint)(point)], first);
      await tx.load(dailySummary, [rowFor(dailySummary)(summary)], first);
    });
    const [{ time_window, extra, ...read }] = await engine.read((sql) => sql('route_point'));
    expect(JSON.parse(time_window)).toEqual(point.time_window);
    expect(JSON.parse(extra)).toEqual({ unknown: 'kept' });
    expect(read).toMatchObject({
      id: 7,
      latitude: 0.1,
      distance: 1e21,
      time_scheduled: '2026-03-01T12:30:00.500Z',
      disable_picture: 1,
      status: null,
      _first_seen_at: first.at,
    });
    const [day] = await engine.read((sql) => sql('daily_summary').select('day', 'count'));
    expect(day).toEqual({ day: '2026-02-28', count: 2 });
    const [sums] = await engine.read((sql) => sql('route_point').sum({ total: 'id' }).count({ n: '*' }));
    expect(sums).toEqual({ total: 7, n: 1 });
  });

  it('keeps one row for each event, even if its start changes', async () => {
    const one = (id: number, begin_date: string | null, extra = {}) =>
      eventRow({ event_category: 1, id, begin_date, ...extra });
    const rows = [
      one(1, '2026-01-31T23:59:59.999Z'),
      one(2, '2026-02-01T00:00:00.000Z'),
      one(3, null),
      one(4, '1970-01-01T00:00:00.000Z'),
      one(5, '9999-12-31T23:59:59.999Z'),
      one(6, '2026-02-28T12:00:00.000Z'),
    ];
    const loadEvents = (given: Row[], metadata = first) => engine.write((tx) => tx.load(event, given, metadata));
    expect(await loadEvents(rows)).toEqual({ inserted: 6, updated: 0, unchanged: 0 });
    expect(await loadEvents(rows, second)).toEqual({ inserted: 0, updated: 0, unchanged: 6 });
    const moved = [
      one(1, '2026-04-01T00:00:00.000Z'),
      one(2, null),
      one(3, '2026-05-01T00:00:00.000Z'),
      one(4, '2026-02-02T00:00:00.000Z', { distance: 5 }),
      one(5, '9999-12-31T23:59:59.999Z', { distance: 6 }),
      one(6, '2026-02-28T12:00:00.000Z'),
      one(7, '2026-02-28T12:00:00.000Z'),
    ];
    expect(await loadEvents(moved, second)).toEqual({ inserted: 1, updated: 5, unchanged: 1 });
    const read = await engine.read((sql) => sql('event').orderBy('id').select('id', 'begin_date', '_run_id'));
    expect(read).toEqual(
      moved.map(([, id, begin_date]) => ({
        id,
        begin_date,
        _run_id: id === 6 ? 'run-1' : 'run-2',
      })),
    );
    const february = { begin_date: { from: '2026-02-01T00:00:00.000Z', to: '2026-03-01T00:00:00.000Z' } };
    expect(await engine.write((tx) => tx.markMissing(event, february, [[1, 6]], second))).toBe(2);
  });

  it('records every change of a status and of a figure, once', async () => {
    const plan = (status: string | null) => rowFor(routePlan)({ id: 1, status });
    const day = (speed_max: number | null) =>
      rowFor(dailySummary)({ day: '2026-01-01', subject: 'vehicle', title: 'A', speed_max });
    for (const [index, [status, speed]] of [
      ['P', 1],
      ['P', 1],
      ['E', 2],
      [null, null],
    ].entries()) {
      const metadata = metadataAt(`run-${index}`, `2026-01-0${index + 1}T00:00:00.000Z`);
      await engine.write(async (tx) => {
        await tx.load(routePlan, [plan(status as string | null)], metadata);
        await tx.load(dailySummary, [day(speed as number | null)], metadata);
      });
    }
    const changes = await engine.read((sql) => sql('status_change').orderBy('observed_at'));
    expect(changes.map(({ from_status, to_status, run_id }) => [from_status, to_status, run_id])).toEqual([
      [null, 'P', 'run-0'],
      ['P', 'E', 'run-2'],
    ]);
    const revisions = await engine.read((sql) => sql('daily_summary_revision').orderBy('observed_at'));
    expect(revisions.map(({ figure, old_value, new_value }) => [figure, old_value, new_value])).toEqual([
      ['speed_max', 1, 2],
      ['speed_max', 2, null],
    ]);
  });

  it('lets two processes load the same rows concurrently', async () => {
    const other = await place.open();
    const both = await Promise.all(
      [engine, other].map((each) => each.write((tx) => tx.load(vehicle, fleet(3_000), first))),
    );
    const sum = (name: 'inserted' | 'unchanged') => both.reduce((total, counts) => total + counts[name], 0);
    expect([sum('inserted'), sum('unchanged')]).toEqual([3_000, 3_000]);
    await other.close();
  });

  it('neither blocks a long BI query nor waits for it', async () => {
    const began = (id: number, begin_date: string) => eventRow({ event_category: 1, id, begin_date });
    const loadEvents = (rows: Row[]) => engine.write((tx) => tx.load(event, rows, first));
    await loadEvents([began(1, '2026-01-01T00:00:00.000Z')]);
    const bi = await place.open();
    await bi.read((sql) =>
      sql.transaction(async (query) => {
        const count = () => rowsOf(query, 'select count(*) as n from event');
        expect(await count()).toEqual([{ n: 1 }]);
        // While the query has the table open, rows, a new month and an upgrade of the schema are written.
        await loadEvents([began(2, '2026-01-02T00:00:00.000Z'), began(3, '2026-06-01T00:00:00.000Z')]);
        await bringSchemaUpToDate(engine);
        expect(await engine.read((sql) => sql('event'))).toHaveLength(3);
        expect(await count()).toEqual([{ n: 1 }]);
      }, SNAPSHOT[engine.name]),
    );
    expect(await bi.read((sql) => sql('event'))).toHaveLength(3);
    await bi.close();
  });

  it('never puts a bound value into an error', async () => {
    const bad = engine.write(({ sql }) => sql('vehicle').insert({ id: 1, no_such_column: 'canary-value' }));
    const error = await bad.then(
      () => undefined,
      (thrown) => thrown,
    );
    expect(error.code).toBe('warehouse_failed');
    expect(
      JSON.stringify({
        ...error,
        message: error.message,
        stack: error.stack,
        cause: String(error.cause?.stack),
      }),
    ).not.toContain('canary-value');
  });

  it('brings a second process to the same schema, and upgrades an older schema', async () => {
    const other = await place.open();
    await Promise.all([bringSchemaUpToDate(other), bringSchemaUpToDate(engine)]);
    await load(fleet(2));
    await engine.write(async ({ sql }) => {
      for (const { name } of views) await sql.raw(`drop view ${name}`);
      await sql.raw('alter table vehicle drop column plate');
    });
    await bringSchemaUpToDate(other);
    expect(await engine.read((sql) => engine.columnsOf(sql, 'vehicle'))).toContain('plate');
    expect(await stored('id')).toHaveLength(2);
    await other.close();
  });

  it('runs pending migrations once, in order, and none on a new database', async () => {
    const ran: string[] = [];
    const step = (name: string) => ({ name, up: async () => void ran.push(name) });
    await bringSchemaUpToDate(engine, [...migrations, step('1 one'), step('2 two')]);
    await bringSchemaUpToDate(engine, [...migrations, step('1 one'), step('2 two'), step('3 three')]);
    expect(ran).toEqual(['1 one', '2 two', '3 three']);
    const fresh = await make();
    const empty = await fresh.open();
    await bringSchemaUpToDate(empty, [step('never')]);
    expect(ran).not.toContain('never');
    await empty.close();
    await fresh.remove();
  });

  it('leaves the old schema intact when a migration fails, and rejects a newer database', async () => {
    const broken = { name: '1 broken', up: async () => Promise.reject(new Error('cut')) };
    await expect(bringSchemaUpToDate(engine, [...migrations, broken])).rejects.toThrow('cut');
    const mended = { name: '1 broken', up: async () => undefined };
    await bringSchemaUpToDate(engine, [...migrations, mended]);
    await expect(bringSchemaUpToDate(engine, [])).rejects.toThrow(/newer version of Roadbook/);
  });

  it('can be closed twice', async () => {
    await engine.close();
    await engine.close();
    engine = await place.open();
  });
});
