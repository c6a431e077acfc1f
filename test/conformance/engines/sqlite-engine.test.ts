// SQLite alone: commits are on disk, how long the engine waits for a lock of another program and what it then reports, how
// large the write-ahead log gets, which index it finds rows by, and that an export
// releases no lock of others.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { Retriable } from '../../../src/core/errors.ts';
import type { Engine, Row, Scan } from '../../../src/warehouse/engine.ts';
import { openSqlite } from '../../../src/warehouse/engines/sqlite/engine.ts';
import { presentIn } from '../../../src/warehouse/engines/sqlite/upsert.ts';
import { rowMapping } from '../../../src/warehouse/load/row-mapping.ts';
import { bringSchemaUpToDate } from '../../../src/warehouse/schema/converge.ts';
import { event } from '../../../src/warehouse/tables/event.ts';
import { vehicle } from '../../../src/warehouse/tables/vehicle.ts';
import { openDatabase } from '../../support/process/workplace.ts';
import { rowsOf } from '../../support/warehouse/engines.ts';
import { metadataAt } from '../../support/warehouse/load-metadata.ts';

const READERS = 4;
const PAGES_KEPT = 8_000;
/** A page of the log with its header. */
const FRAME_BYTES = 4_096 + 24;
const metadata = metadataAt('run-1', '2026-01-01T00:00:00.000Z');
const toVehicle = rowMapping(vehicle);
const vehicles = (count: number, title: string): Row[] =>
  Array.from({ length: count }, (_, id) => (toVehicle({ id, title: `${title} ${id}` }) as { row: Row }).row);

let file: string;
beforeEach(() => {
  const dir = mkdtempSync(join(tmpdir(), 'roadbook-sqlite-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  file = join(dir, 'warehouse.db');
});

async function open(patience?: { lockMs: number }): Promise<Engine> {
  const engine = openSqlite(file, patience);
  onTestFinished(() => engine.close());
  await bringSchemaUpToDate(engine);
  return engine;
}

it('the writer waits until every commit is on disk', async () => {
  const engine = await open();
  const ask = (pragma: string) => engine.write(({ sql }) => rowsOf(sql, `pragma ${pragma}`));
  expect(await ask('journal_mode')).toEqual([{ journal_mode: 'wal' }]);
  // Full. At 1 the log is not synced with a commit, at 0 nothing ever is.
  expect(await ask('synchronous')).toEqual([{ synchronous: 2 }]);
});

it('rows of some vehicles are found by vehicle, not among the rows of all', async () => {
  const engine = await open();
  const span = { from: '2026-01-01T00:00:00.000Z', to: '2026-01-02T00:00:00.000Z' };
  const range = { vehicle_id: { in: [1] }, event_category: { in: [1] }, begin_date: span, end_date: span };
  const { condition, bindings } = presentIn(event, range);
  for (const statement of [
    `select 1 from event where ${condition} limit 1`,
    `select count(*) from event where ${condition}`,
  ]) {
    const plan = await engine.read((sql) => sql.raw(`explain query plan ${statement}`, bindings));
    expect(plan[0].detail).toContain('idx_event_vehicle_id_begin_date (vehicle_id=? AND begin_date>?');
  }
});

it('every connection waits 30 s for a lock', async () => {
  const engine = await open();
  const ASK = 'pragma busy_timeout';
  const patience = [{ timeout: 30_000 }];
  expect(await engine.write(({ sql }) => rowsOf(sql, ASK))).toEqual(patience);
  const reads = Array.from({ length: READERS }, () => engine.read((sql) => rowsOf(sql, ASK)));
  expect(await Promise.all(reads)).toEqual(Array(READERS).fill(patience));
  expect(await engine.snapshot((scan) => firstBatch(scan, ASK))).toEqual([[30_000n]]);
});

async function firstBatch(scan: Scan, statement: string): Promise<unknown> {
  for await (const batch of scan(statement)) return batch;
}

it('a lock that lasts longer is reported plainly, and the same work succeeds later', async () => {
  const engine = await open({ lockMs: 20 });
  const other = openDatabase(file);
  onTestFinished(() => other.destroy());
  await other.raw('begin immediate');
  const load = () => engine.write((tx) => tx.load(vehicle, vehicles(3, 'private title'), metadata));
  const error = await load().catch((thrown) => thrown);
  expect(error).toBeInstanceOf(Retriable);
  expect(error).toMatchObject({ code: 'warehouse_locked', hint: expect.stringContaining('other programs') });
  expect(error.message).toContain(file);
  expect(String(error.stack)).not.toContain('private');
  // A reader does not meet the lock.
  expect(await engine.read((sql) => sql('vehicle'))).toEqual([]);
  await other.raw('rollback');
  expect(await load()).toEqual({ inserted: 3, updated: 0, unchanged: 0 });
});

it('the write-ahead log stays bounded, however much is loaded', async () => {
  const engine = await open();
  const [LOADS, ROWS, LONG] = [24, 3_000, 700];
  for (let n = 0; n < LOADS; n++) {
    const rows = vehicles(ROWS, String(n).repeat(LONG));
    const counts = await engine.write((tx) => tx.load(vehicle, rows, metadata));
    expect(counts.inserted + counts.updated).toBe(ROWS);
  }
  const [size] = await engine.read((sql) => rowsOf<{ page_count: number }>(sql, 'pragma page_count'));
  const pages = size?.page_count ?? 0;
  // Every load rewrites every page of the table: together that is far more than the limit.
  expect(LOADS * pages).toBeGreaterThan(3 * PAGES_KEPT);
  expect(statSync(`${file}-wal`).size).toBeLessThan((PAGES_KEPT + 2 * pages) * FRAME_BYTES);
});

/** Whether another process could empty the log of the warehouse. */
const canBeEmptied = (): boolean => {
  const script = `const { DatabaseSync } = require('node:sqlite');
    const database = new DatabaseSync(process.argv[1]);
    process.stdout.write(String(database.prepare('pragma wal_checkpoint(truncate)').get().busy));`;
  return execFileSync(process.execPath, ['-e', script, file], { encoding: 'utf8' }) === '0';
};

it('the snapshot of a reader is protected from other processes, during the read and after it', async () => {
  const engine = await open();
  await engine.write((tx) => tx.load(vehicle, vehicles(5_000, 'first'), metadata));
  await engine.read((sql) =>
    sql.transaction(async (reading) => {
      expect(await rowsOf(reading, 'select count(*) as n from vehicle')).toEqual([{ n: 5_000 }]);
      await engine.snapshot(async (scan) => {
        for await (const _ of scan('select * from vehicle')) expect(canBeEmptied()).toBe(false);
      });
      expect(canBeEmptied()).toBe(false);
    }),
  );
  expect(canBeEmptied()).toBe(true);
});

it('a snapshot stays consistent while others write, even after every other connection is closed', async () => {
  const engine = await open();
  await engine.write((tx) => tx.load(vehicle, vehicles(5_000, 'first'), metadata));
  const reading = openSqlite(file);
  const titles = new Set<string>();
  await reading.snapshot(async (scan) => {
    for await (const batch of scan('select substr(title, 1, 5) as title from vehicle')) {
      for (const [title] of batch) titles.add(String(title));
      await reading.close();
      await engine.write((tx) => tx.load(vehicle, vehicles(5_000, 'later'), metadata));
      canBeEmptied();
    }
  });
  expect([...titles]).toEqual(['first']);
});

it('a snapshot reports a statement that SQLite rejects, and a file that is not a database', async () => {
  const engine = await open();
  await expect(engine.snapshot((scan) => firstBatch(scan, 'select nothing'))).rejects.toMatchObject({
    code: 'warehouse_failed',
  });
  writeFileSync(`${file}-other`, 'no database, but long enough to be taken for one'.repeat(100));
  const none = openSqlite(`${file}-other`);
  await expect(none.snapshot((scan) => firstBatch(scan, 'select 1 from vehicle'))).rejects.toMatchObject({
    code: 'warehouse_corrupt',
  });
  await none.close();
});

it('a snapshot whose reader is killed, or cannot be started, is reported plainly, and the next one reads', async () => {
  const engine = await open();
  await engine.write((tx) => tx.load(vehicle, vehicles(5_000, 'first'), metadata));
  const count = () => engine.snapshot((scan) => firstBatch(scan, 'select count(*) as n from vehicle'));
  const killedAfterOneBatch = engine.snapshot(async (scan) => {
    for await (const _ of scan('select * from vehicle')) killReader();
  });
  await expect(killedAfterOneBatch).rejects.toMatchObject({ code: 'reader_lost' });
  const node = process.execPath;
  onTestFinished(() => void Object.assign(process, { execPath: node }));
  // The system reports the one at once, the other a little later.
  for (const none of [join(file, 'node'), `${file}-node`]) {
    process.execPath = none;
    await expect(count()).rejects.toMatchObject({ code: 'reader_lost' });
  }
  process.execPath = node;
  expect(await count()).toEqual([[5_000n]]);
});

const killReader = () => execFileSync('pkill', ['-KILL', '-f', `snapshot-reader.ts ${file}`]);

it('an export keeps no batch in memory that it has passed on', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const engine = await open();
  const numbers = 'with recursive n (i) as (select 1 union all select i + 1 from n limit 20000) select i from n';
  const passed: WeakRef<object>[] = [];
  await engine.snapshot(async (scan) => {
    for await (const rows of scan(numbers)) passed.push(new WeakRef(rows));
    await new Promise(setImmediate);
    collect();
    expect(passed.length).toBeGreaterThan(5);
    expect(passed.slice(0, -2).filter((batch) => batch.deref() !== undefined)).toEqual([]);
  });
});
