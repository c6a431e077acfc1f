// Converts a driver's error into one with a readable message and a hint. The driver's own message contains the statement
// and its bound values, so only its code is kept.
import { Fatal, Retriable, RoadbookError } from '../../core/errors.ts';

interface Meaning {
  matches: RegExp;
  what: string;
  code: string;
  hint: string;
  isTemporary?: true;
}

/** By the codes of pg, mssql, mysql2, oracledb, sqlite3 and Node; the first that matches counts. */
const MEANINGS: readonly Meaning[] = [
  {
    matches: /^(?:MODULE_NOT_FOUND|KNEX_DRIVER)$/,
    what: 'has no driver installed',
    code: 'erp_driver_missing',
    hint: 'Install the package of the client (pg with pg-query-stream, tedious, oracledb, mysql2 or sqlite3) beside roadbook.',
  },
  {
    matches: /^(?:28P01|28000|ELOGIN|ER_ACCESS_DENIED_ERROR|ER_DBACCESS_DENIED_ERROR|ORA-01017|NJS-116)$/,
    what: 'rejected the login',
    code: 'erp_login_refused',
    hint: 'Check user and password of the feed.',
  },
  {
    matches:
      /^(?:ECONN\w+|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ETIMEOUT|ESOCKET|EHOSTUNREACH|EPIPE|PROTOCOL_CONNECTION_LOST|08\w{3}|57P0\d|53300|SQLITE_BUSY|SQLITE_LOCKED|40001|40P01|ER_LOCK_\w+|NJS-5\d\d|DPI-1010|KNEX_TIMEOUT)$/,
    what: 'cannot be reached or is busy',
    code: 'erp_unreachable',
    hint: 'It will be retried at the next run; if it persists, check host, port and network.',
    isTemporary: true,
  },
  {
    matches: /^(?:42P01|42703|42S02|42S22|ER_NO_SUCH_TABLE|ER_BAD_FIELD_ERROR|ORA-00942|ORA-00904)$/,
    what: 'has no such table or column',
    code: 'erp_statement_refused',
    hint: 'Check the names in the statement of the feed.',
  },
  {
    matches: /^(?:42P08|42P18)$/,
    what: 'cannot determine the type of a value',
    code: 'erp_statement_refused',
    hint: 'Cast the value in the statement of the feed, for example cast(:message as text).',
  },
  {
    matches: /^(?:42501|ER_TABLEACCESS_DENIED_ERROR|ORA-01031|SQLITE_READONLY|SQLITE_PERM)$/,
    what: 'does not permit the statement',
    code: 'erp_statement_refused',
    hint: 'Grant the user of the feed the rights that the statement needs.',
  },
  {
    matches: /^(?:SQLITE_CANTOPEN|SQLITE_NOTADB|3D000|ER_BAD_DB_ERROR)$/,
    what: 'does not exist or cannot be opened',
    code: 'erp_database_missing',
    hint: 'Check the name of the database or file in the connection of the feed.',
  },
];

const OTHERWISE: Omit<Meaning, 'matches'> = {
  what: 'rejected a statement',
  code: 'erp_statement_refused',
  hint: 'Run the statement of the feed in a database client to see its own message.',
};

/** `statement` is the name of the setting: client, query, acknowledge or return. */
export function sqlFailure(thrown: unknown, statement: string): RoadbookError {
  if (thrown instanceof RoadbookError) return thrown;
  const code = codeOf(thrown);
  const { what, hint, isTemporary, code: errorCode } = MEANINGS.find(({ matches }) => matches.test(code)) ?? OTHERWISE;
  const message = `The ERP's database ${what} (${statement}, ${code})`;
  return new (isTemporary ? Retriable : Fatal)(message, { code: errorCode, hint });
}

function codeOf(thrown: unknown): string {
  const { code, name, message = '' } = thrown as { code?: unknown; name?: string; message?: string };
  if (name === 'KnexTimeoutError') return 'KNEX_TIMEOUT';
  if (typeof code === 'string' && code !== '') return code;
  // Knex reports a package that is not installed without a code.
  if (/npm i(?:nstall)? /.test(message)) return 'KNEX_DRIVER';
  return /\b(ORA|NJS|DPI)-\d{3,5}\b/.exec(message)?.[0] ?? name ?? 'no code';
}
