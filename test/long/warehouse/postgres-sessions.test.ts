// PostgreSQL sessions that end in the middle of work, servers that stop answering, and writers that freeze while they
// hold the lock.
import knex, { type Knex } from 'knex';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Retriable } from '../../../src/core/errors.ts';
import type { Engine } from '../../../src/warehouse/engine.ts';
import { connectBeside } from '../../../src/warehouse/engines/postgres/connection.ts';
import { openPostgres, postgres } from '../../../src/warehouse/engines/postgres/engine.ts';
import { postgresError } from '../../../src/warehouse/engines/postgres/errors.ts';
import { lockForWrite } from '../../../src/warehouse/engines/postgres/locks.ts';
import { bringSchemaUpToDate } from '../../../src/warehouse/schema/converge.ts';
import { vehicle } from '../../../src/warehouse/tables/vehicle.ts';
import { startOwnPostgres } from '../../support/databases/postgres.ts';
import {
  admin,
  failureOf,
  metadata,
  open,
  url,
  useDatabase,
  vehicles,
} from '../../support/databases/postgres-place.ts';
import { silentNetworkTo } from '../../support/databases/silent-network.ts';
import { rowsOf } from '../../support/warehouse/engines.ts';

useDatabase();

describe('a session that ends', () => {
  /** Ends every session but the one that asks. */
  const endSessions = (database: Knex) =>
    database.raw(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'roadbook' and datname = current_database()",
    );

  it('in the middle of a transaction stores nothing, is reported plainly, and the next transaction works', async () => {
    const engine = await open(url);
    await bringSchemaUpToDate(engine);
    const cut = failureOf(
      engine.write(async (tx) => {
        await tx.load(vehicle, vehicles(10), metadata);
        await endSessions(admin);
        await tx.load(vehicle, vehicles(20), metadata);
      }),
    );
    const error = await cut;
    expect(error).toBeInstanceOf(Retriable);
    expect(error.code).toBe('warehouse_unreachable');
    expect(error.message).not.toContain('only-for-tests');
    expect(await engine.read((sql) => sql('vehicle'))).toEqual([]);
    await engine.write((tx) => tx.load(vehicle, vehicles(20), metadata));
    expect(await engine.read((sql) => sql('vehicle'))).toHaveLength(20);
  });

  it('while it is idle is replaced silently', async () => {
    const engine = await open(url);
    await bringSchemaUpToDate(engine);
    await engine.read((sql) => sql('vehicle'));
    const pids = await rowsOf(
      admin,
      "select pid from pg_stat_activity where application_name = 'roadbook' and datname = current_database()",
    );
    expect(pids.length).toBeGreaterThan(1);
    await endSessions(admin);
    const counts = await engine.write((tx) => tx.load(vehicle, vehicles(5), metadata));
    expect(counts).toEqual({ inserted: 5, updated: 0, unchanged: 0 });
    expect(await engine.read((sql) => sql('vehicle'))).toHaveLength(5);
  });

  it('with its server keeps committed rows after the restart, and no others', async () => {
    const server = await startOwnPostgres();
    onTestFinished(() => server.stop());
    const engine = await postgres.open({ url: await server.newDatabase(), schema: 'fleet' });
    await bringSchemaUpToDate(engine);
    await engine.write((tx) => tx.load(vehicle, vehicles(3), metadata));
    const error = await failureOf(
      engine.write(async (tx) => {
        await tx.load(vehicle, vehicles(30), metadata);
        await server.restart();
        await tx.load(vehicle, vehicles(40), metadata);
      }),
    );
    expect(error).toBeInstanceOf(Retriable);
    expect(await engine.read((sql) => sql('vehicle'))).toHaveLength(3);
    expect(await engine.write((tx) => tx.load(vehicle, vehicles(30), metadata))).toEqual({
      inserted: 27,
      updated: 0,
      unchanged: 3,
    });
    await engine.close();
  });
});

describe('a server that is silent', () => {
  it('ends a short transaction beside the writer with an error, and closes its connection', async () => {
    const network = await silentNetworkTo(url);
    onTestFinished(network.close);
    const beside = connectBeside({ url: network.url, schema: 'fleet', connectMs: 1_500 }, 1_500);
    const thrown = await failureOf(
      beside.transaction(async (sql) => {
        await sql.raw('select 1');
        network.goSilent();
        await sql.raw('select 2');
      }),
    );
    const error = postgresError(thrown, 'here');
    expect(error).toBeInstanceOf(Retriable);
    expect(error).toMatchObject({ code: 'warehouse_unreachable' });
    await beside.destroy();
  });

  it('leaves the lock to a writer that is slow but makes progress', async () => {
    const engine = openPostgres({ url, schema: 'fleet' }, { lockMs: 600, stalledMs: 400 });
    onTestFinished(engine.close);
    await bringSchemaUpToDate(engine);
    const slow = knex({ client: 'pg', connection: url, pool: { min: 1, max: 1 } });
    onTestFinished(() => slow.destroy());
    let sent = 0;
    let isEnough = false;
    const sending = slow.transaction(async (sql) => {
      await lockForWrite(sql, { schema: 'fleet' });
      await sql.raw('create table sent (id int)');
      const connection = await sql.client.acquireConnection();
      await new Promise<void>((handleReadyForQuery, handleError) => {
        connection.query({
          submit: (wire: { query(text: string): void }) => wire.query('copy sent from stdin'),
          handleCopyInResponse(wire: { sendCopyFromChunk(rows: Buffer): void; endCopyFrom(): void }) {
            const timer = setInterval(() => {
              if (isEnough) {
                clearInterval(timer);
                wire.endCopyFrom();
              } else wire.sendCopyFromChunk(Buffer.from(`${++sent}\n`));
            }, 10);
          },
          handleCommandComplete: () => undefined,
          handleReadyForQuery,
          handleError,
        });
      });
    });
    await expect.poll(() => sent).toBeGreaterThan(0);
    const waiting = engine.write((tx) => tx.load(vehicle, vehicles(3), metadata));
    await expect(waiting).rejects.toMatchObject({ code: 'warehouse_locked' });
    isEnough = true;
    await sending;
    const [stored] = await rowsOf(admin, 'select count(*)::int as n from sent');
    expect(stored).toEqual({ n: sent });
  });

  it('takes the lock from a writer that froze in the middle of a batch, and from no other', async () => {
    const engine = openPostgres({ url, schema: 'fleet' }, { lockMs: 300, stalledMs: 200 });
    onTestFinished(engine.close);
    await bringSchemaUpToDate(engine);
    const stalled = knex({ client: 'pg', connection: url, pool: { min: 1, max: 1 } });
    const stands = Promise.withResolvers<void>();
    const lost = stalled.transaction(async (sql) => {
      await lockForWrite(sql, { schema: 'fleet' });
      const connection = await sql.client.acquireConnection();
      // The server asks the writer for rows, and the writer sends none.
      await new Promise((_, handleError) => {
        const submit = (wire: { query(text: string): void }) => wire.query('copy fleet.vehicle (id) from stdin');
        connection.query({ submit, handleCopyInResponse: () => stands.resolve(), handleError });
      });
    });
    lost.catch(() => undefined);
    onTestFinished(() => void stalled.destroy().catch(() => undefined));
    await stands.promise;
    await expect
      .poll(() => engine.write((tx) => tx.load(vehicle, vehicles(3), metadata)), { timeout: 20_000 })
      .toMatchObject({ inserted: 3 });
    const other = knex({ client: 'pg', connection: url, pool: { min: 1, max: 1 } });
    await other.transaction(async (sql) => {
      await lockForWrite(sql, { schema: 'fleet' });
      await sql.raw('select pg_sleep(0.5)');
      await expect(engine.write((tx) => tx.load(vehicle, vehicles(3), metadata))).rejects.toMatchObject({
        code: 'warehouse_locked',
      });
    });
    await other.destroy();
  });

  it('holds up the next load of its table in the same process for no longer than a lock', async () => {
    const engine = openPostgres({ url, schema: 'fleet' }, { lockMs: 300, stalledMs: 200 });
    onTestFinished(engine.close);
    await bringSchemaUpToDate(engine);
    const { promise: end, resolve } = Promise.withResolvers<void>();
    const isLong = { isLong: true, tables: ['vehicle'] };
    const endless = engine.write(() => end, isLong);
    const next = engine.write((tx) => tx.load(vehicle, vehicles(3), metadata), isLong);
    await expect(next).rejects.toMatchObject({ code: 'warehouse_locked' });
    resolve();
    await endless;
  });

  const silentWork: [string, (engine: Engine, goSilent: () => void) => Promise<unknown>][] = [
    [
      'a read',
      (engine, goSilent) =>
        engine.read(async (sql) => {
          await sql.raw('select 1');
          goSilent();
          await sql.raw('select 2');
        }),
    ],
    [
      'a load',
      (engine, goSilent) =>
        engine.write(async (tx) => {
          await tx.load(vehicle, vehicles(1), metadata);
          goSilent();
          await tx.load(vehicle, vehicles(10), metadata);
        }),
    ],
    [
      'an export',
      (engine, goSilent) =>
        engine.snapshot(async (scan) => {
          for await (const _ of scan('select repeat(md5(n::text), 100) from generate_series(1, 50000) n')) goSilent();
        }),
    ],
  ];

  it.each(silentWork)('ends %s with an error, however long it might have taken', async (_, work) => {
    await bringSchemaUpToDate(await open(url));
    const network = await silentNetworkTo(url);
    onTestFinished(network.close);
    const engine = openPostgres(
      { url: network.url, schema: 'fleet' },
      { askMs: 300, answerMs: 100, silentMs: 300, connectMs: 500 },
    );
    const error = await failureOf(work(engine, network.goSilent));
    expect(error).toBeInstanceOf(Retriable);
    expect(error).toMatchObject({ code: 'warehouse_unreachable' });
    network.close();
    await engine.close();
  });

  it('is distinguished from a server that works on a long statement', async () => {
    const engine = openPostgres({ url, schema: 'fleet' }, { askMs: 50, answerMs: 50 });
    onTestFinished(() => engine.close());
    const slow = (sql: Knex) => sql.raw('select pg_sleep(0.5)').then(({ rows }) => rows.length);
    expect(await engine.read(slow)).toBe(1);
    expect(await engine.write(({ sql }) => slow(sql))).toBe(1);
    let rows = 0;
    await engine.snapshot(async (scan) => {
      for await (const some of scan('select n from generate_series(1, 20) n, pg_sleep(0.02 + n * 0)'))
        rows += some.length;
    });
    expect(rows).toBe(20);
  });

  it('ends statements that were lost on the way, and idle connections are not reused', async () => {
    const network = await silentNetworkTo(url);
    onTestFinished(network.close);
    const patience = { askMs: 500, wayMs: 100, silentMs: 300, connectMs: 2_000 };
    const engine = openPostgres({ url: network.url, schema: 'fleet' }, patience);
    onTestFinished(() => engine.close());
    const query = () => engine.read((sql) => rowsOf(sql, 'select 1 as n, pg_sleep(0.1)'));
    await Promise.all([query(), query(), query(), query()]);
    const error = await failureOf(
      engine.write(async ({ sql }) => {
        await sql.raw('select 1');
        network.goSilent();
        network.hearNew();
        await sql.raw('select 2');
      }),
    );
    expect(error).toMatchObject({ code: 'warehouse_unreachable' });
    const before = network.made();
    expect(await query()).toMatchObject([{ n: 1 }]);
    expect(network.made()).toBe(before + 1);
    network.close();
  });
});
