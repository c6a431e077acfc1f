// The connections to PostgreSQL. Each connection has its own type parsers, so that readers get the same values as from
// SQLite, while an ERP source on the same driver keeps the driver's defaults.
import knex, { type Knex } from 'knex';
import { storableValue } from '../store-statement.ts';
import type { PgConnection } from './driver.ts';
import { isLostSession, isSilence } from './errors.ts';
import { endWhenSilent, type SilenceWatch } from './silence.ts';

export interface PostgresSettings {
  url: string;
  schema: string;
}

interface ConnectSettings extends PostgresSettings {
  connectMs: number;
}

/** Keeps firewalls and NAT from dropping idle connections. */
const KEEP_ALIVE_MS = 30_000;
/** A process that stops inside a transaction blocks the others for at most this long. */
const IDLE_TIMEOUT_MS = 15_000;

const BESIDE_TIMEOUT_MS = 5_000;
const BESIDE_IDLE_MS = 2_000;

const SAME_TEXT = "set timezone = 'UTC'; set datestyle = 'ISO, YMD'; set client_min_messages = 'warning'";

/** Overrides the default of the role or the database. Silence is detected otherwise: see silence.ts. */
const NO_STATEMENT_TIMEOUT = 'set statement_timeout = 0';

const writerSession = (lockMs: number): string => `${SAME_TEXT}; set lock_timeout = ${lockMs};
  set idle_in_transaction_session_timeout = ${IDLE_TIMEOUT_MS}; ${NO_STATEMENT_TIMEOUT};
  -- A push is sent once its claim is on disk, so the server's default must not apply.
  set synchronous_commit = on`;

const READER_SESSION = `${SAME_TEXT}; ${NO_STATEMENT_TIMEOUT}; set default_transaction_read_only = on`;

/** This state is worthless after a crash, so commits need not reach the disk. A stalled process must not keep its locks. */
const BESIDE_SESSION = `${SAME_TEXT}; set lock_timeout = ${BESIDE_TIMEOUT_MS}; set statement_timeout = ${BESIDE_TIMEOUT_MS};
  set idle_in_transaction_session_timeout = ${BESIDE_IDLE_MS}; set synchronous_commit = off`;

/** `lockMs` is how long a statement waits for a lock. */
export const connectWriter = (
  settings: ConnectSettings & { lockMs: number },
  most: number,
  watch: SilenceWatch,
): Knex => connect(settings, { most, session: writerSession(settings.lockMs), watch });

/** For short transactions in parallel with the writer. A statement without an answer after `silentMs` fails. */
export const connectBeside = (settings: ConnectSettings, silentMs: number): Knex =>
  connect(settings, { most: 1, session: BESIDE_SESSION, silentMs });

export const connectReaders = (settings: ConnectSettings, most: number, watch: SilenceWatch): Knex =>
  connect(settings, { most, session: READER_SESSION, watch });

interface PoolOptions {
  most: number;
  session: string;
  /** For connections whose statements may take long. The others have a timeout. */
  watch?: SilenceWatch;
  silentMs?: number;
}

function connect({ url, schema, connectMs }: ConnectSettings, { most, session, watch, silentMs }: PoolOptions): Knex {
  const silent = () => undefined;
  return knex({
    client: 'pg',
    connection: {
      connectionString: url,
      application_name: 'roadbook',
      connectionTimeoutMillis: connectMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      ...(silentMs !== undefined && { query_timeout: silentMs }),
      types: { getTypeParser: (oid: number) => PARSERS[oid] ?? asText },
    } as Knex.PgConnectionConfig,
    searchPath: [schema],
    // knex would print errors to stdout, with bound values. It throws them as well.
    log: { warn: silent, error: silent, deprecate: silent, debug: silent },
    pool: {
      min: 0,
      max: most,
      afterCreate: (connection: PgConnection, done: (error: Error | null, made: unknown) => void) => {
        const ended = (error: Error | null) => done(error, connection);
        connection.query({ text: session }, (error) => {
          if (error !== null || watch === undefined) {
            watchQueries(connection);
            ended(error);
          } else watchSession(connection, watch, ended);
        });
      },
    },
  });
}

/** Asks the server for the session's pid: at login a pooler reports a pid of its own. */
function watchSession(connection: PgConnection, watch: SilenceWatch, done: (error: Error | null) => void): void {
  connection.query({ text: 'select pg_backend_pid() as pid' }, (error, result) => {
    const [row] = (result?.rows ?? []) as { pid: number }[];
    watchQueries(connection, row && endWhenSilent(connection, row.pid, watch));
    done(error);
  });
}

/** Replaces NUL in bound values. Disposes of a lost connection at the first failed statement: the driver reports it later. */
function watchQueries(connection: PgConnection, onBegin?: () => void): void {
  const query = connection.query.bind(connection);
  connection.query = (config, callback) => {
    onBegin?.();
    if (config.values !== undefined) config.values = config.values.map(storableValue);
    return query(
      config,
      callback &&
        ((error, result) => {
          if (isLostSession(error) || isSilence(error)) connection.__knex__disposed = error;
          // The next statement, such as the rollback, would wait behind this one.
          if (isSilence(error)) connection.end().catch(() => undefined);
          callback(error, result);
        }),
    );
  };
}

const asText = (text: string): string => text;

/** A number if it is exact, otherwise the digits as text. */
function toInteger(text: string): number | string {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : text;
}

const UTC_TEXT = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,3})\d*)?\+00$/;

function toInstant(text: string): string {
  const [, day, time, fraction = ''] = UTC_TEXT.exec(text) ?? [];
  return day === undefined ? text : `${day}T${time}.${fraction.padEnd(3, '0')}Z`;
}

/** By the OIDs of the types, which never change: see pg_type. All other types stay text. */
const PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  16: (text) => (text === 't' ? 1 : 0),
  20: toInteger,
  21: Number,
  23: Number,
  26: Number,
  700: Number,
  701: Number,
  1184: toInstant,
  1700: Number,
};
