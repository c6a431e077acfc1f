// An ERP on MariaDB that is disturbed while its orders are read and while they are acknowledged: its connections are killed,
// it freezes, it is killed and started again, it holds locks. Every run ends within its time limits, also while the server is
// still frozen; in the end each order was sent once and is acknowledged. So it is when Roadbook's own process is killed.
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import knex from 'knex';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { FeedSettings } from '../../src/erp/sources.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { hasMariadb, type OwnMariadb, startMariadb } from '../support/databases/mariadb.ts';
import { configFor, makeWorkplace, QUICK } from '../support/process/workplace.ts';
import { openEntries } from '../support/push/dropped-items.ts';
import { makePushPlace, type PushPlace } from '../support/push/push-place.ts';

const JOB = 'push-route-plans';
const ORDERS = 20;
/** Of a connect, of each statement, and of the silence between two rows. */
const LIMIT_MS = 3_000;
/** The query, and a statement for each order, each up to its limit. */
const LONGEST_RUN_MS = (1 + ORDERS) * LIMIT_MS;

describe.skipIf(!hasMariadb)('an ERP on MariaDB', () => {
  let server: OwnMariadb;
  let connection: string;
  beforeAll(async () => {
    server = await startMariadb();
    connection = await server.newDatabase();
    await sql('create table orders (number int primary key, state varchar(20), remote_id int) engine = innodb');
  });
  afterAll(() => server?.stop());

  async function sql<Row = never>(statement: string): Promise<Row[]> {
    const database = knex({ client: 'mysql2', connection });
    try {
      return (await database.raw(statement))[0];
    } finally {
      await database.destroy();
    }
  }

  /** The connections that run a statement like this; waits until there is one. */
  async function busy(statement: string): Promise<number[]> {
    const query = `select id from information_schema.processlist where info like '${statement}%'`;
    for (;;) {
      const found = await sql<{ id: number }>(query);
      if (found.length > 0) return found.map(({ id }) => id);
    }
  }

  // Each row takes fifty milliseconds, so that a disturbance meets the statement while it runs; all of them a third of the limit.
  const feed = (): FeedSettings => ({
    source: 'sql',
    client: 'mysql2',
    connection,
    query:
      "select number, '2025-03-13 08:00' as starts, '2025-03-13 18:00' as ends, 'Store' as name from orders where state is null and sleep(0.05) = 0 order by number",
    acknowledge:
      'update orders set state = :state, remote_id = :remote_id where number = :external_code and sleep(0.05) = 0',
    timeoutMs: LIMIT_MS,
    mapping: {
      'plan.external_code': 'number',
      'plan.date_time_start': 'starts',
      'plan.date_time_end': 'ends',
      'point.name': 'name',
      'point.latitude': { value: -23.5 },
      'point.longitude': { value: -46.6 },
      'options.geocoding': { value: false },
    },
  });

  /** Disturbs the server; resolves to what ends the disturbance. */
  const DISTURBANCES: [string, (connections: number[]) => Promise<() => unknown>][] = [
    [
      'a killed connection',
      async (connections) => {
        for (const id of connections) await sql(`kill ${id}`).catch(() => undefined);
        return () => undefined;
      },
    ],
    [
      'a frozen server',
      async () => {
        server.signal('SIGSTOP');
        return () => server.signal('SIGCONT');
      },
    ],
    [
      'a killed server',
      async () => {
        await server.restart();
        return () => undefined;
      },
    ],
    [
      'locked rows',
      async () => {
        const database = knex({ client: 'mysql2', connection });
        const lock = await database.transaction();
        await lock.raw('select * from orders where number % 5 = 0 for update');
        return async () => {
          await lock.rollback();
          await database.destroy();
        };
      },
    ],
  ];

  let offered = 0;
  async function disturbedRun(place: PushPlace, statement: string, disturb: (ids: number[]) => Promise<() => unknown>) {
    const numbers = Array.from({ length: ORDERS }, () => ++offered);
    await sql(`insert into orders (number) values ${numbers.map((number) => `(${number})`).join(', ')}`);
    const disturbing = busy(statement).then(disturb);
    const begun = performance.now();
    const run = place.run(JOB).then((summary) => ({ ...summary, lastedMs: performance.now() - begun }));
    const heal = await disturbing;
    const ended = await run;
    await heal();
    return ended;
  }

  it('has each order sent once and acknowledged, whatever happens to its server', { timeout: 600_000 }, async () => {
    const place = await makePushPlace({ feeds: { route_plans: feed() } });
    for (const [what, disturb] of DISTURBANCES)
      for (const statement of ['select number', 'update orders']) {
        const { status, error, lastedMs } = await disturbedRun(place, statement, disturb);
        const isLockOfRead = what === 'locked rows' && statement === 'select number';
        expect([what, statement, status === 'ok', error?.code], `${what} ${statement}`).toEqual([
          what,
          statement,
          false,
          isLockOfRead ? 'erp_unavailable' : expect.stringMatching(/^erp_un(reachable|available)$/),
        ]);
        expect(lastedMs, `${what} ${statement}`).toBeLessThan(LONGEST_RUN_MS);
        expect(await place.run(JOB)).toMatchObject({ error: null });
      }
    const once = Object.fromEntries(Array.from({ length: offered }, (_, i) => [String(i + 1), 1]));
    expect(place.sandbox.ledger().plans).toEqual(once);
    expect(
      await sql("select number from orders where state is null or state <> 'confirmed' or remote_id is null"),
    ).toEqual([]);
  });

  /** The login is the first POST, the order the second. */
  const DEATHS = [
    ['request written POST', 2],
    ['answer arrived POST', 2],
    ['statement begins', 1],
    ['statement done', 1],
    ['commit begins', 5],
  ] as const;

  it('has each order sent once and acknowledged by processes that are killed', { timeout: 900_000 }, async () => {
    await sql('delete from orders');
    const sandbox = await startSandbox({ churn: false, vehicles: 2 });
    onTestFinished(() => sandbox.close());
    const { timeoutMs: _, ...settings } = feed() as FeedSettings & { source: 'sql' };
    const rest = `erp: ${JSON.stringify({ route_plans: settings })}\njobs: { ${JOB}: { settle: ${QUICK.settle} } }\n`;
    const place = makeWorkplace(configFor(sandbox.url, rest, QUICK.timeout));
    onTestFinished(() => place.remove());
    const NODE_OPTIONS = `--import=${join(import.meta.dirname, '../support/kills/kill-at.ts')}`;
    for (const [i, [step, at]] of DEATHS.entries()) {
      await sql(`insert into orders (number) values (${i + 1})`);
      const { signal } = await place.run(['run', JOB], { NODE_OPTIONS, KILL_STEP: step, KILL_AT: String(at) });
      expect([step, signal]).toEqual([step, 'SIGKILL']);
    }
    const isDone = async () => (await sql('select number from orders where state is null')).length === 0;
    for (let runs = 0; runs < 30 && !((await isDone()) && (await openEntries(place)) === 0); runs++) {
      await place.run(['run', JOB]);
      // An order that was not found has to stay absent for a while.
      await pause(500);
    }
    expect(sandbox.ledger().plans).toEqual(Object.fromEntries(DEATHS.map((_, i) => [String(i + 1), 1])));
    const left = "select number from orders where state <> 'confirmed' or remote_id is null";
    expect([await isDone(), await sql(left)]).toEqual([true, []]);
  });
});
