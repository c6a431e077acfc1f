// An ERP on MariaDB that is disturbed while its orders are read and while they are acknowledged: its connections are killed,
// it freezes, it is killed and started again, it holds locks. Every run ends, also while the server is still frozen; in the
// end each order was sent once and is acknowledged.
import knex from 'knex';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FeedSettings } from '../../src/erp/sources.ts';
import { hasMariadb, type OwnMariadb, startMariadb } from '../support/mariadb.ts';
import { makePushPlace, type PushPlace } from '../support/push-place.ts';

const JOB = 'push-route-plans';
const ORDERS = 20;

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

  // Each row takes ten milliseconds, so that a disturbance meets the statement while it runs.
  const feed = (): FeedSettings => ({
    source: 'sql',
    client: 'mysql2',
    connection,
    query:
      "select number, '2025-03-13 08:00' as starts, '2025-03-13 18:00' as ends, 'Store' as name from orders where state is null and sleep(0.01) = 0 order by number",
    acknowledge:
      'update orders set state = :state, remote_id = :remote_id where number = :external_code and sleep(0.01) = 0',
    timeoutMs: 1_500,
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
    const run = place.run(JOB);
    const heal = await disturbing;
    const summary = await run;
    await heal();
    return summary;
  }

  it('has each order sent once and acknowledged, whatever happens to its server', { timeout: 600_000 }, async () => {
    const place = await makePushPlace({ feeds: { route_plans: feed() } });
    for (const [what, disturb] of DISTURBANCES)
      for (const statement of ['select number', 'update orders']) {
        const { status, error } = await disturbedRun(place, statement, disturb);
        const isLockOfRead = what === 'locked rows' && statement === 'select number';
        expect([what, statement, status === 'ok', error?.code], `${what} ${statement}`).toEqual([
          what,
          statement,
          false,
          isLockOfRead ? 'erp_unavailable' : expect.stringMatching(/^erp_un(reachable|available)$/),
        ]);
        expect(await place.run(JOB)).toMatchObject({ error: null });
      }
    const once = Object.fromEntries(Array.from({ length: offered }, (_, i) => [String(i + 1), 1]));
    expect(place.sandbox.ledger().plans).toEqual(once);
    expect(
      await sql("select number from orders where state is null or state <> 'confirmed' or remote_id is null"),
    ).toEqual([]);
  });
});
