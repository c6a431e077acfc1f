// PostgreSQL. The driver returns bigint and numeric as text; times without a zone are kept as text here.
import { databaseNumber } from '../rows/cell-values.ts';
import { BATCH_ROWS, type SqlClient, type SqlResult } from './client.ts';

/** The type numbers of `date` and `timestamp without time zone`, which the driver would read in this machine's zone. */
const WALL_CLOCK_TYPES = [1082, 1114];
const NUMERIC = 1700;

type Rows = unknown[][];
type Fields = { fields: { name: string }[] };

export const postgres: SqlClient = {
  address: 'postgres://user:password@host:5432/database',
  settings: ({ connectMs }) => ({ connectionTimeoutMillis: connectMs }),
  async prepare(connection, { lockMs, statementMs }) {
    for (const type of WALL_CLOCK_TYPES) connection.setTypeParser(type, 'text', (text: string) => text);
    connection.setTypeParser(NUMERIC, 'text', databaseNumber);
    // The server's own limit on a statement ends a query that nobody waits for any more.
    await connection.query(`set lock_timeout = ${lockMs}; set statement_timeout = ${statementMs}`);
  },
  async query(connection, statement): Promise<SqlResult> {
    const { default: QueryStream } = await import('pg-query-stream');
    // The cursor of the stream gives the names of the columns too, and also those of an empty result.
    const { cursor } = new QueryStream(statement, [], { rowMode: 'array' });
    connection.query(cursor);
    const fetch = (): Promise<[Rows, Fields]> =>
      new Promise((resolve, reject) =>
        cursor.read(BATCH_ROWS, (error: unknown, rows: Rows, result: Fields) =>
          error ? reject(error) : resolve([rows, result]),
        ),
      );
    const [first, { fields }] = await fetch();
    async function* batches() {
      for (let rows = first; rows.length > 0; [rows] = await fetch()) yield rows;
    }
    return { header: fields.map(({ name }) => name), batches: batches() };
  },
  async run(connection, { sql, bindings }) {
    const { rowCount } = await connection.query(sql, bindings);
    return rowCount ?? undefined;
  },
  cut: (connection) => connection.connection.stream.destroy(),
};
