// A database of every release is upgraded to the declared schema, killed at each statement that changes something; the
// next start succeeds unaided, and the data survives.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Knex } from 'knex';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Engine } from '../../src/warehouse/engine.ts';
import { fillLocalTime } from '../../src/warehouse/load/local-days.ts';
import { tables } from '../../src/warehouse/schema/catalog.ts';
import { bringSchemaUpToDate } from '../../src/warehouse/schema/converge.ts';
import type { Migration } from '../../src/warehouse/schema/migrations/migration.ts';
import { migrations } from '../../src/warehouse/schema/migrations.ts';
import { views } from '../../src/warehouse/schema/view-catalog.ts';
import { stopPostgres } from '../support/databases/postgres.ts';
import { killedUpgrades } from '../support/kills/upgrade-kills.ts';
import { type EngineName, type EnginePlace, makePlace, rowsOf } from '../support/warehouse/engines.ts';
import { NEXT, SCHEMAS } from '../support/warehouse/schema-dump.ts';

const releases = readdirSync(SCHEMAS);
const NOTIFIED_AT = '2025-12-31T12:00:00.000Z';
const LOAD_METADATA = `'2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z', 'run-1'`;

/** Stand for migrations of a later version; each would show if it were done twice or by half. */
const steps: readonly Migration[] = [
  ...migrations,
  {
    name: '9999-01-01 test',
    async up(sql) {
      await sql.raw("update vehicle set title = title || ' moved'");
      await sql.raw('alter table driver rename column status to old_status');
      await sql.raw('create table moved (id integer)');
      await sql.raw('insert into moved select 1');
    },
  },
];

afterAll(stopPostgres);

/** The release's own database with rows in it, and less than is declared now. */
async function releasedPlace(release: string, engineName: EngineName): Promise<EnginePlace> {
  const place = await makePlace(engineName);
  onTestFinished(() => place.remove());
  const engine = await place.open();
  const statements = readFileSync(join(SCHEMAS, release, `${engineName}.sql`), 'utf8').split(NEXT);
  await engine.write(async ({ sql }) => {
    for (const statement of statements.filter((each) => each !== '')) await sql.raw(statement);
    const columns = '_first_seen_at, _changed_at, _run_id';
    await sql.raw(`insert into vehicle (id, title, ${columns}) values (1, 'one', ${LOAD_METADATA})`);
    await sql.raw(`insert into driver (id, status, ${columns}) values (1, 'A', ${LOAD_METADATA})`);
    await sql.raw(
      `insert into event (event_category, id, begin_date, ${columns}) values (1, 1, '1999-06-01T01:00:00.000Z', ${LOAD_METADATA})`,
    );
    await fillReturns(sql);
    await sql.raw('drop index idx_vehicle_plate');
    await sql.raw('alter table vehicle drop column plate');
    await sql.raw('drop table image');
  });
  await engine.close();
  return place;
}

/** Two stops of which the ERP was notified: the execution of the first has vanished since, the second never had one. */
async function fillReturns(sql: Knex): Promise<void> {
  const at = '2026-01-01T00:00:00.000Z';
  const loaded = { _first_seen_at: at, _changed_at: at, _run_id: 'run-1' };
  await sql('push_outbox').insert({
    ...{ kind: 'route_plans', external_code: 'P', state: 'confirmed', content_hash: 'c', remote_key: 'P' },
    ...{ remote_id: 7, attempts: 1, unclear_sends: 0, revision: 1, created_at: at, updated_at: at },
  });
  await sql('route_plan').insert({ id: 7, external_code: 'P', status: 'F', date_time_start: NOTIFIED_AT, ...loaded });
  await sql('route_point').insert([
    { id: 71, route_plan_id: 7, external_code: 'A', ...loaded },
    { id: 72, route_plan_id: 7, external_code: 'B', ...loaded },
    { id: 81, route_plan_id: 8, external_code: 'B', ...loaded },
  ]);
  await sql('route_point_execution').insert([
    { id: 1, route_point_id: 71, return_date: '2025-12-31T10:00:00.000Z', _missing_since: null, ...loaded },
    { id: 2, route_point_id: 71, return_date: NOTIFIED_AT, _missing_since: at, ...loaded },
    { id: 3, route_point_id: 81, return_date: NOTIFIED_AT, _missing_since: null, ...loaded },
  ]);
  const notified = { plan_external_code: 'P', status: 'E', outcome_hash: 'h', told_at: at, run_id: 'run-1' };
  await sql('push_return').insert([
    { ...notified, point_external_code: 'A' },
    { ...notified, point_external_code: 'B' },
  ]);
}

/** Rows of the release by table. */
const FILLED = {
  vehicle: 1,
  driver: 1,
  event: 1,
  push_outbox: 1,
  push_return: 2,
  route_plan: 1,
  route_point: 3,
  route_point_execution: 3,
};

/** Each view is followed by its digest: a kill at one of the two is enough. */
const isTried = (statement: string): boolean => !/insert into .schema_view/.test(statement);

const isUntouched = async (engine: Engine): Promise<void> =>
  expect(await engine.read((sql) => sql('vehicle').select('title'))).toEqual([{ title: 'one' }]);

describe.each(releases)('a database of release %s', (release) => {
  it.each(['sqlite', 'postgres'] as const)(
    'is upgraded after a kill at any statement: %s',
    { timeout: 240_000 },
    async (engineName) => {
      const place = await releasedPlace(release, engineName);
      const left = await killedUpgrades({ place, steps, at: isTried, unchanged: isUntouched });
      expect(left.length).toBeGreaterThan(0);
      for (const open of left) {
        const engine = await open();
        await bringSchemaUpToDate(engine, steps);
        for (const { name, columns } of tables) {
          const present = await engine.read((sql) => engine.columnsOf(sql, name));
          expect(present).toEqual(expect.arrayContaining(columns.map((column) => column.name)));
        }
        expect(await engine.read((sql) => rowsOf(sql, 'select title from vehicle'))).toEqual([{ title: 'one moved' }]);
        expect(await engine.read((sql) => rowsOf(sql, 'select old_status from driver'))).toEqual([{ old_status: 'A' }]);
        expect(await engine.read((sql) => rowsOf(sql, 'select id from moved'))).toEqual([{ id: 1 }]);
        expect(await engine.read((sql) => rowsOf(sql, 'select id from event'))).toEqual([{ id: 1 }]);
        const returns = await engine.read((sql) => sql('push_return').orderBy('point_external_code'));
        expect(returns).toMatchObject([
          { plan_external_code: 'P', code_use: 1, point_external_code: 'A', executed_at: NOTIFIED_AT },
          { plan_external_code: 'P', code_use: 1, point_external_code: 'B', executed_at: null },
        ]);
        await engine.write(({ sql }) => sql('push_return').insert({ ...returns[0], code_use: 2 }));
        await engine.close();
      }
    },
  );

  it.each(['sqlite', 'postgres'] as const)('keeps its rows, and every view answers: %s', async (engineName) => {
    const place = await releasedPlace(release, engineName);
    const engine = await place.open();
    onTestFinished(() => engine.close());
    const counts = async (names: readonly string[]) => {
      const rows = await engine.read((sql) =>
        Promise.all(names.map((name) => rowsOf<{ n: number }>(sql, `select count(*) as n from ${name}`))),
      );
      return Object.fromEntries(names.map((name, index) => [name, Number(rows[index]?.[0]?.n)]));
    };
    const filled = Object.keys(FILLED);
    expect(await counts(filled)).toEqual(FILLED);
    await bringSchemaUpToDate(engine);
    await fillLocalTime(engine, 'America/Sao_Paulo', Date.parse(NOTIFIED_AT));
    expect(await counts(filled)).toEqual(FILLED);
    expect(await counts(views.map(({ name }) => name))).toMatchObject({
      bi_delivery: 3,
      bi_event: 1,
      bi_event_day: 1,
      bi_push: 1,
      bi_route_plan: 1,
    });
    expect(await engine.read((sql) => sql('bi_event').select('day'))).toEqual([{ day: '1999-05-31' }]);
    expect(await engine.read((sql) => sql('bi_push').select('code', 'state', 'code_use'))).toEqual([
      { code: 'P', state: 'confirmed', code_use: 1 },
    ]);
  });
});
