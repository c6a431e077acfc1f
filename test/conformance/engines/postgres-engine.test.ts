// PostgreSQL alone: comments, months, commits, roles, and addresses that do not work.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Fatal, Retriable } from '../../../src/core/errors.ts';
import { createLog } from '../../../src/core/log.ts';
import { createRedactor } from '../../../src/core/text/redaction.ts';
import { createPgBossDispatcher } from '../../../src/sync/dispatch/pg-boss.ts';
import type { Row } from '../../../src/warehouse/engine.ts';
import { rowMapping } from '../../../src/warehouse/load/row-mapping.ts';
import { tables } from '../../../src/warehouse/schema/catalog.ts';
import { bringSchemaUpToDate } from '../../../src/warehouse/schema/converge.ts';
import { event } from '../../../src/warehouse/tables/event.ts';
import { vehicle } from '../../../src/warehouse/tables/vehicle.ts';
import {
  admin,
  connect,
  failureOf,
  metadata,
  open,
  url,
  useDatabase,
  vehicles,
} from '../../support/databases/postgres-place.ts';
import { rowsOf } from '../../support/warehouse/engines.ts';
import { metadataAt } from '../../support/warehouse/load-metadata.ts';

useDatabase();

const ROLES = readFileSync(resolve(import.meta.dirname, '../../../deploy/postgres-roles.sql'), 'utf8');
const toEvent = rowMapping(event);
const eventAt = (id: number, begin_date: string | null): Row => {
  const mapped = toEvent({ event_category: 1, id, begin_date });
  if (!('row' in mapped)) throw new Error(mapped.invalid);
  return mapped.row;
};

describe('the schema in PostgreSQL', () => {
  it('has a comment on every table and column, and sorts all text by code points', async () => {
    await bringSchemaUpToDate(await open(url, 'other_name'));
    const described = await rowsOf<Record<'name' | 'column' | 'comment' | 'collation' | 'data_type', string>>(
      admin,
      `select table_name as name, column_name as column, collation_name as collation, data_type,
         col_description(format('other_name.%I', table_name)::regclass, ordinal_position::int) as comment
       from information_schema.columns where table_schema = 'other_name'`,
    );
    for (const table of tables) {
      for (const column of table.columns) {
        const found = described.find((each) => each.name === table.name && each.column === column.name);
        expect(found?.comment, `${table.name}.${column.name}`).toContain(column.meaning);
        expect(found?.collation ?? found?.data_type).not.toBe('text');
      }
      const [about] = await rowsOf(admin, `select obj_description('other_name.${table.name}'::regclass) as text`);
      expect(about).toEqual({ text: table.meaning });
    }
  });

  it('changes nothing and locks no table where it is up to date', async () => {
    const engine = await open(url);
    await bringSchemaUpToDate(engine);
    const locks = await engine.write(async ({ sql }) => {
      await sql('vehicle').select('id').limit(1).forUpdate();
      // A second process starts while the first one has a table open; it waits only for the write lock.
      return rowsOf(
        sql,
        `select 1 from pg_locks where mode = 'AccessExclusiveLock' and relation is not null
           and database = (select oid from pg_database where datname = current_database())`,
      );
    });
    expect(locks).toEqual([]);
    const before = await rowsOf(admin, 'select xmin::text from fleet.event_category order by id');
    await bringSchemaUpToDate(await open(url));
    expect(await rowsOf(admin, 'select xmin::text from fleet.event_category order by id')).toEqual(before);
  });

  it('creates the month of an event with the event, and keeps no key twice within it', async () => {
    const engine = await open(url);
    await bringSchemaUpToDate(engine);
    await engine.write((tx) => tx.load(event, [eventAt(1, '2031-07-15T00:00:00.000Z')], metadata));
    const [row] = await rowsOf(admin, 'select tableoid::regclass::text as part from fleet.event');
    expect(row).toEqual({ part: 'fleet.event_2031_07' });
    const again = engine.write(({ sql }) => sql.raw('insert into event select * from event where id = 1'));
    expect((await failureOf(again)).code).toBe('warehouse_failed');
    const plan = await rowsOf<Record<string, string>>(
      admin,
      "explain select * from fleet.event where begin_date >= '2031-07-01Z' and begin_date < '2031-08-01Z'",
    );
    expect(JSON.stringify(plan)).not.toMatch(/event_early|event_late/);
  });

  it('rolls back a new month with the transaction that created it', async () => {
    const engine = await open(url);
    await bringSchemaUpToDate(engine);
    const cut = engine.write(async (tx) => {
      await tx.load(event, [eventAt(1, '2031-07-15T00:00:00.000Z')], metadata);
      throw new Error('cut');
    });
    await expect(cut).rejects.toThrow('cut');
    expect(await rowsOf(admin, "select to_regclass('fleet.event_2031_07')::text as part")).toEqual([{ part: null }]);
    await engine.write((tx) => tx.load(event, [eventAt(1, '2031-07-15T00:00:00.000Z')], metadata));
    expect(await engine.read((sql) => sql('event'))).toHaveLength(1);
  });
});

describe('a write to PostgreSQL', () => {
  it('waits until its commit is on disk, whatever the default of the database', async () => {
    await admin.raw(`alter database ${new URL(url).pathname.slice(1)} set synchronous_commit = off`);
    const engine = await open(url);
    const ASK = 'show synchronous_commit';
    expect(await engine.read((sql) => rowsOf(sql, ASK))).toEqual([{ synchronous_commit: 'off' }]);
    expect(await engine.write(({ sql }) => rowsOf(sql, ASK))).toEqual([{ synchronous_commit: 'on' }]);
  });
});

describe('a load into PostgreSQL', () => {
  const JULY = '2031-07-15T00:00:00.000Z';

  it('moves an event whose instant changes to the partition of that instant, and keeps it once', async () => {
    const engine = await open(url);
    await bringSchemaUpToDate(engine);
    const moves: [string | null, string][] = [
      [JULY, 'event_2031_07'],
      ['2031-08-01T00:00:00.000Z', 'event_2031_08'],
      [null, 'event_undated'],
      ['1999-12-31T00:00:00.000Z', 'event_early'],
      ['1998-12-31T00:00:00.000Z', 'event_early'],
      ['2100-01-01T00:00:00.000Z', 'event_late'],
      [JULY, 'event_2031_07'],
    ];
    for (const [hour, [instant, part]] of moves.entries()) {
      const later = metadataAt('run-2', new Date(Date.UTC(2026, 1, 1, hour)).toISOString());
      await engine.write((tx) => tx.load(event, [eventAt(1, instant), eventAt(2, JULY)], later));
      const places = await rowsOf(
        admin,
        'select tableoid::regclass::text as part, begin_date from fleet.event where id = 1',
      );
      expect(places).toEqual([{ part: `fleet.${part}`, begin_date: instant && new Date(instant) }]);
    }
    expect(await rowsOf(admin, 'select id from fleet.event order by id')).toHaveLength(2);
  });

  it('finds stored events by their key, however many share an instant, even without a known month', async () => {
    const engine = await open(url);
    await bringSchemaUpToDate(engine);
    const events = Array.from({ length: 3_000 }, (_, id) => eventAt(id, JULY));
    await engine.write((tx) => tx.load(event, events, metadata));
    // Another process: this one knows that they are stored.
    const other = await open(url);
    const again = await other.write((tx) => tx.load(event, events, metadataAt('run-2', '2026-01-02T00:00:00.000Z')));
    expect(again).toEqual({ inserted: 0, updated: 0, unchanged: 3_000 });
    await other.write(({ sql }) => sql.raw('select pg_stat_force_next_flush()'));
    const used = await rowsOf(
      admin,
      `select indexrelname as name from pg_stat_user_indexes where relname = 'event_2031_07' and idx_tup_read > 0`,
    );
    expect(used).toEqual([{ name: 'event_2031_07_key' }]);
  });

  it('of more rows than one chunk stores all of them, or none where one is rejected', async () => {
    const engine = await open(url);
    await bringSchemaUpToDate(engine);
    const rows = vehicles(5_000);
    const spoilt = [...rows.slice(0, 100), [...(rows[100] ?? [])].with(1, { not: 'a scalar' } as never)];
    await admin.raw("alter table fleet.vehicle add check (title <> '[object Object]')");
    const rejected = engine.write((tx) => tx.load(vehicle, [...spoilt, ...rows.slice(101)], metadata));
    expect((await failureOf(rejected)).code).toBe('warehouse_failed');
    expect(await rowsOf(admin, 'select id from fleet.vehicle')).toEqual([]);
    await engine.write((tx) => tx.load(vehicle, rows, metadata));
    const stored = await rowsOf<{ id: number }>(admin, 'select id from fleet.vehicle order by id');
    expect(stored.map(({ id }) => Number(id))).toEqual(rows.map((_, id) => id));
  });
});

describe('the roles of deploy/postgres-roles.sql', () => {
  const as = (user: string) => url.replace(/\/\/[^@]+@/, `//${user}:only-for-tests@`);

  it('let the daemon own its schema, and BI only read it', async () => {
    await admin.raw(ROLES);
    for (const role of ['roadbook', 'roadbook_bi']) await admin.raw(`alter role ${role} password 'only-for-tests'`);
    const engine = await open(as('roadbook'));
    await bringSchemaUpToDate(engine);
    await engine.write((tx) => tx.load(event, [eventAt(1, '2031-07-15T00:00:00.000Z')], metadata));
    await engine.write((tx) => tx.load(event, [eventAt(1, '2031-08-15T00:00:00.000Z')], metadata));
    const log = createLog({ level: 'silent', redactor: createRedactor() });
    const dispatcher = createPgBossDispatcher({
      home: async () => engine.queueHome,
      jobs: [],
      during: () => Promise.reject(new Error('nothing to work')),
      workers: 1,
      log,
    });
    await dispatcher.start();
    expect(await dispatcher.facts()).toEqual({ waiting: 0, active: 0, dead: 0 });
    await dispatcher.close();

    const bi = connect(as('roadbook_bi'));
    expect(await bi('event').select('id')).toEqual([{ id: '1' }]);
    expect(await bi('event_category').select('id')).not.toHaveLength(0);
    for (const closed of ['push_outbox', 'sync_state', 'sync_quarantine', 'sync_lease']) {
      expect((await failureOf(bi(closed).select('*').then())).code, closed).toBe('42501');
    }
    const own = [
      "set transaction read write; insert into event_category values (999, 'x')",
      'set transaction read write; delete from event',
      'set transaction read write; create table fleet.mine (n int)',
    ];
    for (const statement of own) expect((await failureOf(bi.raw(statement).then())).code).toBe('42501');
    expect((await failureOf(engine.write(({ sql }) => sql.raw('create schema another')))).code).toBe(
      'warehouse_unwritable',
    );
  });
});

describe('an address that does not work', () => {
  it.each([
    [
      'a wrong password',
      (good: string) => good.replace('only-for-tests', 'canary-password'),
      'warehouse_login_rejected',
    ],
    ['no such database', (good: string) => good.replace(/[^/]+$/, 'nowhere'), 'warehouse_unwritable'],
    ['no server there', (good: string) => good.replace(/:\d+\//, ':1/'), 'warehouse_unreachable'],
  ])('is reported in plain words: %s', async (_, spoil, code) => {
    const engine = await open(spoil(url));
    const error = await failureOf(bringSchemaUpToDate(engine));
    expect(error.code).toBe(code);
    expect(error instanceof Retriable || error instanceof Fatal).toBe(true);
    expect(`${error.message} ${error.stack}`).not.toMatch(/canary-password|only-for-tests/);
    expect(error.message).toContain('127.0.0.1');
  });
});
