// The SQLite engine, the only place that knows the sqlite3 driver. One connection writes, under BEGIN
// IMMEDIATE and one transaction at a time; others read. WAL keeps the two from waiting for each other.
import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import knex, { type Knex } from 'knex';
import PQueue from 'p-queue';
import { z } from 'zod';
import { Fatal } from '../../core/errors.ts';
import type { Engine, EngineKind, Extent, LoadCounts, Row, Stamp, Transaction } from '../engine.ts';
import type { Table } from '../table.ts';
import { sqliteError } from './sqlite-errors.ts';
import { inspectSqlite } from './sqlite-inspection.ts';
import {
  COUNTER_TABLE,
  extentCondition,
  historyStatement,
  latestStatement,
  missingStatement,
  revisionStatement,
  updateCounter,
  upsertStatement,
} from './sqlite-upsert.ts';

const BUSY_TIMEOUT_MS = 30_000;
/** Rows a statement; larger batches gain nothing and hold more memory. */
const BATCH_ROWS = 2_000;
const READERS = 4;

const settings = z.strictObject({
  file: z.string().min(1).default('data/warehouse.db').describe('File of the SQLite database.'),
});

export const sqlite: EngineKind = {
  settings,
  exists: async ({ file }) => existsSync(file as string),
  open: async ({ file }) => openSqlite(file as string),
};

function openSqlite(file: string): Engine {
  makeFolder(file);
  const writer = connect(file, 1, [
    'pragma journal_mode = wal',
    // A push is sent once its claim is on disk: a commit must survive a power cut, not only a crash.
    'pragma synchronous = full',
    // Room for the indexes of a large fact table: at the default of 2 MB every insert reads pages back.
    'pragma cache_size = -16384',
    'pragma wal_autocheckpoint = 8000',
    COUNTER_TABLE,
  ]);
  const reader = connect(file, READERS, ['pragma query_only = on']);
  const turns = new PQueue({ concurrency: 1 });
  const tx: Transaction = {
    sql: writer,
    load: (table, rows, stamp) => load(writer, table, rows, stamp),
    markMissing: (table, extent, seen, stamp) => markMissing(writer, table, extent, seen, stamp),
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
    types: {
      integer: 'integer',
      real: 'real',
      text: 'text',
      boolean: 'integer',
      instant: 'text',
      date: 'text',
      json: 'text',
    },
    // With row numbers: rows are appended, and only the small key index is inserted into. Loads a third faster.
    tableSuffix: () => 'strict',
    write: (work) => turns.add(() => plainErrors(() => transact(writer, () => work(tx)))),
    read: (work) => plainErrors(() => work(reader)),
    latest: (table, by, column, keys) =>
      plainErrors(async () => {
        const rows = await reader.raw(latestStatement(table, by, column), { keys: JSON.stringify(keys) });
        const found = rows.filter(({ latest }: Latest) => latest !== null);
        return new Map(found.map(({ key, latest }: Latest) => [key, latest]));
      }),
    async columnsOf(sql, table) {
      const rows: { name: string }[] = await sql.raw('select name from pragma_table_info(?)', [table]);
      return rows.length === 0 ? undefined : rows.map(({ name }) => name);
    },
    inspect: () => plainErrors(() => inspectSqlite(writer, file)),
    async close() {
      await turns.onIdle();
      await Promise.all([writer.destroy(), reader.destroy()]);
    },
  };
}

interface Latest {
  key: number;
  latest: string | null;
}

function makeFolder(file: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true });
  } catch {
    throw new Fatal(`The folder of the warehouse ${file} cannot be made`, {
      code: 'warehouse_unwritable',
      hint: 'Check warehouse.file and that this user may write there.',
    });
  }
}

function connect(file: string, connections: number, pragmas: string[]): Knex {
  return knex({
    client: 'sqlite3',
    connection: { filename: file },
    useNullAsDefault: true,
    // knex would print what goes wrong, on stdout and with bound values; it is thrown as well.
    log: {
      warn: () => undefined,
      error: () => undefined,
      deprecate: () => undefined,
      debug: () => undefined,
    },
    pool: {
      // The writer's connection must outlive its transaction, so it is never reaped.
      min: Math.min(connections, 1),
      max: connections,
      // biome-ignore lint/suspicious/noExplicitAny: the raw driver connection
      afterCreate: (connection: any, done: (error: Error | null, connection: unknown) => void) => {
        connection.configure('busyTimeout', BUSY_TIMEOUT_MS);
        connection.exec(`${pragmas.join(';')};`, (error: Error | null) => done(error, connection));
      },
    },
  });
}

/** The pool of the writer holds one connection, so BEGIN, the work and COMMIT meet on it. */
async function transact<T>(writer: Knex, work: () => Promise<T>): Promise<T> {
  await writer.raw('begin immediate');
  try {
    const result = await work();
    await writer.raw('commit');
    return result;
  } catch (error) {
    // SQLite rolls back by itself on some errors; a second rollback then has nothing to do.
    await writer.raw('rollback').catch(() => undefined);
    throw error;
  }
}

async function load(sql: Knex, table: Table, rows: readonly Row[], stamp: Stamp): Promise<LoadCounts> {
  await sql.raw(updateCounter(table));
  const counts: LoadCounts = { inserted: 0, updated: 0, unchanged: 0 };
  const statement = upsertStatement(table);
  for (let start = 0; start < rows.length; start += BATCH_ROWS) {
    const batch = rows.slice(start, start + BATCH_ROWS);
    const bindings = { rows: JSON.stringify(batch), at: stamp.at, run: stamp.runId };
    if (table.history !== null) await sql.raw(historyStatement(table, table.history), bindings);
    if (table.revisions !== null) await sql.raw(revisionStatement(table, table.revisions), bindings);
    await sql.raw('delete from temp.load_counter');
    await sql.raw('insert into temp.load_counter values (0)');
    await sql.raw(statement, bindings);
    // changes() leaves out what triggers did, so it is inserts plus updates of the statement itself.
    const [{ written, updated }] = await sql.raw(
      'select changes() as written, updated from temp.load_counter',
    );
    counts.inserted += written - updated;
    counts.updated += updated;
    counts.unchanged += batch.length - written;
  }
  return counts;
}

async function markMissing(sql: Knex, table: Table, extent: Extent, seen: readonly Row[], stamp: Stamp) {
  const { condition, bindings } = extentCondition(extent);
  await sql.raw(missingStatement(table, condition), {
    ...bindings,
    keys: JSON.stringify(seen),
    at: stamp.at,
    run: stamp.runId,
  });
  const [{ vanished }] = await sql.raw('select changes() as vanished');
  return vanished as number;
}
