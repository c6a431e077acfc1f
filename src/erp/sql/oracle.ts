// Oracle. NUMBER is fetched as text. The driver returns DATE and TIMESTAMP as a Date whose fields in this process's zone are
// the time that the column shows.
import { databaseNumber } from '../rows/cell-values.ts';
import { BATCH_ROWS, type SqlClient, type SqlResult } from './client.ts';

export const oracle: SqlClient = {
  address: 'oracledb://user:password@host:1521/service',
  install: 'npm install --omit=dev oracledb',
  settings: () => ({}),
  async prepare(connection, { statementMs }) {
    // For each exchange with the server, so it also limits the wait for a locked row and for the next rows.
    connection.callTimeout = statementMs;
  },
  async query(connection, statement, _zone, { driver }): Promise<SqlResult> {
    const { DB_TYPE_NUMBER, DB_TYPE_CLOB, DB_TYPE_NCLOB, DB_TYPE_DATE, DB_TYPE_TIMESTAMP } = driver;
    const fetchTypeHandler = ({ dbType }: { dbType: unknown }) => {
      if (dbType === DB_TYPE_NUMBER) return { type: driver.STRING, converter: numberCell };
      if (dbType === DB_TYPE_CLOB || dbType === DB_TYPE_NCLOB) return { type: driver.STRING };
      return dbType === DB_TYPE_DATE || dbType === DB_TYPE_TIMESTAMP ? { converter: wallClock } : undefined;
    };
    const options = { resultSet: true, outFormat: driver.OUT_FORMAT_ARRAY, fetchTypeHandler };
    const { resultSet } = await connection.execute(statement, [], options);
    async function* batches() {
      for (;;) {
        const rows = await resultSet.getRows(BATCH_ROWS);
        if (rows.length === 0) return;
        yield rows;
      }
    }
    const header = resultSet.metaData.map(({ name }: { name: string }) => name);
    return { header, batches: batches() };
  },
  async run(connection, { sql, bindings }) {
    const { rowsAffected } = await connection.execute(sql, bindings, { autoCommit: true });
    return rowsAffected;
  },
  cut: (connection) => void connection.close({ drop: true }).catch(() => undefined),
};

/** With Oracle's own client libraries the decimal mark is that of the session. */
export const numberCell = (text: string | null): object | null =>
  text === null ? null : databaseNumber(text.replace(',', '.'));

/** The fields of the Date in this process's zone, as text. */
export function wallClock(date: Date | null): string | null {
  if (date === null) return null;
  const two = (number: number): string => String(number).padStart(2, '0');
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  return `${day}T${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')}`;
}
