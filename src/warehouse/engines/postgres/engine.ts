// The PostgreSQL engine. Loads of different tables run in parallel, loads of one table one after another. Every other
// write runs alone on the schema, across all processes, as with a SQLite file. A write can therefore read rows and rely
// on them until it commits. See locks.ts.
import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
import PQueue from 'p-queue';
import { z } from 'zod';
import { Fatal } from '../../../core/errors.ts';
import { systemClock, within } from '../../../core/time/clock.ts';
import { dayFigures } from '../../control/event-days.ts';
import { syncState } from '../../control/learned-facts.ts';
import type { Engine, EngineKind, LoadCounts, LoadMetadata, Transaction } from '../../engine.ts';
import { createKnownRows, type KnownRowsTurn, type StoredVersion } from '../../load/known-rows.ts';
import { type StoredDays, storedDays } from '../../load/local-days.ts';
import { tables } from '../../schema/catalog.ts';
import type { Table } from '../../schema/table.ts';
import { connectBeside, connectReaders, connectWriter, type PostgresSettings } from './connection.ts';
import { dialect, hasSchema, postgresDdl } from './ddl.ts';
import { arrayText, type PgConnection } from './driver.ts';
import { isAnswered, isLockTimeout, isLostSession, postgresError } from './errors.ts';
import { type CopyRows, countPresentRows, encodeRows, hasPresentRows, loadRows, markMissingRows } from './load.ts';
import { type LockScope, lockForWrite, watchHolders } from './locks.ts';
import type { SilenceWatch } from './silence.ts';
import { postgresSnapshot } from './snapshot.ts';
import { latestStatement } from './statements.ts';
import { storeRows } from './store.ts';

const READERS = 4;
const LOADERS = 4;

const settingsSchema = z.strictObject({
  url: z
    .string()
    .regex(/^postgres(?:ql)?:\/\//, 'must begin with postgres://')
    .describe('Address of the database with user and password: postgres://user:password@host:5432/database.'),
  schema: z
    .string()
    .regex(/^[a-z_][a-z0-9_]{0,62}$/, 'must be lower-case letters, digits and _')
    .default('fleet')
    .describe('Schema that holds the tables (default fleet); created if it is absent.'),
});

export const postgres: EngineKind = {
  settings: settingsSchema,
  hasQueueHome: true,
  open: async (given) => openPostgres(given as unknown as PostgresSettings),
};

/** Finds the session if it is not idle. An idle session never received the statement, or its answer was lost. */
const AT_WORK = "select 1 from pg_stat_activity where pid = ? and coalesce(state, '') not like 'idle%'";

/** In ms. Tests use shorter ones. */
const TIMEOUTS = {
  /** After this time, the engine asks the server whether it still works on the statement. */
  askMs: 15_000,
  /** How long an answer may travel. */
  answerMs: 5_000,
  /** How long a short statement may take. Longer than the server's own statement timeout. */
  silentMs: 8_000,
  connectMs: 15_000,
  /** How long a writer waits for another, as in the SQLite engine. */
  lockMs: 30_000,
  /** How long a writer may send nothing in the middle of a statement before a waiting writer ends its session. */
  stalledMs: 20_000,
};

export function openPostgres(given: PostgresSettings, timeouts: Partial<typeof TIMEOUTS> = {}): Engine {
  const { askMs, answerMs, silentMs, connectMs, lockMs, stalledMs } = { ...TIMEOUTS, ...timeouts };
  const { url, schema } = given;
  const place = placeOf(url);
  const settings = { ...given, connectMs, lockMs };
  const besideWriter = connectBeside(settings, silentMs);
  const watch: SilenceWatch = {
    askMs,
    answerMs,
    isWorking: (pid) =>
      retryLostSession(() => besideWriter.raw(AT_WORK, [pid])).then(({ rows }) => rows.length > 0, isAnswered),
    connections: new Set(),
  };
  const writer = connectWriter(settings, 1, watch);
  const loaders = connectWriter(settings, LOADERS, watch);
  const reader = connectReaders(settings, READERS, watch);
  const days = storedDays();
  const known = createKnownRows(readVersion);
  const writes = new PQueue({ concurrency: 1 });
  const loads = new PQueue({ concurrency: LOADERS });
  const lastLoads = new Map<string, Promise<unknown>>();
  /** A pool must not be destroyed under a read, which would then wait forever for a connection. */
  const reads = new PQueue();

  const plainErrors = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (thrown) {
      throw postgresError(thrown, place);
    }
  };

  const transact = async <T>(from: Knex, locked: LockScope, work: (tx: Transaction) => Promise<T>): Promise<T> => {
    let isBegun = false;
    const turn = known.begin();
    const attempt = () =>
      from.transaction(async (sql) => {
        await lockForWrite(sql, locked);
        isBegun = true;
        holders.stop();
        sql.on('query', (query: { sql: string }) => turn.noteStatement(query.sql));
        const done = await work(await transactionOn(sql, days, turn));
        await turn.finish(sql);
        return done;
      });
    const attempts = () => retryLostSession(attempt, () => !isBegun);
    const holders = watchHolders(besideWriter, schema, { afterMs: (lockMs - stalledMs) / 2, stalledMs });
    const result = await attempts()
      .catch(async (thrown) => {
        if (isBegun || !isLockTimeout(thrown) || !(await holders.endIfStalled())) throw thrown;
        return attempts();
      })
      .finally(holders.stop);
    turn.committed();
    return result;
  };

  /**
   * Loads of a table run one after another in any case. Here the next one begins when the end of the last is known: if it
   * began before that, it would not know which rows are stored. A load whose connection is dead may never end: after the time
   * for a lock the next one waits at the database, which ends such a session, and sends all rows.
   */
  const inTurn = <T>(tables: readonly string[], work: () => Promise<T>): Promise<T> => {
    const before = tables.flatMap((table) => lastLoads.get(table) ?? []);
    const loading = loads.add(async () => {
      if (before.length > 0) await within(systemClock, lockMs, Promise.allSettled(before));
      return work();
    });
    const forget = (): void => {
      for (const table of tables) if (lastLoads.get(table) === loading) lastLoads.delete(table);
    };
    for (const table of tables) lastLoads.set(table, loading);
    loading.then(forget, forget);
    return loading;
  };

  const write: Engine['write'] = (work, { isLong = false, tables } = {}) =>
    tables === undefined
      ? // A heartbeat or a claim must not wait behind queued long transactions of this process.
        writes.add(() => plainErrors(() => transact(writer, { schema }, work)), { priority: isLong ? 0 : 1 })
      : inTurn(tables, () => plainErrors(() => transact(loaders, { schema, tables }, work)));

  const onOwnConnection = <T>(work: (sql: Knex) => Promise<T>): Promise<T> => {
    const sql = connectWriter(settings, 1, watch);
    return work(sql).finally(() => sql.destroy());
  };

  const reading = <T>(work: () => Promise<T>): Promise<T> => reads.add(() => plainErrors(() => retryLostSession(work)));

  return {
    name: 'postgres',
    queueHome: {
      url,
      schema: queueSchema(schema),
      isMade: () => reading(() => hasSchema(reader, queueSchema(schema))),
    },
    ...postgresDdl(schema),
    useStoredDays: () => reading(() => days.refresh(reader)),
    encodeRows: (table, rows) => encodeRows(table, rows, days.dayOf()),
    write,
    shortTransaction: (work) =>
      reads.add(() =>
        plainErrors(() => retryLostSession(() => besideWriter.transaction((sql) => work(sql, () => serverTime(sql))))),
      ),
    read: (work) => reading(() => work(reader)),
    snapshot: (work) => plainErrors(() => postgresSnapshot(reader, work)),
    latest: (table, by, column, bounds) =>
      reading(async () => {
        const { rows } = await reader.raw(latestStatement(table, by, column), [
          arrayText([...bounds.keys()]),
          arrayText([...bounds.values()]),
        ]);
        const found = rows.filter(({ latest }: Latest) => latest !== null);
        return new Map(found.map(({ key, latest }: Latest) => [key, latest]));
      }),
    // The server itself checks for damage. Only the statistics need an update after many loads.
    upkeep: () =>
      plainErrors(() =>
        // Not on the writer's connection: this may take longer than a process may go without a heartbeat.
        onOwnConnection(async (sql) => {
          await sql.raw('analyze');
          return [];
        }),
      ),
    backup: () => {
      throw new Fatal('Roadbook cannot copy a PostgreSQL warehouse to a file', {
        code: 'usage',
        hint: `Use pg_dump --schema=${schema}, or the backups of your server.`,
      });
    },
    // Deleted values may stay on the server's disk until it reuses the space.
    scrub: () =>
      plainErrors(() =>
        onOwnConnection(async (sql) => {
          for (const { name } of tables) await sql.raw('vacuum ??', [name]);
          return true;
        }),
      ),
    async close() {
      await Promise.all([writes.onIdle(), loads.onIdle()]);
      await reads.onIdle();
      await Promise.all([writer, loaders, reader, besideWriter].map((connections) => connections.destroy()));
    },
  };
}

async function serverTime(sql: Knex): Promise<number> {
  const { rows } = await sql.raw('select extract(epoch from clock_timestamp()) * 1000 as now');
  return rows[0].now;
}

/** Retries once on a new session, if the old one had ended unnoticed and `may` allows it. */
async function retryLostSession<T>(work: () => Promise<T>, may = () => true): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    if (!isLostSession(thrown) || !may()) throw thrown;
    return work();
  }
}

interface Latest {
  key: number;
  latest: string | null;
}

/** The server does not say whether a person has changed the table, so what is known of it holds for an hour. */
async function readVersion(sql: Knex, name: string, at: string): Promise<StoredVersion> {
  const row = await sql(syncState.name).where({ name }).first('value');
  return { version: row?.value ?? null, validity: at.slice(0, 'yyyy-mm-ddThh'.length) };
}

async function transactionOn(sql: Knex.Transaction, days: StoredDays, turn: KnownRowsTurn): Promise<Transaction> {
  const connection = (await sql.client.acquireConnection()) as PgConnection;
  const figures = dayFigures(sql, dialect);
  const load = async (table: Table, rows: readonly CopyRows[], metadata: LoadMetadata): Promise<LoadCounts> => {
    const dated = await days.ofNow(sql, table, rows, encodeRows);
    return turn.load(sql, { table, rows: dated, metadata }, (unknown) =>
      figures.afterLoad(loadRows(connection, table, unknown, metadata)),
    );
  };
  return {
    sql,
    load: (table, rows, metadata) => load(table, [encodeRows(table, rows, days.dayOf())], metadata),
    loadEncoded: (table, encoded, metadata) => load(table, encoded as CopyRows[], metadata),
    store: (table, rows, options) => storeRows({ sql, connection }, table, rows, options),
    hasPresent: (table, range) => hasPresentRows(connection, table, range),
    countPresent: (table, range) => countPresentRows(connection, table, range),
    async markMissing(table, range, seen, metadata) {
      const marking = markMissingRows(connection, table, range, seen, metadata);
      const marked = await figures.afterMark(table, range, marking);
      if (marked > 0) turn.noteRewrite(table);
      return marked;
    },
  };
}

/** Limit of the queue's schema name: names derived from it have to fit too. */
const LONGEST_QUEUE_SCHEMA = 50;

function queueSchema(schema: string): string {
  const plain = `${schema}_queue`;
  if (plain.length <= LONGEST_QUEUE_SCHEMA) return plain;
  const digest = createHash('sha256').update(schema).digest('hex').slice(0, 8);
  return `${schema.slice(0, LONGEST_QUEUE_SCHEMA - 15)}_${digest}_queue`;
}

/** Server and database for messages, without user, password and options. */
function placeOf(url: string): string {
  const { host = '', pathname = '' } = URL.parse(url) ?? {};
  return `${host}${pathname}`;
}
