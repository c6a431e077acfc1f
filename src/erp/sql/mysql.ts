// MySQL and MariaDB. DATETIME and DATE have no zone and stay text. A TIMESTAMP is an instant, which the server shows in the
// zone of the session; it is read in that zone, and the session is left alone: `now()` in the query of a feed depends on it.
import type { Knex } from 'knex';
import { Temporal } from 'temporal-polyfill';
import { isRepeated, zonedMoment } from '../items/moments.ts';
import { databaseNumber, unreadableCell } from '../rows/cell-values.ts';
import { batchesOf, type Connection, type SqlClient, type SqlResult } from './client.ts';

/** The driver's numbers of types. */
const TIMESTAMP = 7;
const BIT = 16;
const DECIMAL = 246;

interface Field {
  name: string;
  columnType: number;
}
type Cell = string | number | Buffer | null;

const WEEK_S = 604_800;
/** Instants of the last and the next year, in seconds: on both sides of every change of the clocks. */
const comparedInstants = (nowMs: number): number[] =>
  Array.from({ length: 105 }, (_, i) => Math.floor(nowMs / 1_000) + (i - 52) * WEEK_S);

/** With the offset of the session from UTC, in minutes, at each of the instants. */
const sessionZoneQuery = (instants: readonly number[]): string => {
  const offsets = instants.map((at) => `timestampdiff(minute, '1970-01-01', from_unixtime(${at})) - ${at} div 60`);
  return `select @@session.time_zone as name, @@system_time_zone as system, concat_ws(' ', ${offsets.join(', ')}) as offsets`;
};

const DATABASE_COLLATION = 'select @@character_set_database as charset, @@collation_database as collation';

const NO_TIME = 'is a TIMESTAMP that is no time, such as 0000-00-00; select null in its place';
const REPEATED =
  'is a TIMESTAMP in an hour that the clocks of the database repeat; set time_zone of its session to an offset';

interface SessionZone {
  name: string;
  system: string;
  /** Minutes from UTC at each of the instants, with spaces between. */
  offsets: string;
}

/** The zone in which a TIMESTAMP is read, or why none can be. */
type ShownIn = { zone: string } | { issue: string };

export const mysql: SqlClient = {
  address: 'mysql://user:password@host:3306/database',
  settings: ({ connectMs }) => ({
    connectTimeout: connectMs,
    dateStrings: true,
    supportBigNumbers: true,
    bigNumberStrings: true,
    decimalNumbers: false,
  }),
  async prepare(connection, { lockMs }) {
    const session = connection.promise();
    const seconds = Math.ceil(lockMs / 1_000);
    await session.query(`set session innodb_lock_wait_timeout = ${seconds}, session lock_wait_timeout = ${seconds}`);
    // The driver's own collation could not be compared with a column of the database: `cast(number as char) = r.code`.
    const [[{ charset, collation }]] = await session.query(DATABASE_COLLATION);
    if (charset === 'utf8mb4') await session.query(`set names utf8mb4 collate ${collation}`);
  },
  async query(connection, statement, zone): Promise<SqlResult> {
    const instants = comparedInstants(Date.now());
    const [[session]] = await connection.promise().query(sessionZoneQuery(instants));
    const shownIn = sessionZone(session, zone, instants);
    const rows = connection.query({ sql: statement, rowsAsArray: true }).stream();
    const fields = await new Promise<Field[]>((resolve, reject) => {
      // A statement that is no query has no columns.
      rows.once('fields', (found?: Field[]) => resolve(found ?? []));
      rows.once('error', reject);
    });
    const readers = fields.map(({ columnType }) => readerOf(columnType, shownIn));
    async function* batches() {
      // After the rows of a procedure comes its own result, which is no row.
      for await (const batch of batchesOf<Cell[]>(rows))
        yield batch.filter(Array.isArray).map((cells) => cells.map((cell, i) => readers[i]?.(cell) ?? cell));
    }
    return { header: fields.map(({ name }) => name), batches: batches() };
  },
  async run(connection, { sql, bindings }) {
    // A prepared statement: its values are not put into its text, whatever the server's rules for quoting are.
    const [result] = await connection.promise().execute(sql, bindings);
    return result.affectedRows;
  },
  cut(connection, knex) {
    const { localPort } = connection.stream;
    connection.destroy();
    endStatement(connection.threadId, localPort, knex).catch(() => undefined);
  },
};

/**
 * The server notices a closed connection only when it sends rows; until then it would go on with the statement. Behind a
 * proxy this connection may reach another server, where the number is another session's: only the port shows whose it is.
 */
async function endStatement(threadId: number, localPort: number, knex: Knex.Client): Promise<void> {
  const other: Connection = await knex.acquireRawConnection();
  try {
    const own = 'select id from information_schema.processlist where id = ? and host like ?';
    const [found] = await other.promise().query(own, [threadId, `%:${localPort}`]);
    if (found.length > 0) await other.promise().query(`kill query ${threadId}`);
  } finally {
    other.destroy();
  }
}

/**
 * The IANA zone or offset of the session. The server may have only an abbreviation, such as `-03` or `CET`: then it is the
 * configured zone, if their clocks are the same at each of the instants. So must those of a zone with a name be: the server may
 * have old data of it.
 */
export function sessionZone(
  { name, system, offsets }: SessionZone,
  configured: string,
  instants: readonly number[],
): ShownIn {
  const zone = name === 'SYSTEM' ? system : name;
  if (zone === 'UTC' || /^[+-]\d\d:\d\d$/.test(zone)) return { zone };
  const expected = zone.includes('/') ? zone : configured;
  const shown = offsets.split(' ').map(Number);
  for (const [i, at] of instants.entries()) {
    const instant = Temporal.Instant.fromEpochMilliseconds(at * 1_000);
    const minutes = Math.abs(Number(shown[i]) - instant.toZonedDateTimeISO(expected).offsetNanoseconds / 60e9);
    if (minutes !== 0) return { issue: clocksDiffer(zone, expected, configured, `${instant} by ${minutes} minutes`) };
  }
  return { zone: expected };
}

const clocksDiffer = (zone: string, expected: string, configured: string, difference: string): string =>
  `is a TIMESTAMP, and the clocks of the database (${zone}) and of ${expected} differ, as at ${difference}; update the ` +
  'time zone data of its server, set its time_zone to an offset such as -03:00, or select cast(… as datetime), which is ' +
  `read in ${configured}`;

function readerOf(type: number, shownIn: ShownIn): ((cell: Cell) => unknown) | undefined {
  if (type === BIT) return (cell) => (Buffer.isBuffer(cell) ? Number(BigInt(`0x${cell.toString('hex')}`)) : cell);
  if (type === DECIMAL) return (cell) => (typeof cell === 'string' ? databaseNumber(cell) : cell);
  return type === TIMESTAMP ? (cell) => (typeof cell === 'string' ? timestampCell(cell, shownIn) : cell) : undefined;
}

export function timestampCell(text: string, shownIn: ShownIn): unknown {
  if ('issue' in shownIn) return unreadableCell(shownIn.issue, text);
  const moment = zonedMoment(text, shownIn.zone);
  if (moment === undefined) return unreadableCell(NO_TIME, text);
  return isRepeated(text, shownIn.zone) ? unreadableCell(REPEATED, text) : moment;
}
