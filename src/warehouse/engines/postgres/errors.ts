// A driver's error in plain words. What PostgreSQL says often quotes a value, and the query builder puts the
// statement with its bound values before it: only the code, the names of things and what the code means are kept.
import { Fatal, Retriable, RoadbookError } from '../../../core/errors.ts';

interface Meaning {
  matches: RegExp;
  what: string;
  code: string;
  hint: string;
  mayPass: boolean;
}

const LOCK_TIMEOUT = /^55P03$/;

/** By SQLSTATE and by the codes of Node; the first that matches counts. */
const MEANINGS: readonly Meaning[] = [
  {
    matches: /^(?:08\w{3}|57P0\d|53300|E[A-Z_]+|LOST|SILENT)$/,
    what: 'cannot be reached',
    code: 'warehouse_unreachable',
    hint: 'It is tried again at the next run; check warehouse.url, the server and the network if it stays.',
    mayPass: true,
  },
  {
    matches: /^(?:40001|40P01|57014|25P03)$/,
    what: 'gave way to another session',
    code: 'warehouse_conflict',
    hint: 'Nothing was stored; it is tried again at the next run.',
    mayPass: true,
  },
  {
    matches: LOCK_TIMEOUT,
    what: 'is locked by another session',
    code: 'warehouse_locked',
    hint: 'Look for long transactions in pg_stat_activity, then run again.',
    mayPass: true,
  },
  {
    matches: /^25006$/,
    what: 'is read-only at present',
    code: 'warehouse_unreachable',
    hint: 'The address may lead to a standby: check warehouse.url.',
    mayPass: true,
  },
  {
    matches: /^28\w{3}$/,
    what: 'refused the login',
    code: 'warehouse_login_refused',
    hint: 'Check user and password in warehouse.url.',
    mayPass: false,
  },
  {
    matches: /^3D000$/,
    what: 'is not there: the server has no such database',
    code: 'warehouse_unwritable',
    hint: 'Create the database, or check the name in warehouse.url.',
    mayPass: false,
  },
  {
    matches: /^42501$/,
    what: 'does not permit this to its user',
    code: 'warehouse_unwritable',
    hint: 'Let the user own the schema: see deploy/postgres-roles.sql.',
    mayPass: false,
  },
  {
    matches: /^2BP01$/,
    what: 'has views of your own that read what has to change',
    code: 'warehouse_in_use',
    hint: 'Drop your views that read a bi_ view or a table of Roadbook, start it, and make them again.',
    mayPass: false,
  },
  {
    matches: /^53[12]00$/,
    what: 'is out of disk or memory',
    code: 'warehouse_full',
    hint: 'Give the server more room; nothing that was committed is lost.',
    mayPass: false,
  },
  {
    matches: /CERT|TLS|SSL|SIGNATURE/,
    what: 'offers no encryption that can be trusted',
    code: 'warehouse_unreachable',
    hint: 'Check sslmode and sslrootcert in warehouse.url.',
    mayPass: false,
  },
];

/** `place` names the server and the database, without user and password. */
export function postgresError(thrown: unknown, place: string): unknown {
  if (thrown instanceof RoadbookError || !(thrown instanceof Error)) return thrown;
  const code = codeOf(thrown);
  if (code === undefined) return thrown;
  const meaning = MEANINGS.find(({ matches }) => matches.test(code));
  if (meaning === undefined) {
    return new Fatal(`The warehouse refused a statement (${ownWords(thrown, code)})`, {
      code: 'warehouse_failed',
      hint: 'This is a fault in the program: report it with the log line.',
      cause: withoutMessage(thrown, code),
    });
  }
  const details = { code: meaning.code, hint: meaning.hint };
  const message = `The warehouse ${place} ${meaning.what} (${code})`;
  return meaning.mayPass ? new Retriable(message, details) : new Fatal(message, details);
}

/** The session has ended; another one may do. */
export const isLostSession = (thrown: unknown): boolean =>
  thrown instanceof Error && /^(?:08\w{3}|57P0\d|ECONNRESET|EPIPE|LOST)$/.test(codeOf(thrown) ?? '');

/** Another session has the lock, and kept it for as long as this one waits. */
export const isLockTimeout = (thrown: unknown): boolean =>
  thrown instanceof Error && LOCK_TIMEOUT.test(codeOf(thrown) ?? '');

/** The server itself has refused; it is there. */
export const isAnswered = (thrown: unknown): boolean =>
  /^(?=.*\d)[0-9A-Z]{5}$/.test(String((thrown as { code?: unknown } | null)?.code)) && !isLostSession(thrown);

/** The server has not answered in the time of the connection. */
export const isSilence = (thrown: unknown): boolean => thrown instanceof Error && codeOf(thrown) === 'SILENT';

const NO_ANSWER = /(?:^| - )Query read timeout/;
const LOST_CONNECTION =
  /(?:^| - )(?:Connection terminated|Connection ended|timeout expired|Client (?:has encountered|was closed))/;
const NO_ENCRYPTION = /(?:^| - )The server does not support SSL/;

/** SQLSTATE, or what Node or the driver call it; undefined where the error is of neither. */
function codeOf(error: Error & { code?: unknown; severity?: unknown }): string | undefined {
  const { code, name, message } = error;
  if (typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code)) return code;
  if (typeof code === 'string' && /^E[A-Z]+$|CERT|SIGNATURE/.test(code)) return code;
  if (NO_ENCRYPTION.test(message)) return 'SSL';
  if (NO_ANSWER.test(message)) return 'SILENT';
  return LOST_CONNECTION.test(message) || name === 'KnexTimeoutError' ? 'LOST' : undefined;
}

interface Named {
  table?: string;
  column?: string;
  constraint?: string;
}

/** The statement is at fault: what PostgreSQL says at the end names tables and columns, never values. */
function ownWords(error: Error & Named, code: string): string {
  if (/^42/.test(code)) return `${code}: ${error.message.split(' - ').at(-1)}`;
  const named = [error.table, error.column, error.constraint].filter((name) => name !== undefined);
  return [code, ...named].join(' ');
}

/** Where it happened, without what was bound. */
function withoutMessage(error: Error, code: string): Error {
  const bare = new Error(code);
  bare.stack = [code, ...(error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line))].join('\n');
  return bare;
}
