// What BI teams build on the views in PostgreSQL survives an upgrade, or the upgrade reports it before any change.
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { dbtSources } from '../../../src/cli/output/dbt-sources.ts';
import type { Engine } from '../../../src/warehouse/engine.ts';
import { bringSchemaUpToDate } from '../../../src/warehouse/schema/converge.ts';
import { biPush } from '../../../src/warehouse/views/bi-push.ts';
import { stopPostgres } from '../../support/databases/postgres.ts';
import { makePlace, rowsOf } from '../../support/warehouse/engines.ts';

afterAll(stopPostgres);

const one = (engine: Engine, text: string) => engine.read(async (sql) => (await rowsOf(sql, text))[0]);

/** A warehouse whose bi_push was created by another version, with a user's own view on it. */
async function olderWarehouse(query: string): Promise<Engine> {
  const place = await makePlace('postgres');
  const engine = await place.open();
  onTestFinished(async () => {
    await engine.close();
    await place.remove();
  });
  await bringSchemaUpToDate(engine);
  await engine.write(async ({ sql }) => {
    await engine.replaceView(sql, 'bi_push', query);
    await sql('schema_view').where({ name: 'bi_push' }).update({ hash: 'of another version' });
    await sql.raw('grant select on bi_push to public');
    await sql.raw('create view own_report as select kind from bi_push');
  });
  return engine;
}

it('keeps grants and other users’ views where a view only grows', async () => {
  const engine = await olderWarehouse('select kind, external_code as code from push_outbox');
  await bringSchemaUpToDate(engine);
  expect(await engine.read((sql) => engine.columnsOf(sql, 'bi_push'))).toContain('needs_attention');
  expect(await one(engine, 'select count(*) as n from own_report')).toEqual({ n: 0 });
  const granted = "select has_table_privilege('public', 'bi_push', 'select') as granted";
  expect(await one(engine, granted)).toEqual({ granted: 1 });
});

it('changes nothing and explains what to do where a user’s own view is in the way', async () => {
  const engine = await olderWarehouse('select external_code as other_column, kind from push_outbox');
  await expect(bringSchemaUpToDate(engine)).rejects.toMatchObject({ code: 'warehouse_in_use' });
  expect(await engine.read((sql) => engine.columnsOf(sql, 'bi_push'))).toEqual(['other_column', 'kind']);
  await engine.write(({ sql }) => sql.raw('drop view own_report'));
  await bringSchemaUpToDate(engine);
  expect(await engine.read((sql) => engine.columnsOf(sql, 'bi_push'))).toEqual(biPush.columns.map(({ name }) => name));
});

it('comments every view and its columns', async () => {
  const engine = await olderWarehouse('select kind from push_outbox');
  await bringSchemaUpToDate(engine);
  const about = `select obj_description('bi_push'::regclass) as view,
    col_description('bi_push'::regclass, 1) as first_column`;
  expect(await one(engine, about)).toEqual({
    view: biPush.meaning,
    first_column: biPush.columns[0]?.meaning,
  });
});

it('has the types that the dbt sources name', async () => {
  const engine = await olderWarehouse('select kind from push_outbox');
  await bringSchemaUpToDate(engine);
  const typed = await engine.read((sql) =>
    rowsOf(
      sql,
      `select attrelid::regclass::text as name, attname as column_name, format_type(atttypid, null) as type
      from pg_attribute where attnum > 0 and not attisdropped`,
    ),
  );
  const stored = new Map(
    typed.map(({ name, column_name, type }) => [`${name}.${column_name}`, SHORT[String(type)] ?? type]),
  );
  const { sources } = parse(dbtSources()) as DbtSources;
  const wrong = sources[0]?.tables.flatMap(({ name, columns }) =>
    columns
      .filter((column) => stored.get(`${name}.${column.name}`) !== column.data_type)
      .map((column) => `${name}.${column.name} is ${stored.get(`${name}.${column.name}`)}, not ${column.data_type}`),
  );
  expect(wrong).toEqual([]);
});

const SHORT: Readonly<Record<string, string>> = {
  'timestamp with time zone': 'timestamptz',
  'timestamp without time zone': 'timestamp',
};

interface DbtSources {
  sources: { tables: { name: string; columns: { name: string; data_type: string }[] }[] }[];
}
