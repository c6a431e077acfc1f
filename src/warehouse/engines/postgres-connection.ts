// The connections to PostgreSQL. What the driver gives back is parsed for each connection, never for the process,
// so that readers get the same values as from SQLite and an ERP source on the same driver is left alone.
import knex, { type Knex } from 'knex';
import { withoutNul } from './bound-text.ts';
import { isLostSession, isSilence } from './postgres-errors.ts';

/** The driver's own connection, as far as it is used. */
export interface PgConnection {
  query(config: object, callback?: Callback): unknown;
  end(): Promise<void>;
  /** knex's own mark: the pool gives the connection to nobody any more. */
  __knex__disposed?: unknown;
}

type Callback = (error: Error | null, result: PgResult) => void;

export interface PgResult {
  rowCount: number | null;
  rows: never[];
}

export interface PostgresSettings {
  url: string;
  schema: string;
}

const CONNECT_TIMEOUT_MS = 15_000;
/** A writer waits this long for another one; as long as SQLite's. */
const LOCK_TIMEOUT_MS = 30_000;
/** A process that stopped in the middle of a transaction keeps the others waiting no longer than this. */
const IDLE_TIMEOUT_MS = 15_000;

const BESIDE_TIMEOUT_MS = 5_000;
const BESIDE_IDLE_MS = 2_000;
/** Longer than the server itself takes to give up: what has no answer by then will have none. */
const BESIDE_SILENT_MS = 8_000;

const SAME_TEXT = "set timezone = 'UTC'; set datestyle = 'ISO, YMD'; set client_min_messages = 'warning'";

const WRITER_SESSION = `${SAME_TEXT}; set lock_timeout = ${LOCK_TIMEOUT_MS};
  set idle_in_transaction_session_timeout = ${IDLE_TIMEOUT_MS};
  -- A push is sent once its claim is on disk, whatever the default of the server.
  set synchronous_commit = on`;

const READER_SESSION = `${SAME_TEXT}; set default_transaction_read_only = on`;

/** What is shared from moment to moment is worth nothing after a crash, and whoever stands still must not hold it. */
const BESIDE_SESSION = `${SAME_TEXT}; set lock_timeout = ${BESIDE_TIMEOUT_MS}; set statement_timeout = ${BESIDE_TIMEOUT_MS};
  set idle_in_transaction_session_timeout = ${BESIDE_IDLE_MS}; set synchronous_commit = off`;

export const connectWriter = (settings: PostgresSettings): Knex => connect(settings, 1, WRITER_SESSION);

/** For short transactions that do not wait for the writer. */
export const connectBeside = (settings: PostgresSettings, silentMs = BESIDE_SILENT_MS): Knex =>
  connect(settings, 1, BESIDE_SESSION, { query_timeout: silentMs });

export const connectReaders = (settings: PostgresSettings, most: number): Knex =>
  connect(settings, most, READER_SESSION);

function connect(
  { url, schema }: PostgresSettings,
  most: number,
  session: string,
  limits: { query_timeout?: number } = {},
): Knex {
  const silent = () => undefined;
  return knex({
    client: 'pg',
    connection: {
      connectionString: url,
      application_name: 'roadbook',
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
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
        watchQueries(connection);
        connection.query({ text: session }, (error) => done(error, connection));
      },
    },
  });
}

/** Binds no NUL, and lets go of a connection as soon as a statement meets its end: the driver tells it later. */
function watchQueries(connection: PgConnection): void {
  const query = connection.query.bind(connection);
  connection.query = (config, callback) =>
    query(
      withStorableValues(config),
      callback &&
        ((error, result) => {
          if (isLostSession(error) || isSilence(error)) connection.__knex__disposed = error;
          // Whatever was asked next, such as the rollback, would wait behind it.
          if (isSilence(error)) connection.end().catch(() => undefined);
          callback(error, result);
        }),
    );
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
