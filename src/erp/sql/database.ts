// Sessions with the ERP's database. No wait is unlimited: a session fails as soon as a limit passes, its connection is lost
// or the run is aborted, and is then cut. Each read and each list of statements has a session of its own.
import knex, { type Knex } from 'knex';
import { Fatal } from '../../core/errors.ts';
import type { Connection, Limits, SqlClient, SqlResult } from './client.ts';
import { sqlFailure } from './failure.ts';
import { mssql } from './mssql.ts';
import { mysql } from './mysql.ts';
import { oracle } from './oracle.ts';
import { postgres } from './postgres.ts';
import { sqlite } from './sqlite.ts';
import { type Bindings, bindable } from './statements.ts';

/** By the name of the knex client. */
const CLIENTS: Readonly<Record<string, SqlClient>> = {
  pg: postgres,
  mysql2: mysql,
  mssql,
  oracledb: oracle,
  sqlite3: sqlite,
};

const CONNECT_MS = 15_000;
const LOCK_MS = 5_000;
export const STATEMENT_MS = 120_000;
/** Longest wait for a connection to end in good order. */
const END_MS = 2_000;

export interface DatabaseSettings {
  client: string;
  connection: string | Record<string, unknown>;
  /** Longest wait for a statement, and for the next rows of a query. */
  timeoutMs?: number | undefined;
}

/** Errors are those of the driver, or have one of the codes of `waitFailure`. */
export type Session = Awaited<ReturnType<typeof openSession>>;

export type Database = ReturnType<typeof openDatabase>;

export function openDatabase(settings: DatabaseSettings, zone: string) {
  const client = CLIENTS[settings.client];
  if (client === undefined)
    throw new Fatal(`Roadbook has no database client "${settings.client}"`, {
      code: 'erp_client_unknown',
      hint: `Set client of the feed to one of ${Object.keys(CLIENTS).join(', ')}.`,
    });
  const statementMs = settings.timeoutMs ?? STATEMENT_MS;
  const limits = {
    statementMs,
    connectMs: Math.min(CONNECT_MS, statementMs),
    lockMs: Math.min(LOCK_MS, statementMs),
  };
  const database = createKnex(settings, client, limits);
  return {
    open: (signal?: AbortSignal) => openSession(database, client, limits, zone, signal),
    close: () => database.destroy(),
  };
}

/** Knex takes what is no address, such as `Server=…` or `jdbc:…`, for the name of a file, and then asks this machine for a server. */
function isReadable(address: string): boolean {
  if (!/^[a-z]\w*:\/\//i.test(address) || !URL.canParse(address)) return false;
  const { username, pathname, hash } = new URL(address);
  // A password with a slash: its beginning was taken for a port.
  return username !== '' || !`${pathname}${hash}`.includes('@');
}

const unreadableAddress = (form: string): Fatal =>
  new Fatal("The address of the ERP's database cannot be read (connection)", {
    code: 'erp_address_unreadable',
    hint: `Its form is ${form}. In the user name and password, write @ as %40, / as %2F, : as %3A, # as %23, ? as %3F and % as %25.`,
  });

function createKnex({ client: name, connection }: DatabaseSettings, client: SqlClient, limits: Limits): Knex {
  const silent = () => undefined;
  const { address, install } = client;
  if (address !== undefined && typeof connection === 'string' && !isReadable(connection))
    throw unreadableAddress(address);
  try {
    const database = knex({
      client: name,
      connection: connection as Knex.StaticConnectionConfig,
      useNullAsDefault: true,
      // Knex would ask the server for its version, and would wait for ever for one that does not answer.
      ...(name === 'mysql2' && { version: 'latest' }),
      // Knex would print statements and values.
      log: { warn: silent, error: silent, deprecate: silent, debug: silent },
    });
    const given = database.client.connectionSettings;
    Object.assign(given, client.settings(limits, given));
    return database;
  } catch (error) {
    if (error instanceof URIError && address !== undefined) throw unreadableAddress(address);
    throw sqlFailure(error, 'client', install);
  }
}

const waitFailure = (code: 'CONNECT_TIMEOUT' | 'CONNECTION_LOST' | 'TIMEOUT'): Error =>
  Object.assign(new Error(code), { code });

/** Waits for one piece of work at a time, but no longer than its limit and not after a failure of the session. */
function createGuard(signal: AbortSignal | undefined) {
  let failure: unknown;
  let rejectWait: (error: unknown) => void = () => undefined;
  function fail(error: unknown): void {
    failure ??= error;
    rejectWait(failure);
  }
  const abort = (): void => fail(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  if (signal?.aborted) abort();
  return {
    watch(connection: Connection): void {
      connection.on?.('error', (error: { code?: string }) => fail(error.code ? error : waitFailure('CONNECTION_LOST')));
      connection.on?.('end', () => fail(waitFailure('CONNECTION_LOST')));
    },
    hasFailed: () => failure !== undefined,
    async wait<T>(work: Promise<T>, limitMs: number, code: 'CONNECT_TIMEOUT' | 'TIMEOUT' = 'TIMEOUT'): Promise<T> {
      let timer: NodeJS.Timeout | undefined;
      try {
        return await new Promise<T>((resolve, reject) => {
          rejectWait = reject;
          work.then(resolve, reject);
          if (failure !== undefined) reject(failure);
          timer = setTimeout(() => fail(waitFailure(code)), limitMs);
        });
      } finally {
        clearTimeout(timer);
        rejectWait = () => undefined;
      }
    },
    release: () => signal?.removeEventListener('abort', abort),
  };
}

async function openSession(
  database: Knex,
  client: SqlClient,
  limits: Limits,
  zone: string,
  signal: AbortSignal | undefined,
) {
  const guard = createGuard(signal);
  const knexClient = database.client;
  const connecting: Promise<Connection> = knexClient.acquireRawConnection();
  let isReading = false;
  let connection: Connection;
  const cut = (): void => {
    guard.release();
    client.cut(connection, knexClient);
  };
  try {
    connection = await guard.wait(connecting, limits.connectMs, 'CONNECT_TIMEOUT');
  } catch (error) {
    guard.release();
    connecting.then((late) => client.cut(late, knexClient)).catch(() => undefined);
    throw error;
  }
  guard.watch(connection);
  try {
    await guard.wait(client.prepare(connection, limits, knexClient), limits.connectMs, 'CONNECT_TIMEOUT');
  } catch (error) {
    cut();
    throw error;
  }

  async function* limited(batches: SqlResult['batches']): SqlResult['batches'] & AsyncGenerator {
    const iterator = batches[Symbol.asyncIterator]();
    for (;;) {
      const { done, value } = await guard.wait(iterator.next(), limits.statementMs);
      if (done) break;
      yield value;
    }
    isReading = false;
  }

  return {
    async query(statement: string): Promise<SqlResult> {
      isReading = true;
      const { header, batches } = await guard.wait(
        client.query(connection, statement, zone, knexClient),
        limits.statementMs,
      );
      return { header, batches: limited(batches) };
    },
    /** Resolves to the number of changed rows, undefined if it is not known. */
    run(statement: string, bindings: Bindings) {
      const { sql, bindings: values } = database
        .raw(bindable(statement, bindings), bindings as never)
        .toSQL()
        .toNative();
      return guard.wait(client.run(connection, { sql, bindings: values }, knexClient), limits.statementMs);
    },
    /** At once if the session has failed or a query has not been read to its end. */
    async [Symbol.asyncDispose]() {
      if (isReading || guard.hasFailed()) return cut();
      try {
        await guard.wait(knexClient.destroyRawConnection(connection), END_MS);
        guard.release();
      } catch {
        cut();
      }
    },
  };
}
