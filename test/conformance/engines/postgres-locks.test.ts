// Which writes to one PostgreSQL schema run concurrently, and which wait for each other, from two processes.
import { describe, expect, it } from 'vitest';
import type { Engine, Transaction, WriteOptions } from '../../../src/warehouse/engine.ts';
import { bringSchemaUpToDate } from '../../../src/warehouse/schema/converge.ts';
import { vehicle } from '../../../src/warehouse/tables/vehicle.ts';
import { admin, metadata, open, url, useDatabase, vehicles } from '../../support/databases/postgres-place.ts';
import { rowsOf } from '../../support/warehouse/engines.ts';

useDatabase();

/** A write that has its locks and keeps them until the test ends it. */
async function openWrite(engine: Engine, how?: WriteOptions) {
  const begun = Promise.withResolvers<Transaction>();
  const end = Promise.withResolvers<void>();
  const ended = engine.write(async (tx) => {
    begun.resolve(tx);
    await end.promise;
  }, how);
  await Promise.race([begun.promise, ended]);
  return async () => {
    end.resolve();
    await ended;
  };
}

const waitingForLock = () =>
  rowsOf(
    admin,
    `select pid from pg_locks where locktype = 'advisory' and not granted
       and database = (select oid from pg_database where datname = current_database())`,
  );

const load = { isLong: true, tables: ['vehicle', 'driver'] };

describe('a load', () => {
  it('runs beside a load of other tables, of this process and of another', async () => {
    const [engine, other] = [await open(url), await open(url)];
    await bringSchemaUpToDate(engine);
    const end = await openWrite(engine, { isLong: true, tables: ['event'] });
    for (const each of [engine, other])
      expect(await each.write((tx) => tx.load(vehicle, vehicles(3), metadata), load)).toMatchObject({
        inserted: each === engine ? 3 : 0,
      });
    await end();
  });

  const waits: [string, WriteOptions, WriteOptions | undefined][] = [
    ['waits for one that shares a table', load, { isLong: true, tables: ['driver', 'event'] }],
    ['waits for a write that is not a load', load, undefined],
    ['keeps a write that is not a load waiting', {}, load],
  ];
  it.each(waits)('%s', async (_, how, held) => {
    const [engine, other] = [await open(url), await open(url)];
    await bringSchemaUpToDate(engine);
    const end = await openWrite(other, held);
    let isDone = false;
    const written = engine
      .write((tx) => tx.load(vehicle, vehicles(3), metadata), how)
      .then(() => {
        isDone = true;
      });
    await expect.poll(waitingForLock, { timeout: 20_000 }).toHaveLength(1);
    expect(isDone).toBe(false);
    await end();
    await written;
    expect(await engine.read((sql) => sql('vehicle'))).toHaveLength(3);
  });

  it('that waits for its table blocks no other write', async () => {
    const [engine, other] = [await open(url), await open(url)];
    await bringSchemaUpToDate(engine);
    // Another program that holds the lock of the table alone.
    const holder = await admin.transaction();
    await holder.raw("select pg_advisory_xact_lock(hashtext('roadbook fleet'), hashtext('vehicle'))");
    const written = engine.write((tx) => tx.load(vehicle, vehicles(3), metadata), load);
    await expect.poll(waitingForLock, { timeout: 20_000 }).toHaveLength(1);
    await other.write(async ({ sql }) => void (await sql('vehicle').select('id')));
    await holder.commit();
    expect(await written).toMatchObject({ inserted: 3 });
  });
});
