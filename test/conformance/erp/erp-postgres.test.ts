// PostgreSQL as an ERP: times without a zone, types of values, a stream that is closed early, and its errors, of which
// only the code may be shown.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import knex, { type Knex } from 'knex';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createManualClock } from '../../../src/core/time/manual-clock.ts';
import type { ErpBatch, ErpSource, ItemOutcome } from '../../../src/erp/source.ts';
import { type FeedSettings, openSource } from '../../../src/erp/sources.ts';
import { startPostgres, stopPostgres } from '../../support/databases/postgres.ts';
import { contextFor, drain, NOW } from '../../support/erp/erp-benches.ts';

const SECRET = 'the value of a customer';
const outcome: ItemOutcome = {
  externalCode: 'P1',
  periodStart: '2026-05-18T11:00:00.000Z',
  state: 'rejected',
  remoteId: null,
  message: SECRET,
};
const QUERY = `select 'P' || n as "plan.external_code", timestamp '2026-05-18 08:00' as "plan.date_time_start",
  timestamptz '2026-05-18 21:00Z' as "plan.date_time_end", 'Store' as "point.name"
  from generate_series(1, 2000) n`;

let connection: string;
let database: Knex;
let source: ErpSource | undefined;
const clock = createManualClock(NOW);

function open(change: Partial<FeedSettings & { source: 'sql' }>): ErpSource {
  const settings = {
    source: 'sql',
    client: 'pg',
    connection,
    query: QUERY,
    mapping: {},
    ...change,
  } as FeedSettings;
  source = openSource(settings, contextFor(clock));
  return source;
}

beforeEach(async () => {
  connection = await (await startPostgres()).newDatabase();
  database = knex({ client: 'pg', connection });
});
afterEach(async () => {
  await source?.close();
  source = undefined;
  await database.destroy();
});
afterAll(stopPostgres);

describe('sql on PostgreSQL', () => {
  test('reads a decimal as the database writes it, and a text as the feed says', async () => {
    const query = `select 1.000 as "item.external_code", 2.000 as "item.quantity", '1.234,56' as "item.value",
      '3.000' as "item.capacity", 1::numeric as optimized, plan.* from (${QUERY} limit 1) plan`;
    const mapping = { 'options.optimize': { column: 'optimized', values: { 1: false } } };
    const [batch] = await drain(open({ query, mapping, decimal: 'comma' }), clock);
    expect(batch?.readErrors).toEqual([]);
    const item = { external_code: '1.000', quantity: 2, value: 1234.56, capacity: 3000 };
    expect(batch?.items).toMatchObject([
      { options: { optimize: false }, data: { route_points: [{ route_point_items: [item] }] } },
    ]);
  });

  test('reads a time without a zone in the zone of the configuration, an instant as it is', async () => {
    const [batch] = await drain(open({}), clock);
    expect(batch?.items[0]?.data).toMatchObject({
      date_time_start: '2026-05-18T08:00:00-03:00',
      date_time_end: expect.stringMatching(/^2026-05-18T(?:21:00:00(?:\.000)?Z|18:00:00-03:00)$/),
    });
  });

  test('releases its connection when a read is closed early', async () => {
    const erp = open({});
    for (let times = 0; times < 10; times++) {
      for await (const _ of erp.read()) break;
    }
    const rows = await database.raw(
      "select count(*)::int as count from pg_stat_activity where datname = current_database() and state <> 'idle'",
    );
    expect(rows.rows).toEqual([{ count: 1 }]);
  });

  test('takes the start of the period as a value, and as the name of a type', async () => {
    await database.raw('create domain period_start as timestamptz');
    await database.raw('create table acknowledged (code text, starts timestamptz)');
    const erp = open({
      acknowledge: 'insert into acknowledged values (:external_code, :period_start::period_start)',
    });
    await erp.acknowledge([outcome, { ...outcome, externalCode: 'P2', periodStart: null }]);
    expect(await database('acknowledged').select()).toEqual([
      { code: 'P1', starts: new Date('2026-05-18T11:00:00Z') },
      { code: 'P2', starts: null },
    ]);
  });

  test('fails where its query breaks off, and gives no last part', async () => {
    const query = QUERY.replace("'Store'", "'Store ' || 1 / (1500 - n)");
    const batches: ErpBatch[] = [];
    const reading = drain(open({ query }), clock, async (batch) => void batches.push(batch));
    await expect(reading).rejects.toMatchObject({ code: 'erp_statement_rejected' });
    expect(batches.map(({ last }) => last)).not.toContain(true);
    expect(batches.flatMap(({ readErrors }) => readErrors)).toEqual([]);
  });

  test('ends a read with its code when the server ends the connection, and when it does not answer in time', async () => {
    const query = `${QUERY} where pg_sleep(60) is not null`;
    const reading = drain(open({ query }), clock);
    reading.catch(() => undefined);
    for (let ended = 0; ended === 0; ) {
      const { rows } = await database.raw(
        "select pg_terminate_backend(pid) from pg_stat_activity where query like '%pg_sleep(60)%' and pid <> pg_backend_pid()",
      );
      ended = rows.length;
    }
    await expect(reading).rejects.toMatchObject({ code: 'erp_unreachable' });
    await expect(drain(open({ query, timeoutMs: 1_000 }), clock)).rejects.toMatchObject({ code: 'erp_unavailable' });
  });

  test('acknowledges what comes after a locked row, for which it waits less long than for a statement', async () => {
    await database.raw(
      "create table orders as select 'P' || n as code, null::text as state from generate_series(1, 2) n",
    );
    const acknowledge = 'update orders set state = :state where code = :external_code';
    const erp = open({ acknowledge, timeoutMs: 40_000 });
    const lock = await database.transaction();
    await lock.raw("select * from orders where code = 'P1' for update");
    const thrown = await erp
      .acknowledge([outcome, { ...outcome, externalCode: 'P2' }])
      .catch((error: unknown) => error);
    await lock.rollback();
    expect(thrown).toMatchObject({
      code: 'erp_unavailable',
      failures: new Map([[0, expect.objectContaining({ message: expect.stringContaining('acknowledge, 55P03') })]]),
    });
    expect(await database('orders').orderBy('code').pluck('state')).toEqual([null, 'rejected']);
  });

  test('tries a login that the server rejects once for all outcomes', async () => {
    const { hostname, port } = new URL(connection);
    let logins = 0;
    const front = createServer((client) => {
      logins++;
      const server = connect(Number(port), hostname);
      client.pipe(server).pipe(client);
      client.on('error', () => server.destroy());
      server.on('error', () => client.destroy());
    }).listen(0, '127.0.0.1');
    await once(front, 'listening');
    const wrong = Object.assign(new URL(connection), {
      password: 'wrong',
      port: (front.address() as AddressInfo).port,
    });
    const erp = open({ connection: wrong.href, acknowledge: 'select :external_code::text' });
    await expect(erp.acknowledge(Array.from({ length: 20 }, () => outcome))).rejects.toMatchObject({
      code: 'erp_login_rejected',
      failures: { size: 20 },
    });
    expect(logins).toBe(1);
    front.close();
  });

  test('takes a statement whose casts are named as its values', async () => {
    await database.raw("create type state as enum ('confirmed', 'rejected')");
    await database.raw(
      'create table acknowledged (code text primary key, state state, remote_id bigint, message text)',
    );
    const acknowledge = `insert into acknowledged values (:external_code::text, :state::state, :remote_id::bigint, :message::varchar)
      on conflict (code) do update set state = excluded.state;`;
    const erp = open({ acknowledge });
    await erp.acknowledge([outcome]);
    await erp.acknowledge([outcome]);
    expect(await database('acknowledged').select()).toEqual([
      { code: 'P1', state: 'rejected', remote_id: null, message: SECRET },
    ]);
  });

  test.each([
    ['a table that is not there', 'update nowhere set a = :message', 'erp_statement_rejected', /42P01/],
    ['a value of an unknown type', 'select 1 where :message is null', 'erp_statement_rejected', /42P18/],
    ['a value that does not fit', 'select cast(:message as integer)', 'erp_statement_rejected', /22P02/],
    ['broken syntax', 'updat x set a = :message', 'erp_statement_rejected', /42601/],
  ])('reports %s by its code alone', async (_what, acknowledge, code, words) => {
    const error = await open({ acknowledge })
      .acknowledge([outcome])
      .then(
        () => undefined,
        (thrown) => thrown,
      );
    expect(error).toMatchObject({ code, message: expect.stringMatching(words), hint: expect.any(String) });
    expect(`${error.message} ${error.hint} ${error.stack} ${error.cause}`).not.toContain(SECRET);
  });

  test.each([
    ['a wrong password', (url: URL) => Object.assign(url, { password: SECRET }), 'erp_login_rejected'],
    ['a database that is not there', (url: URL) => Object.assign(url, { pathname: '/none' }), 'erp_database_missing'],
    ['a server that is not there', (url: URL) => Object.assign(url, { port: '1' }), 'erp_unreachable'],
  ])('reports %s plainly', async (_what, change, code) => {
    const erp = open({ connection: change(new URL(connection)).href });
    const error = await erp.check().then(
      () => undefined,
      (thrown) => thrown,
    );
    expect(error).toMatchObject({ code, hint: expect.any(String) });
    expect(error.message).not.toMatch(/customer|postgres:\/\//);
  });
});
