// One committed state of a SQLite file, read by batches for files that outgrow memory. The driver of the engine hands
// over whole answers only; Node's own steps through them. It works on the calling thread, so commands use it, not
// the daemon.
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Scalar, Scan } from '../engine.ts';

const BATCH_ROWS = 2_000;

export async function sqliteSnapshot<T>(
  file: string,
  lockMs: number,
  work: (scan: Scan) => Promise<T>,
): Promise<T> {
  const database = new DatabaseSync(file, { readOnly: true, timeout: lockMs });
  try {
    database.exec('begin');
    return await work((statement, bindings = []) => batches(database, statement, bindings));
  } finally {
    database.close();
  }
}

async function* batches(database: DatabaseSync, statement: string, bindings: readonly Scalar[]) {
  const prepared = database.prepare(statement);
  prepared.setReadBigInts(true);
  let batch: Record<string, unknown>[] = [];
  for (const row of prepared.iterate(...(bindings as (string | number | null)[]))) {
    batch.push(row as Record<string, unknown>);
    if (batch.length < BATCH_ROWS) continue;
    yield batch;
    batch = [];
    await nextTurn();
  }
  if (batch.length > 0) yield batch;
}
