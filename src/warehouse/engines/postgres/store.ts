// Writes rows of a control table: a few as one JSON text, many by COPY, because the server takes JSON apart slowly.
import type { Knex } from 'knex';
import { chunks } from '../../../core/chunks.ts';
import { storable } from '../../../core/text/storable-text.ts';
import type { Row, StoreOptions } from '../../engine.ts';
import { quote, type Table } from '../../schema/table.ts';
import { rowsText, storeStatement } from '../store-statement.ts';
import { copyIn, copyLine } from './copy.ts';
import type { PgConnection } from './driver.ts';

const MANY = 2_000;
/** The server stores some lines while the next ones are made. */
const LINES_AT_ONCE = 500;

interface Place {
  sql: Knex;
  /** That of the transaction `sql`. */
  connection: PgConnection;
}

export async function storeRows<R extends object>(
  { sql, connection }: Place,
  table: Table,
  rows: readonly R[],
  options: StoreOptions | undefined,
): Promise<R[]> {
  if (rows.length < MANY)
    return (await sql.raw(storeStatement(table, fromJson(table), options), [rowsText(rows)])).rows;
  const lines = () => linesOf(table, rows);
  if (options?.where === undefined && (await copyNew({ sql, connection }, table, lines()))) return [];
  const stage = `pg_temp.${quote(`stored_${table.name}`)}`;
  await sql.raw(`create temp table if not exists ${stage} (like ${quote(table.name)}) on commit delete rows`);
  await sql.raw(`truncate ${stage}`);
  await copyIn(connection, copyTo(stage, table), lines());
  return (await sql.raw(storeStatement(table, `select ${namesOf(table)} from ${stage}`, options))).rows;
}

/** Straight into the table, which is the quickest; false if it has a row already. */
async function copyNew({ sql, connection }: Place, table: Table, lines: Iterable<string>): Promise<boolean> {
  await sql.raw('savepoint before_copy');
  try {
    await copyIn(connection, copyTo(quote(table.name), table), lines);
    return true;
  } catch (error) {
    if ((error as { code?: string }).code !== UNIQUE_VIOLATION) throw error;
    await sql.raw('rollback to savepoint before_copy');
    return false;
  }
}

const UNIQUE_VIOLATION = '23505';

const namesOf = (table: Table): string => table.columns.map(({ name }) => quote(name)).join(', ');

const copyTo = (place: string, table: Table): string => `copy ${place} (${namesOf(table)}) from stdin`;

/** JSON is bound as text, so that it is stored unchanged. */
function fromJson(table: Table): string {
  const values = table.columns.map(({ name, type }) =>
    type === 'json' ? `(${quote(name)} #>> '{}')::json` : quote(name),
  );
  return `select ${values.join(', ')} from json_populate_recordset(null::${quote(table.name)}, ?)`;
}

function* linesOf(table: Table, rows: readonly object[]): Generator<string> {
  for (const some of chunks(rows, LINES_AT_ONCE)) yield storable(some.map((row) => lineOf(table, row)).join(''));
}

function lineOf(table: Table, row: object): string {
  const fields = row as Record<string, unknown>;
  return `${copyLine(table.columns.map(({ name }) => fields[name] ?? null) as Row)}\n`;
}
