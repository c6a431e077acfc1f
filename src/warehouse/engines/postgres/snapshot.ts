// Reads one committed state of a PostgreSQL database in batches through a cursor, for exports larger than memory.
import type { Knex } from 'knex';
import type { Scalar, Scan, Values } from '../../engine.ts';
import type { PgConnection } from './driver.ts';

const BATCH_ROWS = 2_000;

export const postgresSnapshot = <T>(reader: Knex, work: (scan: Scan) => Promise<T>): Promise<T> =>
  reader.transaction(
    (sql) =>
      work((statement, bindings = [], { isSmall = false } = {}) =>
        isSmall ? wholeAnswer(sql, statement, bindings) : batches(sql, statement, bindings),
      ),
    { isolationLevel: 'repeatable read', readOnly: true },
  );

/** Without a cursor, for which the server would compute the answer with one process alone. */
async function* wholeAnswer(sql: Knex, statement: string, bindings: readonly Scalar[]) {
  const { rows } = await sql.raw(statement, [...bindings]).options({ rowMode: 'array' });
  yield rows as Values[];
}

async function* batches(sql: Knex, statement: string, bindings: readonly Scalar[]) {
  const connection = (await sql.client.acquireConnection()) as PgConnection;
  const rows = sql.raw(statement, [...bindings]).stream({ batchSize: BATCH_ROWS, rowMode: 'array' });
  // On a connection that has ended, the cursor would wait forever for the answer to its close.
  const end = () => rows.destroy(new Error('Connection terminated'));
  connection.on('end', end);
  let batch: Values[] = [];
  try {
    for await (const row of rows) {
      batch.push(row);
      if (batch.length < BATCH_ROWS) continue;
      yield batch;
      batch = [];
    }
  } finally {
    connection.off('end', end);
  }
  if (batch.length > 0) yield batch;
}
