// Loads rows into SQLite. The statements run directly on the driver's connection: knex adds turns of the event loop between
// them, in which SQLite is idle, and does not report how many rows a statement wrote.
import { promisify } from 'node:util';
import type { Knex } from 'knex';
import { eventDaysOf, hasDayFigures, type Loaded, unionOf } from '../../control/event-days.ts';
import type { DayOf, LoadMetadata, Row, RowRange, Scalar } from '../../engine.ts';
import { type DigestedRows, digestCount, digestsOf, someDigests } from '../../load/known-rows.ts';
import { daysOf } from '../../load/local-days.ts';
import { StaleRead } from '../../load/stale-read.ts';
import { quote, rowFields, type Table } from '../../schema/table.ts';
import { countRows, rowBatches } from '../row-batches.ts';
import { decodeFractions, encodeFractions } from './numbers.ts';
import { ADD_INSERTED, batchStatements, isUnseen, presentIn, resetCounter, updateCounter } from './upsert.ts';

export interface SqliteRows extends DigestedRows<SqliteRows> {
  /** JSON of the rows, without the brackets of the list, so that the texts of several loads can be joined. */
  readonly text: string;
}

export function encodeRows(table: Table, rows: readonly Row[], dayOf: DayOf): SqliteRows {
  const reals = realPositions(table);
  const days = daysOf(table, rows, dayOf);
  const dated = days === undefined ? rows : rows.map((row, index) => [...row, days[index] ?? null]);
  const texts = encodeFractions(dated, reals).map((row) => JSON.stringify(row));
  const eventDays = days !== undefined && hasDayFigures(table) ? eventDaysOf(rows, days) : undefined;
  return encodedRows(table, texts.join(), { dayOf, eventDays, digests: digestsOf(table, rows, texts) });
}

type Encoding = Pick<SqliteRows, 'dayOf' | 'eventDays' | 'digests'>;

function encodedRows(table: Table, text: string, encoding: Encoding): SqliteRows {
  const { digests } = encoding;
  const read = (): unknown[][] => JSON.parse(`[${text}]`);
  return {
    ...encoding,
    count: digestCount(digests),
    text,
    rows: () =>
      decodeFractions(
        read().map((row) => row.slice(0, rowFields(table).length)),
        realPositions(table),
      ),
    some(positions) {
      const all = read();
      const texts = positions.map((at) => JSON.stringify(all[at]));
      return encodedRows(table, texts.join(), { ...encoding, digests: someDigests(digests, positions) });
    },
  };
}

const realPositions = (table: Table): number[] =>
  rowFields(table).flatMap(({ type }, position) => (type === 'real' ? [position] : []));

interface LoadCounter {
  updated: number;
  stale: number;
  /** The first and last day that updated rows had before, empty if there was none; and whether one changed its vehicle or has no day now. */
  first_day: string;
  last_day: string;
  is_moved: number;
}

interface Connection {
  exec(statements: string, done: (error: Error | null) => void): void;
  run(
    statement: string,
    bindings: Record<string, string>,
    done: (this: { changes: number }, error: Error | null) => void,
  ): void;
  get(statement: string, done: (error: Error | null, row: LoadCounter) => void): void;
}

/** Returns how many rows the statement inserted or updated. */
const run = (connection: Connection, statement: string, bindings: Record<string, string>): Promise<number> =>
  new Promise((resolve, reject) => {
    connection.run(statement, bindings, function (error) {
      if (error === null) resolve(this.changes);
      else reject(error);
    });
  });

const BATCH_ROWS = 12_000;

export async function load(
  sql: Knex,
  table: Table,
  encoded: readonly SqliteRows[],
  { readAt, at, runId, isRepair = false }: LoadMetadata,
): Promise<Loaded> {
  const connection: Connection = await sql.client.acquireConnection();
  try {
    // Both statements are queued at once; the driver runs them in order.
    await Promise.all([
      promisify(connection.exec).call(connection, updateCounter(table)),
      run(connection, resetCounter(table), { ':readAt': readAt }),
    ]);
    let rows = 0;
    let changed = 0;
    for (const batch of rowBatches(encoded, BATCH_ROWS)) {
      const bindings = { ':rows': `[${batch.map(({ text }) => text).join()}]`, ':at': at, ':run': runId };
      let wrote = 0;
      for (const statement of batchStatements(table)) wrote = await run(connection, statement, bindings);
      changed += wrote;
      rows += countRows(batch);
    }
    const counter = await promisify(connection.get).call(connection, 'select * from temp.load_counter');
    const { updated, stale, first_day, last_day, is_moved } = counter;
    if (stale > 0) throw new StaleRead(table.name, stale);
    const vehicles = is_moved === 1 ? undefined : new Set<Scalar>();
    const before = first_day > last_day ? undefined : { vehicles, first: first_day, last: last_day };
    const eventDays = unionOf([...encoded.map((each) => each.eventDays), before]);
    const addInserted = updated === 0 && !isRepair ? () => sql.raw(ADD_INSERTED, { at }) : undefined;
    return { inserted: changed - updated, updated, unchanged: rows - changed, eventDays, addInserted };
  } finally {
    sql.client.releaseConnection(connection);
  }
}

export async function hasPresent(sql: Knex, table: Table, range: RowRange): Promise<boolean> {
  const { condition, bindings } = presentIn(table, range);
  return (await sql.raw(`select 1 from ${quote(table.name)} where ${condition} limit 1`, bindings)).length > 0;
}

export async function countPresent(sql: Knex, table: Table, range: RowRange): Promise<number> {
  const { condition, bindings } = presentIn(table, range);
  const statement = `select count(*) as present from ${quote(table.name)} where ${condition}`;
  const [{ present }] = await sql.raw(statement, bindings);
  return present;
}

export async function markMissing(
  sql: Knex,
  table: Table,
  range: RowRange,
  seen: readonly Row[],
  { readAt, at, runId }: LoadMetadata,
): Promise<number> {
  const { condition, bindings } = presentIn(table, range);
  const missing = `${condition} and ${isUnseen(table)}`;
  const bound = { ...bindings, keys: JSON.stringify(seen), at };
  const newer = `select count(*) as newer from ${quote(table.name)}
    where _changed_at > :readAt and _changed_at <= :at and ${missing}`;
  const [found] = await sql.raw(newer, { ...bound, readAt });
  if (found.newer > 0) throw new StaleRead(table.name, found.newer);
  const mark = `update ${quote(table.name)} set _missing_since = :at, _changed_at = :at, _run_id = :run where ${missing}`;
  const named = Object.entries({ ...bound, run: runId }).map(([name, value]) => [`:${name}`, value]);
  const connection: Connection = await sql.client.acquireConnection();
  try {
    return await run(connection, mark, Object.fromEntries(named));
  } finally {
    sql.client.releaseConnection(connection);
  }
}
