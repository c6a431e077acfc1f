// The connections to PostgreSQL. What the driver gives back is parsed for each connection, never for the process,
// so that readers get the same values as from SQLite and an ERP source on the same driver is left alone.
import knex, { type Knex } from 'knex';
import { withoutNul } from '../bound-text.ts';
import type { PgConnection } from './driver.ts';
import { isLostSession, isSilence } from './errors.ts';
import { endWhenSilent, type SilenceWatch } from './silence.ts';

export interface PostgresSettings {
  url: string;
  schema: string;
}

interface ConnectSettings extends PostgresSettings {
  /** How long a connection may take to be made, ms. */
  connectMs: number;
}

interface WriterSettings extends ConnectSettings {
  /** How long it waits for a lock, ms. */
  lockMs: number;
}

/** A way that forgets silent connections is reminded this often. */
const KEEP_ALIVE_MS = 30_000;
/** A process that stopped in the middle of a transaction keeps the others waiting no longer than this. */
const IDLE_TIMEOUT_MS = 15_000;

const BESIDE_TIMEOUT_MS = 5_000;
const BESIDE_IDLE_MS = 2_000;

const SAME_TEXT = "set timezone = 'UTC'; set datestyle = 'ISO, YMD'; set client_min_messages = 'warning'";

/** Whatever the role or the database has as its default: see silence.ts. */
const UNHURRIED = 'set statement_timeout = 0';

const writerSession = (lockMs: number): string => `${SAME_TEXT}; set lock_timeout = ${lockMs};
  set idle_in_transaction_session_timeout = ${IDLE_TIMEOUT_MS}; ${UNHURRIED};
  -- A push is sent once its claim is on disk, whatever the default of the server.
  set synchronous_commit = on`;

const READER_SESSION = `${SAME_TEXT}; ${UNHURRIED}; set default_transaction_read_only = on`;

/** What is shared from moment to moment is worth nothing after a crash, and whoever stands still must not hold it. */
const BESIDE_SESSION = `${SAME_TEXT}; set lock_timeout = ${BESIDE_TIMEOUT_MS}; set statement_timeout = ${BESIDE_TIMEOUT_MS};
  set idle_in_transaction_session_timeout = ${BESIDE_IDLE_MS}; set synchronous_commit = off`;

export const connectWriter = (settings: WriterSettings, most: number, watch: SilenceWatch): Knex =>
  connect(settings, { most, session: writerSession(settings.lockMs), watch });

/** For short transactions that do not wait for the writer; what has no answer after `silentMs` will have none. */
export const connectBeside = (settings: ConnectSettings, silentMs: number): Knex =>
  connect(settings, { most: 1, session: BESIDE_SESSION, limits: { query_timeout: silentMs } });

export const connectReaders = (settings: ConnectSettings, most: number, watch: SilenceWatch): Knex =>
  connect(settings, { most, session: READER_SESSION, watch });

interface Manner {
  /** Most connections. */
  most: number;
  session: string;
  /** For statements that may take long; the others have a limit. */
  watch?: SilenceWatch;
  limits?: { query_timeout?: number };
}

function connect(
  { url, schema, connectMs }: ConnectSettings,
  { most, session, watch, limits }: Manner,
): Knex {
  const silent = () => undefined;
  return knex({
    client: 'pg',
    connection: {
      connectionString: url,
      application_name: 'roadbook',
      connectionTimeoutMillis: connectMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      ...limits,
      types: { getTypeParser: (oid: number) => PARSERS[oid] ?? asText },
    } as Knex.PgConnectionConfig,
    searchPath: [schema],
    // knex would print what goes wrong, on stdout and with bound values; it is thrown as well.
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

/** A pooler tells a number of its own at the login, so the server is asked for its. */
function watchSession(
  connection: PgConnection,
  watch: SilenceWatch,
  done: (error: Error | null) => void,
): void {
  connection.query({ text: 'select pg_backend_pid() as pid' }, (error, result) => {
    const [row] = (result?.rows ?? []) as { pid: number }[];
    watchQueries(connection, row && endWhenSilent(connection, row.pid, watch).begin);
    done(error);
  });
}

/** Binds no NUL, and lets go of a connection as soon as a statement meets its end: the driver tells it later. */
function watchQueries(connection: PgConnection, onBegin?: () => void): void {
  const query = connection.query.bind(connection);
  connection.query = (config, callback) => {
    onBegin?.();
    return query(
      withStorableValues(config),
      callback &&
        ((error, result) => {
          if (isLostSession(error) || isSilence(error)) connection.__knex__disposed = error;
          // Whatever was asked next, such as the rollback, would wait behind it.
          if (isSilence(error)) connection.end().catch(() => undefined);
          callback(error, result);
        }),
    );
  };
}

function withStorableValues(config: object & { values?: unknown[] }): object {
  if (config.values?.some((value) => typeof value === 'string' && value.includes('\0')) !== true)
    return config;
  return { ...config, values: config.values.map(withoutNul) };
}

const asText = (text: string): string => text;

/** As a number where it loses nothing, otherwise its digits. */
function toInteger(text: string): number | string {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : text;
}

const UTC_TEXT = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,3})\d*)?\+00$/;

function toInstant(text: string): string {
  const [, day, time, fraction = ''] = UTC_TEXT.exec(text) ?? [];
  return day === undefined ? text : `${day}T${time}.${fraction.padEnd(3, '0')}Z`;
}

/** By the identifiers of the types, which never change: see pg_type. Everything else stays text. */
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
