// Compares the batches of a slice with the stored rows, for every engine and table alike: the slice is stored as usual,
// and the transaction is rolled back. So a row differs here exactly if a load would change it.
import { chunks, readInChunks } from '../../core/chunks.ts';
import type { Engine, LoadMetadata, Row, Transaction } from '../../warehouse/engine.ts';
import { comparedColumns, type Table } from '../../warehouse/schema/table.ts';
import type { Comparison } from '../job.ts';
import type { Batch } from './records/batch.ts';

type Stored = Record<string, unknown>;

/** Keys per statement, far below the binding limit of any engine. */
const KEYS_AT_ONCE = 200;

export async function compareBatches(
  engine: Engine,
  batches: readonly Batch[],
  store: (tx: Transaction) => Promise<unknown>,
): Promise<Comparison[]> {
  const found = new Map(batches.map(({ table }) => [table, nothingFound(table)]));
  const of = (table: Table): Comparison => found.get(table) ?? nothingFound(table);
  const changed = new Map<Table, Stored[]>();
  let isStored = false;
  const roll = async (tx: Transaction): Promise<never> => {
    await store({
      ...tx,
      async loadEncoded(table, rows, metadata) {
        const counts = await tx.loadEncoded(table, rows, metadata);
        of(table).equal += counts.unchanged;
        if (counts.inserted + counts.updated > 0) {
          const keys = batches.find((batch) => batch.table === table)?.seen() ?? [];
          changed.set(table, await changedRows(tx, table, keys, metadata));
        }
        return counts;
      },
      async markMissing(table, range, seen, metadata) {
        const marked = await tx.markMissing(table, range, seen, metadata);
        of(table).missingThere += marked;
        return marked;
      },
    });
    isStored = true;
    throw new Error('rolled back');
  };
  await engine
    .write(roll, { isLong: true, tables: batches.map(({ table }) => table.name) })
    .catch((thrown: unknown) => {
      if (!isStored) throw thrown;
    });
  // The old rows are read after the transaction: a read beside it could wait for its locks.
  for (const [table, rows] of changed) await addDifferences(of(table), engine, table, rows);
  return [...found.values()];
}

const nothingFound = ({ name }: Table): Comparison => ({
  table: name,
  equal: 0,
  differing: 0,
  missingHere: 0,
  missingThere: 0,
  columns: {},
});

/** The rows with these keys that the load has written. */
const changedRows = ({ sql }: Transaction, table: Table, keys: readonly Row[], { runId, at }: LoadMetadata) =>
  readInChunks<Row, Stored>(keys, KEYS_AT_ONCE, (some) =>
    sql(table.name)
      .whereIn([...table.key], some as never)
      .where({ _run_id: runId, _changed_at: at }),
  );

async function addDifferences(comparison: Comparison, engine: Engine, table: Table, rows: readonly Stored[]) {
  const keyOf = (row: Stored): string => JSON.stringify(table.key.map((name) => row[name]));
  const columns = comparedColumns(table).map(({ name }) => name);
  for (const some of chunks(rows, KEYS_AT_ONCE)) {
    const keys = some.map((row) => table.key.map((name) => row[name]));
    const old: Stored[] = await engine.read((sql) => sql(table.name).whereIn([...table.key], keys as never));
    const oldByKey = new Map(old.map((row) => [keyOf(row), row]));
    for (const row of some) {
      const stored = oldByKey.get(keyOf(row));
      if (stored === undefined || stored._missing_since !== null) {
        comparison.missingHere++;
        continue;
      }
      comparison.differing++;
      for (const name of columns)
        if (row[name] !== stored[name]) comparison.columns[name] = (comparison.columns[name] ?? 0) + 1;
    }
  }
}
