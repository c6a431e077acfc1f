// Driver errors in plain words. A PostgreSQL message often quotes a value, and the query builder prepends the statement
// with its bound values. Only the code, its meaning, and the names of tables and columns are kept.
import { Fatal, Retriable, RoadbookError } from '../../../core/errors.ts';
import { statementRejected } from '../statement-rejected.ts';

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
    hint: 'The next run tries again. If the error persists, check warehouse.url, the server and the network.',
    mayPass: true,
  },
  {
    matches: /^(?:40001|40P01|57014|25P03)$/,
    what: 'cancelled the transaction because of another session',
    code: 'warehouse_conflict',
    hint: 'Nothing was stored. The next run tries again.',
    mayPass: true,
  },
  {
    matches: LOCK_TIMEOUT,
    what: 'is locked by another session',
    code: 'warehouse_locked',
    hint: 'Find long transactions in pg_stat_activity, then run again.',
    mayPass: true,
  },
  {
    matches: /^25006$/,
    what: 'is read-only',
    code: 'warehouse_unreachable',
    hint: 'The address may point to a standby: check warehouse.url.',
    mayPass: true,
  },
  {
    matches: /^28\w{3}$/,
    what: 'rejected the login',
    code: 'warehouse_login_rejected',
    hint: 'Check the user and the password in warehouse.url.',
    mayPass: false,
  },
  {
    matches: /^3D000$/,
    what: 'does not exist on the server',
    code: 'warehouse_unwritable',
    hint: 'Create the database, or check the name in warehouse.url.',
    mayPass: false,
  },
  {
    matches: /^42501$/,
    what: 'denies its user the permission',
    code: 'warehouse_unwritable',
    hint: 'Make the user the owner of the schema: see deploy/postgres-roles.sql.',
    mayPass: false,
  },
  {
    matches: /^2BP01$/,
    what: 'has views of your own on tables or views that have to change',
    code: 'warehouse_in_use',
    hint: 'Drop your views that read a bi_ view or a table of Roadbook, start Roadbook, then create them again.',
    mayPass: false,
  },
  {
    matches: /^53[12]00$/,
    what: 'is out of disk or memory',
    code: 'warehouse_full',
    hint: 'Give the server more disk or memory. No committed data is lost.',
    mayPass: false,
  },
  {
    matches: /CERT|TLS|SSL|SIGNATURE/,
    what: 'offers no trusted encryption',
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
  if (meaning === undefined) return statementRejected(safeDetails(thrown, code), thrown, code);
  const details = { code: meaning.code, hint: meaning.hint };
  const message = `The warehouse ${place} ${meaning.what} (${code})`;
  return meaning.mayPass ? new Retriable(message, details) : new Fatal(message, details);
}

/** The session has ended. A new one may work. */
export const isLostSession = (thrown: unknown): boolean =>
  thrown instanceof Error && /^(?:08\w{3}|57P0\d|ECONNRESET|EPIPE|LOST)$/.test(codeOf(thrown) ?? '');

export const isLockTimeout = (thrown: unknown): boolean =>
  thrown instanceof Error && LOCK_TIMEOUT.test(codeOf(thrown) ?? '');

/** The error comes from the server itself, so the server is reachable. */
export const isAnswered = (thrown: unknown): boolean =>
  /^(?=.*\d)[0-9A-Z]{5}$/.test(String((thrown as { code?: unknown } | null)?.code)) && !isLostSession(thrown);

/** The server did not answer within the query timeout of the connection. */
export const isSilence = (thrown: unknown): boolean => thrown instanceof Error && codeOf(thrown) === 'SILENT';

const NO_ANSWER = /(?:^| - )Query read timeout/;
const LOST_CONNECTION =
  /(?:^| - )(?:Connection terminated|Connection ended|timeout expired|Client (?:has encountered|was closed))/;
const NO_ENCRYPTION = /(?:^| - )The server does not support SSL/;

/** SQLSTATE, or a code for an error of Node or the driver; undefined for any other error. */
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

/** Class 42 is an error in the statement: PostgreSQL's own message then names tables and columns, never values. */
function safeDetails(error: Error & Named, code: string): string {
  if (/^42/.test(code)) return `${code}: ${error.message.split(' - ').at(-1)}`;
  const named = [error.table, error.column, error.constraint].filter((name) => name !== undefined);
  return [code, ...named].join(' ');
}
