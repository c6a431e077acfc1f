// MariaDB as an ERP: exact values, names of columns, and what happens to a read or an acknowledgement when the server ends
// the connection, does not answer in time, holds a lock or meets a deadlock.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import knex, { type Knex } from 'knex';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { tablesText } from '../../../src/cli/output/config-text.ts';
import { createManualClock } from '../../../src/core/time/manual-clock.ts';
import { type ErpSource, type ItemOutcome, NotifiedInPart, type StopOutcome } from '../../../src/erp/source.ts';
import { type FeedSettings, openSource } from '../../../src/erp/sources.ts';
import { hasMariadb, sharedMariadb } from '../../support/databases/mariadb.ts';
import { contextFor, drain, NOW } from '../../support/erp/erp-benches.ts';

const MAPPING = {
  'plan.external_code': 'number',
  'plan.date_time_start': 'starts',
  'plan.date_time_end': 'ends',
  'point.name': 'name',
};
const TRIP = "number, '2026-05-18 08:00' as starts, '2026-05-18 18:00' as ends, 'A' as name";
const ACKNOWLEDGE =
  'update orders set state = :state, remote_id = :remote_id -- no :message?\nwhere number = :external_code';

const outcome = (externalCode: string, state: ItemOutcome['state'] = 'confirmed'): ItemOutcome => ({
  externalCode,
  periodStart: null,
  state,
  remoteId: 7,
  message: null,
});

const STOP: StopOutcome = {
  planExternalCode: '1',
  planPeriodStart: null,
  pointExternalCode: 'A',
  status: 'C',
  executedAt: null,
  reason: null,
  pictures: [],
};

describe.skipIf(!hasMariadb)('sql on MariaDB', () => {
  const clock = createManualClock(NOW);
  let connection: string;
  let erp: Knex;
  let source: ErpSource | undefined;

  beforeEach(async () => {
    connection = await (await sharedMariadb()).newDatabase();
    erp = knex({ client: 'mysql2', connection, pool: { min: 0, max: 4 } });
    await erp.raw('create table orders (number bigint primary key, state varchar(20), remote_id int) engine = innodb');
    await erp('orders').insert([1, 2, 3].map((number) => ({ number })));
  });
  afterEach(async () => {
    await source?.close();
    await erp.destroy();
  });

  function open(change: Partial<FeedSettings & { source: 'sql' }>, random = () => 0): ErpSource {
    const query = `select ${TRIP} from orders`;
    const settings = { source: 'sql', client: 'mysql2', connection, query, mapping: MAPPING, ...change };
    source = openSource(settings as FeedSettings, contextFor(clock, { random }));
    return source;
  }

  const states = (): Promise<(string | null)[]> => erp('orders').orderBy('number').pluck('state');

  const failuresOf = async (work: Promise<unknown>): Promise<[number, string][]> =>
    [...(await failures(work))].map(([i, { code }]) => [i, code]);

  async function failures(work: Promise<unknown>): Promise<NotifiedInPart['failures']> {
    const thrown = await work.then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(thrown).toBeInstanceOf(NotifiedInPart);
    return (thrown as NotifiedInPart).failures;
  }

  async function running(text: string): Promise<{ id: number }[]> {
    const [found] = await erp.raw(
      'select id from information_schema.processlist where info like ? and id <> connection_id()',
      [text],
    );
    return found;
  }

  /** Resolves once as many statements wait as `count` says; each query of the server is a step of the wait. */
  async function statementsLike(text: string, count = 1): Promise<{ id: number }[]> {
    for (;;) {
      const found = await running(text);
      if (found.length >= count) return found;
    }
  }

  test('keeps the digits of large integers and decimals, whatever the form of numbers in texts, and reads bits as numbers', async () => {
    await erp.raw("alter table orders add flag bit(1) default b'1'");
    await erp('orders').delete();
    await erp('orders').insert({ number: '9007199254740993' });
    const query = `select ${TRIP}, cast(12345678901234567890.12 as decimal(30, 2)) as item, flag,
      cast(1.500 as decimal(6, 3)) as quantity, '1.500' as written from orders`;
    const mapping = {
      ...MAPPING,
      'item.external_code': 'item',
      'item.quantity': 'quantity',
      'item.value': 'written',
      'options.optimize': 'flag',
    };
    const [batch] = await drain(open({ query, mapping, decimal: 'comma' }), clock);
    expect(batch?.readErrors).toEqual([]);
    const item = { external_code: '12345678901234567890.12', quantity: 1.5, value: 1500 };
    expect(batch?.items).toMatchObject([
      {
        externalCode: '9007199254740993',
        options: { optimize: true },
        data: { route_points: [{ route_point_items: [item] }] },
      },
    ]);
  });

  test('joins a day, also one that is a DATETIME at midnight, with a time of any type', async () => {
    await erp.raw('create table trip (number int, day date, moment datetime(3), starts char(4), ends time)');
    await erp.raw("insert into trip values (1, '2026-05-18', '2026-05-18', '0800', '18:00')");
    const mapping = {
      ...MAPPING,
      'plan.date_time_start': { columns: ['moment', 'starts'] },
      'plan.date_time_end': { columns: ['day', 'ends'] },
    };
    const [batch] = await drain(open({ query: "select *, 'A' as name from trip", mapping }), clock);
    expect(batch?.readErrors).toEqual([]);
    const [start, end] = ['2026-05-18T08:00:00-03:00', '2026-05-18T18:00:00-03:00'];
    expect(batch?.items).toMatchObject([{ data: { date_time_start: start, date_time_end: end } }]);
  });

  test.each([
    [
      'a table that is not there',
      'select * from nowhere',
      'erp_statement_rejected',
      /has no table test_\w+\.nowhere \(query, ER_NO_SUCH_TABLE\)/,
    ],
    [
      'texts of two collations',
      `select ${TRIP} from orders where state collate utf8mb4_bin = state collate utf8mb4_unicode_ci`,
      'erp_statement_rejected',
      /cannot compare texts of two collations/,
    ],
    ['a statement that is no query', 'update orders set state = null', undefined, /plan.external_code/],
    ['a statement that takes too long', `select ${TRIP} from orders where sleep(30) = 0`, 'erp_unavailable', /TIMEOUT/],
  ])('names %s', async (_what, query, code, words) => {
    const read = drain(open({ query, timeoutMs: 1_000 }), clock);
    if (code !== undefined) return expect(read).rejects.toMatchObject({ code, message: expect.stringMatching(words) });
    const [batch] = await read;
    expect(batch?.readErrors.map(({ reason }) => reason).join()).toMatch(words);
  });

  test('compares its texts in any collation: the condition of the docs offers new, rejected and unknown plans of the last days, and what has not started', async () => {
    await erp.raw('alter database collate utf8mb4_spanish_ci');
    const docs = readFileSync(resolve(import.meta.dirname, '../../../docs/how-to/erp-sql.md'), 'utf8');
    const [condition = ''] = /where v\.starts_at [^`]+ roadbook_outcome [^`]+/.exec(docs) ?? [];
    for (const statement of tablesText('mysql2').split(/;\s*$/m).slice(0, -1)) await erp.raw(statement);
    await erp.raw('alter table orders add starts_at datetime default now()');
    await erp('orders').insert([4, 5].map((number) => ({ number })));
    await erp('orders').insert({ number: 6, starts_at: erp.raw('now() - interval 8 day') });
    await erp('orders').insert({ number: 7, starts_at: erp.raw('now() + interval 1 day') });
    const states = ['confirmed', 'rejected', 'unknown', 'partial'];
    await erp('roadbook_outcome').insert(states.map((state, i) => ({ external_code: String(i + 1), state })));
    // The next use of a code, or a change of a plan that the service has.
    await erp('roadbook_outcome').insert({ external_code: '7', state: 'confirmed' });
    const batches = await drain(open({ query: `select ${TRIP} from orders v ${condition}` }), clock);
    expect(batches.flatMap(({ items }) => items).map(({ externalCode }) => externalCode)).toEqual(['2', '3', '5', '7']);
    const acknowledge = "update orders set state = :state where concat(number, '') = :external_code";
    await open({ acknowledge }).acknowledge([outcome('3')]);
  });

  test('notices that a column which is read occurs twice, and leaves others alone', async () => {
    const join = 'from orders o join orders p using (number)';
    const twice = await drain(open({ query: `select o.number, ${TRIP}, o.state, p.state ${join}` }), clock);
    expect(twice.flatMap(({ readErrors }) => readErrors).map(({ reason }) => reason)).toEqual([
      'the column "number" occurs twice in the header; keep one or rename one',
    ]);
    const once = await drain(open({ query: `select ${TRIP}, o.state, p.state ${join}` }), clock);
    expect(once.flatMap(({ items }) => items)).toHaveLength(3);
  });

  test('ends a read with its code as soon as the server ends the connection', async () => {
    const reading = drain(open({ query: `select ${TRIP} from orders where sleep(60) = 0` }), clock);
    reading.catch(() => undefined);
    const [statement] = await statementsLike('select number, %sleep(60)%');
    await erp.raw(`kill ${statement?.id}`);
    await expect(reading).rejects.toMatchObject({ code: 'erp_unreachable' });
  });

  test('ends a read at once when the run is stopped', async () => {
    const stop = new AbortController();
    const read = open({ query: `select ${TRIP} from orders where sleep(59) = 0` }).read(stop.signal);
    const reading = read[Symbol.asyncIterator]().next();
    reading.catch(() => undefined);
    await statementsLike('select number, %sleep(59)%');
    stop.abort(new Error('stopped'));
    await expect(reading).rejects.toThrow('stopped');
    await expect.poll(() => running('select number, %sleep(59)%'), { timeout: 15_000 }).toEqual([]);
  });

  test('acknowledges what comes after a locked row, and the row itself once it is free', async () => {
    const feed = open({ acknowledge: ACKNOWLEDGE, timeoutMs: 1_000 });
    const lock = await erp.transaction();
    await lock.raw('select * from orders where number = 1 for update');
    const all = ['1', '2', '3'].map((code) => outcome(code));
    expect(await failuresOf(feed.acknowledge(all))).toEqual([[0, 'erp_unavailable']]);
    expect(await states()).toEqual([null, 'confirmed', 'confirmed']);
    await lock.rollback();
    await feed.acknowledge(all);
    expect(await states()).toEqual(['confirmed', 'confirmed', 'confirmed']);
  });

  test('acknowledges what comes after more locked rows than it waits for', async () => {
    await erp('orders').insert([4, 5, 6, 7, 8].map((number) => ({ number })));
    const feed = open({ acknowledge: ACKNOWLEDGE, timeoutMs: 1_000 }, () => 0.99);
    const lock = await erp.transaction();
    // One by one: a range would lock the row after it too.
    for (const number of [1, 2, 3, 4, 5, 6])
      await lock.raw('select * from orders where number = ? for update', [number]);
    const all = Array.from({ length: 8 }, (_, i) => outcome(String(i + 1)));
    const failed = await failures(feed.acknowledge(all));
    await lock.rollback();
    expect([...failed.keys()].sort()).toEqual([0, 1, 2, 3, 4, 5]);
    expect(await states()).toEqual([...Array(6).fill(null), 'confirmed', 'confirmed']);
  });

  test('waits less long for the lock of a row or table than for a statement', async () => {
    await erp.raw('create table stops (number bigint primary key, state varchar(20)) engine = innodb');
    const [row, table] = await Promise.all([erp.transaction(), erp.transaction()]);
    await row.raw('select * from orders where number = 1 for update');
    await table.raw('lock tables stops write');
    // Less than the 50 s that the server itself would wait.
    const feed = open({ acknowledge: ACKNOWLEDGE, return: 'update stops set state = :status', timeoutMs: 40_000 });
    const both = [feed.acknowledge([outcome('1')]), feed.returnExecutions?.([STOP]) ?? expect.unreachable()].map(
      failures,
    );
    const found = await Promise.all(both);
    await table.raw('unlock tables');
    await Promise.all([row.rollback(), table.rollback()]);
    expect(found.map((failed) => failed.get(0)?.message)).toEqual([
      expect.stringContaining('(acknowledge, ER_LOCK_WAIT_TIMEOUT)'),
      expect.stringContaining('(return, ER_LOCK_WAIT_TIMEOUT)'),
    ]);
  });

  test('reports every outcome as failed if the whole table is locked', async () => {
    const feed = open({ acknowledge: ACKNOWLEDGE, timeoutMs: 1_000 });
    const codes = Array.from({ length: 40 }, (_, i) => outcome(String(i + 1)));
    const lock = await erp.transaction();
    await lock.raw('lock tables orders write');
    expect(await failuresOf(feed.acknowledge(codes))).toEqual(codes.map((_, i) => [i, 'erp_unavailable']));
    await lock.raw('unlock tables');
    await lock.rollback();
  });

  test('repeats a statement that was rolled back because of a deadlock', async () => {
    const feed = open({
      acknowledge: 'update orders set state = :state where number in (1, 2) and number <> :external_code',
    });
    // The server rolls back the transaction that has changed less.
    await erp.raw('create table filler (n int) engine = innodb');
    const other = await erp.transaction();
    await other.raw('insert into filler select seq from seq_1_to_500');
    await other.raw("update orders set state = 'other' where number = 2");
    const acknowledging = feed.acknowledge([outcome('3')]);
    await statementsLike('update orders set state = %number <> %');
    await other.raw("update orders set state = 'other' where number = 1");
    await other.commit();
    await acknowledging;
    expect(await states()).toEqual(['confirmed', 'confirmed', null]);
    const [[{ deadlocks }]] = await erp.raw(
      "select count as deadlocks from information_schema.innodb_metrics where name = 'lock_deadlocks'",
    );
    expect(deadlocks).toBeGreaterThan(0);
  });

  test('counts an acknowledgement that finds no row as not made, but not one that repeats a value', async () => {
    const feed = open({ acknowledge: ACKNOWLEDGE });
    await feed.acknowledge([outcome('1'), outcome('9', 'unknown')]);
    expect(await failuresOf(feed.acknowledge([outcome('1'), outcome('9'), outcome('2')]))).toEqual([
      [1, 'erp_nothing_changed'],
    ]);
    expect(await states()).toEqual(['confirmed', 'confirmed', null]);
    await open({ acknowledge: ACKNOWLEDGE, acknowledgeMayChangeNothing: true }).acknowledge([outcome('9')]);
  });

  test('tries its statements without a trace, unless a table would keep their changes', async () => {
    const tried = () => open({ acknowledge: ACKNOWLEDGE }).tryStatements?.(outcome('1'), STOP);
    expect(await tried()).toEqual([{ statement: 'acknowledge', rows: 1 }]);
    expect(await states()).toEqual([null, null, null]);
    const procedure = open({ acknowledge: 'call confirm(:external_code)' }).tryStatements?.(outcome('1'), STOP);
    await expect(procedure).rejects.toThrow('unless they are insert, update or delete');
    const elsewhere = `${new URL(connection).pathname.slice(1)}_audit`;
    await erp.raw('create database ??', [elsewhere]);
    await erp.raw('create table ??.audit (number bigint) engine = myisam', [elsewhere]);
    const audit = 'create trigger audited after update on orders for each row insert into ??.audit values (new.number)';
    await erp.raw(audit, [elsewhere]);
    await expect(tried()).rejects.toThrow('could not take back all changes of acknowledge');
    await erp.raw('drop database ??', [elsewhere]);
    await erp.raw('create table notes (number bigint) engine = myisam');
    await expect(tried()).rejects.toThrow('tables without transactions, such as notes');
  });
});
