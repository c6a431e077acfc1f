// The SQLite engine. One connection writes, one BEGIN IMMEDIATE transaction at a time. Other connections read. With the
// write-ahead log, readers and the writer do not wait for each other.
import { existsSync, mkdirSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import knex, { type Knex } from 'knex';
import PQueue from 'p-queue';
import { z } from 'zod';
import { Fatal } from '../../../core/errors.ts';
import { dayFigures } from '../../control/event-days.ts';
import type { Engine, EngineFacts, EngineKind, Row, StoreOptions, Transaction } from '../../engine.ts';
import { createKnownRows, type StoredVersion } from '../../load/known-rows.ts';
import { storedDays } from '../../load/local-days.ts';
import type { Table } from '../../schema/table.ts';
import { rowsText, storableValue, storeStatement } from '../store-statement.ts';
import { sqliteDdl } from './ddl.ts';
import { sqliteError } from './errors.ts';
import { countPresent, encodeRows, hasPresent, load, markMissing, type SqliteRows } from './load.ts';
import { sqliteSnapshot } from './snapshot.ts';
import { COUNTER_TABLE, latestStatement } from './upsert.ts';

/** How long the writer and the readers wait for a lock of another program. */
const LOCK_MS = 30_000;
const READERS = 4;

const settings = z.strictObject({
  file: z.string().min(1).default('data/warehouse.db').describe('File of the SQLite database.'),
});

export const sqlite: EngineKind = {
  settings,
  exists: async ({ file }) => existsSync(file as string),
  open: async ({ file }) => openSqlite(file as string),
};

export function openSqlite(file: string, { lockMs } = { lockMs: LOCK_MS }): Engine {
  makeFolder(file);
  const writer = connect(file, 1, lockMs, [
    'pragma journal_mode = wal',
    // A push is sent once its claim is on disk, so a commit must survive a power cut, not only a crash.
    'pragma synchronous = full',
    // Room for the indexes of a large fact table: with the default of 2 MB every insert rereads pages.
    'pragma cache_size = -16384',
    'pragma wal_autocheckpoint = 8000',
    COUNTER_TABLE,
  ]);
  const reader = connect(file, READERS, lockMs, ['pragma query_only = on']);
  const turns = new PQueue({ concurrency: 1 });
  /** A pool must not be destroyed under a read, which would then wait forever for a connection. */
  const reads = new PQueue();
  const days = storedDays();
  const encode = (table: Table, rows: readonly Row[]): SqliteRows => encodeRows(table, rows, days.dayOf());
  const figures = dayFigures(writer, sqliteDdl.dialect);
  const known = createKnownRows(readVersion);
  /** Of the transaction in progress: there is one at a time. */
  let turn = known.begin();
  writer.on('query', ({ sql }: { sql: string }) => turn.noteStatement(sql));
  const tx: Transaction = {
    sql: writer,
    load: (table, rows, metadata) => tx.loadEncoded(table, [encode(table, rows)], metadata),
    loadEncoded: async (table, encoded, metadata) => {
      const dated = await days.ofNow(writer, table, encoded as SqliteRows[], encodeRows);
      return turn.load(writer, { table, rows: dated, metadata }, (rows) =>
        figures.afterLoad(load(writer, table, rows, metadata)),
      );
    },
    store: (table, rows, options) => store(writer, table, rows, options),
    hasPresent: (table, range) => hasPresent(writer, table, range),
    countPresent: (table, range) => countPresent(writer, table, range),
    async markMissing(table, range, seen, metadata) {
      const marked = await figures.afterMark(table, range, markMissing(writer, table, range, seen, metadata));
      if (marked > 0) turn.noteRewrite(table);
      return marked;
    },
  };

  const inTurn = async <T>(work: (tx: Transaction) => Promise<T>): Promise<T> => {
    turn = known.begin();
    const result = await transact(writer, async () => {
      const done = await work(tx);
      await turn.finish(writer);
      return done;
    });
    turn.committed();
    return result;
  };

  const plainErrors = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (thrown) {
      throw sqliteError(thrown, file);
    }
  };

  return {
    name: 'sqlite',
    ...sqliteDdl,
    useStoredDays: () => reads.add(() => plainErrors(() => days.refresh(reader))),
    encodeRows: encode,
    // A heartbeat or a claim must not wait behind the loads of all workers.
    write: (work, { isLong = false } = {}) =>
      turns.add(() => plainErrors(() => inTurn(work)), { priority: isLong ? 0 : 1 }),
    read: (work) => reads.add(() => plainErrors(() => work(reader))),
    snapshot: (work) => plainErrors(() => sqliteSnapshot(file, lockMs, work)),
    latest: (table, by, column, bounds) =>
      plainErrors(async () => {
        const rows = await reader.raw(latestStatement(table, by, column), { bounds: JSON.stringify([...bounds]) });
        const found = rows.filter(({ latest }: Latest) => latest !== null);
        return new Map(found.map(({ key, latest }: Latest) => [key, latest]));
      }),
    inspect: () => plainErrors(() => inspectSqlite(writer, file)),
    upkeep: () =>
      plainErrors(async () => {
        const found: { quick_check: string }[] = await reader.raw('pragma quick_check(20)');
        await turns.add(async () => {
          await writer.raw('pragma optimize');
          await writer.raw('pragma wal_checkpoint(truncate)');
        });
        return found.map(({ quick_check }) => quick_check).filter((word) => word !== 'ok');
      }),
    backup: (copy) =>
      plainErrors(async () => {
        // On its own connection: readers may not write, and the writer would wait for the copy.
        const copier = connect(file, 1, lockMs, []);
        await copier.raw('vacuum into ?', [copy]).finally(() => copier.destroy());
      }),
    scrub: () =>
      turns.add(() =>
        plainErrors(async () => {
          // Rewrites every page, then truncates the log, which may hold old pages.
          await writer.raw('vacuum');
          const [{ busy }] = await writer.raw('pragma wal_checkpoint(truncate)');
          return busy === 0;
        }),
      ),
    async close() {
      await turns.onIdle();
      await reads.onIdle();
      await Promise.all([writer.destroy(), reader.destroy()]);
    },
  };
}

/** The data version of the file changes when another connection has written, even if that was a statement typed by hand. */
async function readVersion(sql: Knex, name: string): Promise<StoredVersion> {
  const [{ version, data_version }] = await sql.raw(
    'select data_version, (select value from sync_state where name = ?) as version from pragma_data_version',
    [name],
  );
  return { version, validity: `${data_version}` };
}

interface Latest {
  key: number;
  latest: string | null;
}

function makeFolder(file: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true });
  } catch {
    throw new Fatal(`The folder of the warehouse ${file} cannot be created`, {
      code: 'warehouse_unwritable',
      hint: 'Check warehouse.file and that this user may write there.',
    });
  }
}

function connect(file: string, connections: number, lockMs: number, pragmas: string[]): Knex {
  const silent = () => undefined;
  const config: Knex.Config = {
    client: 'sqlite3',
    connection: { filename: file },
    useNullAsDefault: true,
    // knex would print errors to stdout, with bound values. It throws them as well.
    log: { warn: silent, error: silent, deprecate: silent, debug: silent },
    pool: {
      // The pool must never reap the writer's connection: it holds the open transaction.
      min: Math.min(connections, 1),
      max: connections,
      // biome-ignore lint/suspicious/noExplicitAny: the raw driver connection
      afterCreate: (connection: any, done: (error: Error | null, connection: unknown) => void) => {
        connection.configure('busyTimeout', lockMs);
        bindStorable(connection);
        connection.exec(`${pragmas.join(';')};`, (error: Error | null) => done(error, connection));
      },
    },
  };
  try {
    return knex(config);
  } catch (thrown) {
    throw new Fatal('The SQLite driver cannot be loaded', {
      code: 'driver_unusable',
      hint: 'Run `npm ci` again and let it end: it builds the driver for this machine. Then use `npx roadbook` or `npm start`.',
      cause: thrown,
    });
  }
}

// biome-ignore lint/suspicious/noExplicitAny: the raw driver connection
function bindStorable(connection: any): void {
  for (const method of ['run', 'all']) {
    const original = connection[method].bind(connection);
    connection[method] = (sql: string, bindings: unknown, ...rest: unknown[]) =>
      original(sql, Array.isArray(bindings) ? bindings.map(storableValue) : bindings, ...rest);
  }
}

/** The writer's pool has one connection, so BEGIN, the work and COMMIT share it. */
async function transact<T>(writer: Knex, work: () => Promise<T>): Promise<T> {
  await writer.raw('begin immediate');
  try {
    const result = await work();
    await writer.raw('commit');
    return result;
  } catch (error) {
    // SQLite rolls back by itself on some errors. Then this rollback fails, which is harmless.
    await writer.raw('rollback').catch(() => undefined);
    throw error;
  }
}

async function store<R extends object>(
  sql: Knex,
  table: Table,
  rows: readonly R[],
  options: StoreOptions | undefined,
): Promise<R[]> {
  const values = table.columns.map(({ name }) => `value ->> '$.${name}'`);
  const from = `select ${values.join(', ')} from jsonb_each(?)`;
  const keys: unknown = await sql.raw(storeStatement(table, from, options), [rowsText(rows)]);
  return keys as R[];
}

/** Magic numbers of file systems that other machines share: NFS, SMB, CIFS, 9P, AFS, Ceph. */
const SHARED: ReadonlySet<number> = new Set([
  0x6969, 0x517b, 0xfe534d42, 0xff534d42, 0x01021997, 0x5346414f, 0x00c36400,
]);

const HINT = 'Put warehouse.file on a disk of this machine, or use the engine postgres.';

/**
 * Checks the location of the file: the write-ahead log needs shared memory, which network file systems lack or only pretend
 * to support.
 */
async function inspectSqlite(sql: Knex, file: string): Promise<EngineFacts> {
  const [{ journal_mode: mode }] = await sql.raw('pragma journal_mode');
  const folder = dirname(file);
  const { type } = await statfs(folder);
  return { found: `journal mode ${mode}`, folder, concern: concernOf(mode, type) };
}

function concernOf(mode: string, fileSystem: number): EngineFacts['concern'] {
  if (mode !== 'wal') {
    return { found: `the write-ahead log does not work here (journal mode ${mode})`, hint: HINT };
  }
  if (!SHARED.has(fileSystem)) return null;
  return { found: 'the file is on a network file system, where two machines could corrupt it', hint: HINT };
}
