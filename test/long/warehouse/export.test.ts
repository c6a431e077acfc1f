// Exported files are read with an independent reader: DuckDB has to see the same values as SQL in the warehouse.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { parse } from 'csv-parse/sync';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ALL_DAYS, writeEventDays } from '../../../src/warehouse/control/event-days.ts';
import { csv } from '../../../src/warehouse/export/csv-format.ts';
import { type ExportRequest, exportTables } from '../../../src/warehouse/export/export.ts';
import { type Exportable, exportables } from '../../../src/warehouse/export/exportable.ts';
import { parquet } from '../../../src/warehouse/export/parquet-format.ts';
import { fillLocalTime } from '../../../src/warehouse/load/local-days.ts';
import type { ViewColumnType } from '../../../src/warehouse/schema/view.ts';
import { addRecords, DAY, HOUR, openRig } from '../../support/pull/pull-setup.ts';
import type { EngineName } from '../../support/warehouse/engines.ts';

const START = '2026-03-02T15:00:00Z';

let duck: DuckDBConnection;
beforeAll(async () => {
  duck = await (await DuckDBInstance.create(':memory:')).connect();
  await duck.run(`set timezone = 'UTC'`);
});

const ask = async (sql: string): Promise<Record<string, unknown>[]> =>
  (await duck.runAndReadAll(sql)).getRowObjectsJson() as Record<string, unknown>[];

type Rig = Awaited<ReturnType<typeof openRig>>;

function exporting(rig: Rig, request: Partial<ExportRequest> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'roadbook-export-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const run = (more: Partial<ExportRequest> = {}) =>
    exportTables(rig.engine, {
      folder,
      format: parquet,
      what: exportables,
      nowMs: rig.clock.now(),
      full: false,
      isAlone: async () => true,
      onProgress: () => undefined,
      ...request,
      ...more,
    });
  return { folder, run };
}

const filesOf = ({ name, month }: Exportable, folder: string): string =>
  month === null ? join(folder, `${name}.parquet`) : join(folder, name, '*', `${name}.parquet`);

async function filledRig(engine: EngineName = 'sqlite'): Promise<Rig> {
  const rig = await openRig(START, { vehicles: 6 }, { engine });
  await fillLocalTime(rig.engine, 'America/Sao_Paulo', rig.clock.now());
  await rig.run('pull-vehicles');
  await rig.run('pull-drivers');
  await rig.run('pull-route-plans', { since: '3d' });
  await rig.run('pull-events', { since: '5d' });
  await rig.run('pull-daily-summaries', { since: '3d' });
  await rig.run('pull-checklists', { since: '3d' });
  return rig;
}

const DUCK_TYPE = {
  integer: 'BIGINT',
  real: 'DOUBLE',
  text: 'VARCHAR',
  json: 'VARCHAR',
  boolean: 'BOOLEAN',
  instant: 'TIMESTAMP WITH TIME ZONE',
  date: 'DATE',
  local: 'TIMESTAMP',
} as const;

/** A value of the warehouse's readers as DuckDB's reader returns it. */
function asRead(type: ViewColumnType, value: unknown): unknown {
  if (value === null) return null;
  if (type === 'integer') return String(value);
  if (type === 'boolean') return value === 1;
  if (type === 'instant')
    return String(value)
      .replace('T', ' ')
      .replace(/\.?0*Z$/, '+00');
  return value;
}

const sortedBy = (rows: readonly Record<string, unknown>[], key: readonly string[]) => {
  const text = (row: Record<string, unknown>) => key.map((name) => String(row[name])).join('\n');
  return rows.toSorted((a, b) => (text(a) < text(b) ? -1 : 1));
};

describe('an export', () => {
  it.each<EngineName>(['sqlite', 'postgres'])(
    'in Parquet holds every row, value, type and null of %s',
    async (engine) => {
      const rig = await filledRig(engine);
      await rig.engine.write(async ({ sql }) => {
        // Answers whose checklist is not stored, and the time that some services send for none.
        await sql.raw('delete from checklist where id = (select min(checklist_id) from checklist_answer)');
        await sql.raw(`update route_plan set date_time_start = '0001-01-05T12:00:00.000Z', _day = '0001-01-05'
          where id = (select min(id) from route_plan)`);
      });
      const { folder, run } = exporting(rig);
      const written = await run();
      for (const table of exportables) {
        const files = `read_parquet('${filesOf(table, folder)}', hive_partitioning = false)`;
        const types = await ask(`select column_name, column_type from (describe select * from ${files})`);
        expect(types).toEqual(
          table.columns.map(({ name, type }) => ({ column_name: name, column_type: DUCK_TYPE[type] })),
        );
        // This table contains the age of the data, which changes with each read.
        if (table.name === 'bi_freshness') continue;
        const stored = (await rig.rows(`select * from "${table.name}"`)).map((row) =>
          Object.fromEntries(table.columns.map(({ name, type }) => [name, asRead(type, row[name])])),
        );
        const exported = await ask(`select * from ${files}`);
        expect(sortedBy(exported, table.key)).toEqual(sortedBy(stored, table.key));
        expect(written.find(({ table: name }) => name === table.name)?.rows).toBe(stored.length);
      }
      const filled = written.filter(({ rows }) => rows > 0).map(({ table }) => table);
      expect(filled).toEqual(
        expect.arrayContaining(['event', 'route_point', 'daily_summary', 'bi_delivery', 'bi_event']),
      );
    },
  );

  it('partitions events by local month, and gives the month as a column to readers of partitions', async () => {
    const rig = await filledRig();
    const { folder, run } = exporting(rig, { what: exportables.filter(({ name }) => name === 'event') });
    await run();
    const [inFiles, inTable] = await Promise.all([
      ask(`select month, count(*)::int as n from '${folder}/event/*/*.parquet' group by month order by month`),
      rig.rows(`select substr(_day, 1, 7) as month, count(*) as n from event group by 1 order by 1`),
    ]);
    expect(inFiles.map(({ month }) => month)).toEqual(['2026-02', '2026-03']);
    expect(inFiles).toEqual(inTable);
  });

  it('stores the bounds of days and times, so that a reader skips what lies outside of them', async () => {
    const rig = await filledRig();
    const { folder, run } = exporting(rig, { what: exportables.filter(({ name }) => name === 'event') });
    await run();
    const bounds =
      await ask(`select path_in_schema as name, min(stats_min_value)[:19] as first, max(stats_max_value)[:19] as last
      from parquet_metadata('${folder}/event/*/*.parquet') where name in ('_day', 'begin_date') group by name order by name`);
    const [stored] = await rig.rows(`select min(_day) as first_day, max(_day) as last_day,
      min(begin_date) as first, max(begin_date) as last from event`);
    const seconds = (instant: unknown): string => String(instant).slice(0, 19).replace('T', ' ');
    expect(bounds).toEqual([
      { name: '_day', first: stored?.first_day, last: stored?.last_day },
      { name: 'begin_date', first: seconds(stored?.first), last: seconds(stored?.last) },
    ]);
  });

  it('writes a file without rows for an empty table, so that a glob finds its columns', async () => {
    const rig = await openRig(START, { vehicles: 6 });
    await fillLocalTime(rig.engine, 'America/Sao_Paulo', rig.clock.now());
    const what = exportables.filter(({ name }) => name === 'event' || name === 'route_point_item');
    const { folder, run } = exporting(rig, { what });
    await run();
    expect(await ask(`select id from '${folder}/event/*/*.parquet'`)).toEqual([]);
    expect(await ask(`select route_point_id from '${folder}/route_point_item/*/*.parquet'`)).toEqual([]);
    await rig.run('pull-events', { since: '5d' });
    await run();
    const months = await ask(`select distinct month from '${folder}/event/*/*.parquet' order by month`);
    expect(months).toEqual([{ month: '2026-02' }, { month: '2026-03' }]);
    expect(readdirSync(join(folder, 'event'))).toHaveLength(2);
  });

  it('into the same folder writes only the months that changed', async () => {
    const rig = await filledRig();
    const what = exportables.filter(({ name }) => name === 'event' || name === 'vehicle');
    const { folder, run } = exporting(rig, { what });
    await run();
    const february = join(folder, 'event', 'month=2026-02', 'event.parquet');
    const before = await stat(february);
    await rig.clock.advance(2 * HOUR);
    expect(await run()).toEqual([
      expect.objectContaining({ table: 'event', written: 2 }),
      expect.objectContaining({ table: 'vehicle', written: 1 }),
    ]);
    await rig.clock.advance(DAY);
    await rig.run('pull-events', { since: '5d', lookback: '1h' });
    expect(await run()).toEqual([
      expect.objectContaining({ table: 'event', written: 1, kept: 1 }),
      expect.objectContaining({ table: 'vehicle', written: 0, kept: 1 }),
    ]);
    expect((await stat(february)).size).toBe(before.size);
    const [{ n } = {}] = await rig.rows('select count(*) as n from event');
    expect(await ask(`select count(*)::int as n from '${folder}/event/*/*.parquet'`)).toEqual([{ n }]);
  });

  it.each<EngineName>(['sqlite', 'postgres'])('writes only what changed, on %s', async (engine) => {
    const rig = await filledRig(engine);
    const filler = { table_name: 'daily_summary', job: 'pull-daily-summaries', scopes: '%' };
    await rig.engine.write(({ sql }) => sql('table_job').insert(filler));
    const { folder, run } = exporting(rig);
    await run();
    // Until the months are over, the stops of bi_delivery may become overdue.
    await rig.clock.advance(90 * DAY);
    await run();
    const rows = async () =>
      Object.fromEntries((await run()).flatMap(({ table, written }) => (written > 0 ? [[table, written]] : [])));
    const always = { bi_calendar: 1, bi_day_status: 1, bi_freshness: 1, bi_push: 1, daily_summary_revision: 1 };
    expect(await rows()).toEqual(always);
    const changed = new Date(rig.clock.now() - 2 * HOUR).toISOString();
    const change = (table: string, where: object, values: object) =>
      rig.engine.write(({ sql }) => sql(table).where(where).update(values));
    const last = (table: string, column: string) =>
      rig.engine.read((sql) => sql(table).orderBy(column, 'desc').first(column));

    const { id } = await last('route_point_execution', 'id');
    await change('route_point_execution', { id }, { return_date: changed, _changed_at: changed });
    // A stop may be counted in the plan of the month before.
    const ofStop = { bi_delivery: 2, bi_missing_proof: 1, bi_route_plan: 1, route_point_execution: 1 };
    expect(await rows()).toEqual({ ...always, ...ofStop });

    const vehicle = await last('vehicle', 'id');
    await change('vehicle', vehicle, { hodometer: 1, _changed_at: changed });
    expect(await rows()).toEqual({ ...always, vehicle: 1 });
    const later = new Date(rig.clock.now() - HOUR - 1).toISOString();
    await change('vehicle', vehicle, { title: 'RENAMED', _changed_at: later });
    expect(await rows()).toMatchObject({ bi_event: 2, bi_event_day: 2, bi_vehicle_day: 2, vehicle: 1 });
    const titles = `select count(*) filter (vehicle_title = 'RENAMED')::int as n from '${folder}/bi_event/*/*.parquet'`;
    const [{ n } = {}] = await rig.rows(`select count(*) as n from bi_event where vehicle_title = 'RENAMED'`);
    expect(await ask(titles)).toEqual([{ n }]);

    // The day may become final, and with it the measured time until any day is.
    await change('daily_summary', await last('daily_summary', 'day'), { count: 1, _changed_at: changed });
    const ofDays = { bi_driver_day: 2, bi_vehicle_day: 2 };
    expect(await rows()).toEqual({ ...always, ...ofDays, daily_summary: 1 });
    await change('sync_coverage', { job: filler.job }, { covered_at: changed });
    expect(await rows()).toEqual({ ...always, ...ofDays });

    // Retention may delete when a plan was seen in a status.
    await rig.engine.write(({ sql }) => sql('status_change').where({ entity: 'route_plan' }).delete());
    expect(await rows()).toEqual({ ...always, bi_route_plan: 2, status_change: 1 });

    await change('vehicle_status', await last('vehicle_status', 'code'), { name: 'RENAMED' });
    expect(await rows()).toMatchObject({ vehicle_status: 1 });
    expect(await rows()).toEqual(always);
  });

  it('moves the parts of a record to another month with the record', async () => {
    const rig = await filledRig();
    const what = exportables.filter(({ name }) => name === 'route_point_execution');
    const { folder, run } = exporting(rig, { what });
    await run();
    await rig.clock.advance(DAY);
    const months = () =>
      ask(`select month, count(*)::int as n from '${folder}/*/*/*.parquet' group by month order by month`);
    const [february, march] = await months();
    expect([february?.month, march?.month]).toEqual(['2026-02', '2026-03']);
    const day = (sql: string) =>
      rig.rows(`select point.id from route_point as point
      where exists (select 1 from route_point_execution as done where done.route_point_id = point.id) and _day ${sql} limit 1`);
    const [[early], [late]] = await Promise.all([day(`< '2026-03-01'`), day(`>= '2026-03-01'`)]);
    const swap = { [String(early?.id)]: '2026-03-02', [String(late?.id)]: '2026-02-28' };
    const _changed_at = new Date(rig.clock.now() - 2 * HOUR).toISOString();
    for (const [id, _day] of Object.entries(swap))
      await rig.engine.write(({ sql }) => sql('route_point').where({ id }).update({ _day, _changed_at }));
    expect(await run()).toEqual([expect.objectContaining({ written: 2 })]);
    const stored = await rig.rows(`select substr(point._day, 1, 7) as month, count(*) as n
      from route_point_execution as done join route_point as point on point.id = done.route_point_id group by 1 order by 1`);
    expect(await months()).toEqual(stored);
    const [{ moved } = {}] = await ask(`select count(*)::int as moved from '${folder}/*/*/*.parquet'
      where route_point_id = ${early?.id} and month = '2026-03'`);
    expect(moved).toBeGreaterThan(0);
    await rig.engine.write(({ sql }) =>
      sql('route_point').where({ id: early?.id }).update({ _day: null, _changed_at }),
    );
    await run();
    const [{ undated } = {}] = await ask(`select count(*)::int as undated from '${folder}/*/*/*.parquet'
      where month is null`);
    expect(undated).toBe(moved);
  });

  it('follows deletions: a deleted month has no file, a smaller one is rewritten', async () => {
    const rig = await filledRig();
    const what = exportables.filter(({ name }) => name === 'event');
    const { folder, run } = exporting(rig, { what });
    await run();
    await rig.engine.write(({ sql }) => sql('event').where('_day', '<', '2026-03-02').delete());
    await rig.engine.write(({ sql }) => writeEventDays(sql, rig.engine.dialect, ALL_DAYS));
    await rig.clock.advance(2 * DAY);
    expect(await run()).toEqual([expect.objectContaining({ written: 1, kept: 0 })]);
    const months = await ask(`select distinct month from '${folder}/event/*/*.parquet'`);
    expect(months).toEqual([{ month: '2026-03' }]);
  });

  it('rewrites everything when the folder was filled from another state of the warehouse', async () => {
    const rig = await openRig(START, { vehicles: 6 });
    await rig.run('pull-vehicles');
    const { folder, run } = exporting(rig, { what: exportables.filter(({ name }) => name === 'vehicle') });
    await rig.clock.advance(DAY);
    await run();
    // The same number of rows and no recent change, as after a restored backup.
    await rig.engine.write(({ sql }) =>
      sql('vehicle').update({ plate: 'RESTORED', _changed_at: '2026-03-01T00:00:00.000Z' }),
    );
    expect(await run()).toEqual([expect.objectContaining({ written: 1, kept: 0 })]);
    expect(await ask(`select distinct plate from '${folder}/vehicle.parquet'`)).toEqual([{ plate: 'RESTORED' }]);
    expect(await run()).toEqual([expect.objectContaining({ written: 0, kept: 1 })]);
  });

  it('rewrites a file that was removed', async () => {
    const rig = await filledRig();
    const { folder, run } = exporting(rig, { what: exportables.filter(({ name }) => name === 'vehicle') });
    await run();
    await rig.clock.advance(2 * DAY);
    rmSync(join(folder, 'vehicle.parquet'));
    expect(await run()).toEqual([expect.objectContaining({ written: 1, kept: 0 })]);
  });

  it('writes nothing more once another process may be exporting', async () => {
    const rig = await filledRig();
    const { folder, run } = exporting(rig, { what: exportables.filter(({ name }) => name === 'vehicle'), full: true });
    await run();
    const files = () => ['vehicle.parquet', 'export.json'].map((name) => readFileSync(join(folder, name)));
    const before = files();
    await rig.engine.write(({ sql }) => sql('vehicle').update({ title: 'other' }));
    await rig.clock.advance(DAY);
    /** Which files the export leaves as they were, if it is alone for so many questions. */
    async function unchanged(alone: number) {
      let asked = 0;
      const end = run({ isAlone: async () => asked++ < alone });
      await (alone < 2 ? expect(end).rejects.toMatchObject({ code: 'lease_lost' }) : end);
      return files().map((file, index) => before[index]?.equals(file));
    }
    // It asks before it publishes the file, and before it says so.
    expect(await unchanged(0)).toEqual([true, true]);
    expect(await unchanged(1)).toEqual([false, true]);
    expect(await unchanged(2)).toEqual([false, false]);
    // What it did not publish is removed by the next.
    expect(readdirSync(folder).toSorted()).toEqual(['export.json', 'vehicle.parquet']);
  });

  it('in CSV is harmless in a spreadsheet, distinguishes null from empty, and round-trips byte for byte', async () => {
    const rig = await openRig(START);
    const hostile = ['=cmd|calc', '+1', '-1', '@x', '\tx', '"a";b,c\nd', 'çã 🚚', "'x"];
    await addRecords(
      rig,
      'vehicles',
      hostile.map((title, index) => ({ id: 1 + index, title, plate: index === 0 ? '' : null })),
    );
    await rig.run('pull-vehicles');
    const { folder, run } = exporting(rig, {
      format: csv,
      what: exportables.filter(({ name }) => name === 'vehicle'),
    });
    await run();
    const text = readFileSync(join(folder, 'vehicle.csv'), 'utf8');
    const rows: Record<string, string>[] = parse(text, { bom: true, columns: true });
    const titles = rows.filter(({ id }) => Number(id) < 90_000).map(({ title }) => title);
    expect(titles).toEqual(["'=cmd|calc", "'+1", "'-1", "'@x", "'\tx", '"a";b,c\nd', 'çã 🚚', "'x"]);
    const nulls = await ask(
      `select count(*) filter (plate is null)::int as n, count(*) filter (plate = '')::int as e
       from read_csv('${folder}/vehicle.csv', all_varchar = true, allow_quoted_nulls = false) where id::bigint < 90000`,
    );
    expect(nulls).toEqual([{ n: hostile.length - 1, e: 1 }]);
  });
});
