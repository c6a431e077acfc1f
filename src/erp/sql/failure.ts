// Converts a driver's error into one with a readable message and a hint. The driver's own message contains the statement
// and its bound values, so only its code and the name of a missing table are kept.
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
    hint: 'Install the driver of the client in the folder of Roadbook.',
  },
  {
    matches:
      /^(?:28P01|28000|ELOGIN|ER_ACCESS_DENIED_ERROR|ER_DBACCESS_DENIED_ERROR|ER_ACCESS_DENIED_NO_PASSWORD_ERROR|ORA-01017|NJS-116)$/,
    what: 'rejected the login',
    code: 'erp_login_rejected',
    hint: 'Check user and password of the feed.',
  },
  {
    matches:
      /^(?:55P03|57014|ER_LOCK_\w+|ER_QUERY_INTERRUPTED|EREQUEST (?:1205|1222)|ORA-000(?:54|60)|ORA-30006|SQLITE_BUSY|SQLITE_LOCKED|40001|40P01|ETIMEOUT|NJS-123|DPI-1067|TIMEOUT)$/,
    what: 'holds a lock on what the statement needs, or did not answer in time',
    code: 'erp_unavailable',
    hint: 'It will be retried at the next run; if it persists, end the session that holds the lock, make the statement faster, or raise timeout of the feed.',
    isTemporary: true,
  },
  {
    matches:
      /^(?:ECONN\w+|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ESOCKET|EHOSTUNREACH|EPIPE|PROTOCOL_CONNECTION_LOST|ER_CONNECTION_KILLED|ER_SERVER_SHUTDOWN|ER_CON_COUNT_ERROR|08\w{3}|57P0\d|53300|NJS-5\d\d|DPI-1010|DPI-1080|CONNECTION_LOST|CONNECT_TIMEOUT)$/,
    what: 'cannot be reached',
    code: 'erp_unreachable',
    hint: 'It will be retried at the next run; if it persists, check host, port and network.',
    isTemporary: true,
  },
  {
    matches: /^(?:42P01|42703|42S02|42S22|ER_NO_SUCH_TABLE|ER_BAD_FIELD_ERROR|EREQUEST 20[78]|ORA-00942|ORA-00904)$/,
    what: 'has no such table or column',
    code: 'erp_statement_rejected',
    hint: 'Check the names in the statement of the feed.',
  },
  {
    matches: /^ER_CANT_AGGREGATE_\w*COLLATIONS$/,
    what: 'cannot compare texts of two collations',
    code: 'erp_statement_rejected',
    hint: 'Give one side the collation of the other, for example r.external_code = v.code collate utf8mb4_general_ci.',
  },
  {
    matches: /^(?:42P08|42P18)$/,
    what: 'cannot determine the type of a value',
    code: 'erp_statement_rejected',
    hint: 'Cast the value in the statement of the feed, for example cast(:message as text).',
  },
  {
    matches:
      /^(?:42501|ER_TABLEACCESS_DENIED_ERROR|ER_COLUMNACCESS_DENIED_ERROR|EREQUEST (?:229|230)|ORA-01031|SQLITE_READONLY|SQLITE_PERM)$/,
    what: 'does not permit the statement',
    code: 'erp_statement_rejected',
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
  code: 'erp_statement_rejected',
  hint: 'Run the statement of the feed in a database client to see its own message.',
};

/** As MySQL, PostgreSQL, SQLite and SQL Server report it; Oracle names no table. */
const MISSING_TABLE =
  /^(?:Table '|relation "|SQLITE_ERROR: no such table: |Invalid object name ')([^'"]+)(?:' doesn't exist|" does not exist|'\.)?$/;

function missingTable(thrown: unknown): Omit<Meaning, 'matches'> | undefined {
  const table = MISSING_TABLE.exec(String((thrown as { message?: unknown }).message))?.[1];
  if (table === undefined) return undefined;
  const isOwn = /(?:^|\.)roadbook_(?:outcome|stop)$/.test(table);
  const hint = isOwn
    ? "Run roadbook-tables.sql, which is beside the configuration, in the ERP's database."
    : 'Check the names in the statement of the feed.';
  return { what: `has no table ${table}`, code: 'erp_statement_rejected', hint };
}

/**
 * `setting` is the name of the setting that failed: client, query, acknowledge or return. `install` is the command that
 * installs a missing driver.
 */
export function sqlFailure(thrown: unknown, setting: string, install?: string): RoadbookError {
  if (thrown instanceof RoadbookError) return thrown;
  const code = codeOf(thrown);
  const meaning = missingTable(thrown) ?? MEANINGS.find(({ matches }) => matches.test(code)) ?? OTHERWISE;
  const { what, isTemporary, code: errorCode } = meaning;
  const isMissing = errorCode === 'erp_driver_missing' && install !== undefined;
  const hint = isMissing
    ? `Install it in the folder of Roadbook, also after each upgrade, which removes it: ${install}`
    : meaning.hint;
  const message = `The ERP's database ${what} (${setting}, ${code})`;
  return new (isTemporary ? Retriable : Fatal)(message, { code: errorCode, hint });
}

/** By the code too: servers word the message in their own language. */
export const isTableMissing = (thrown: unknown): boolean =>
  /^(?:42P01|ER_NO_SUCH_TABLE)$/.test(codeOf(thrown)) || missingTable(thrown) !== undefined;

/** The statement was rolled back so that another session could go on; it may be repeated at once. */
export const isDeadlock = (thrown: unknown): boolean =>
  /^(?:40001|40P01|ER_LOCK_DEADLOCK|EREQUEST 1205|ORA-00060)$/.test(codeOf(thrown));

function codeOf(thrown: unknown): string {
  const {
    code,
    name,
    message = '',
    number,
  } = thrown as Partial<Record<'code' | 'name' | 'message', string>> & {
    number?: number;
  };
  // SQL Server's own number says more than the driver's code.
  if (code === 'EREQUEST' && number !== undefined) return `${code} ${number}`;
  if (typeof code === 'string' && code !== '') return code;
  // Knex reports a package that is not installed without a code, pg a connection that has ended.
  if (/npm i(?:nstall)? /.test(message)) return 'KNEX_DRIVER';
  if (/^Connection terminated|^timeout expired/.test(message)) return 'CONNECTION_LOST';
  return /\b(ORA|NJS|DPI)-\d{3,5}\b/.exec(message)?.[0] ?? name ?? 'no code';
}
