// One committed state of a PostgreSQL database, read by batches through a cursor, for files that outgrow memory.
import type { Knex } from 'knex';
import type { Scalar, Scan } from '../engine.ts';

const BATCH_ROWS = 2_000;

export const postgresSnapshot = <T>(reader: Knex, work: (scan: Scan) => Promise<T>): Promise<T> =>
  reader.transaction((sql) => work((statement, bindings = []) => batches(sql, statement, bindings)), {
    isolationLevel: 'repeatable read',
    readOnly: true,
  });

async function* batches(sql: Knex, statement: string, bindings: readonly Scalar[]) {
  let batch: Record<string, unknown>[] = [];
  for await (const row of sql.raw(statement, [...bindings]).stream({ batchSize: BATCH_ROWS })) {
    batch.push(row);
    if (batch.length < BATCH_ROWS) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
