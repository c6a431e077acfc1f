// Tables partitioned by the month of an instant, with native partitions. The transaction that loads the first row of a
// month creates its partition, so no maintenance job can fail unnoticed. There is no default partition: attaching a month
// beside one would wait for every reader. Rows without the instant have their own partition, and so have rows before the
// first and after the last year. A unique constraint over all partitions would have to contain the instant, which may
// change. The key is therefore unique within each partition, and the loader, which holds the table's lock, looks a row up
// in all of them.
import type { Scalar } from '../../engine.ts';
import { quote, recordColumns, type Table } from '../../schema/table.ts';
import { type PgConnection, runStatement } from './driver.ts';

/** Months exist between these years. Instants outside, from wrong clocks, share one partition on each side. */
const FIRST_YEAR = 2000;
const LAST_YEAR = 2099;

const startOf = (year: number, month = 1): string => new Date(Date.UTC(year, month - 1)).toISOString();

export function monthlyTable(table: Table, instant: string, columns: readonly string[]): string[] {
  const name = (part: string) => quote(`${table.name}_${part}`);
  return [
    `create table ${quote(table.name)} (${columns.join(', ')}) partition by list ((${quote(instant)} is null))`,
    `create table ${name('undated')} partition of ${quote(table.name)} for values in (true)`,
    `create table ${name('dated')} partition of ${quote(table.name)} for values in (false)
       partition by range (${quote(instant)})`,
    `create table ${name('early')} partition of ${name('dated')}
       for values from (minvalue) to ('${startOf(FIRST_YEAR)}')`,
    `create table ${name('late')} partition of ${name('dated')}
       for values from ('${startOf(LAST_YEAR + 1)}') to (maxvalue)`,
    ...['undated', 'early', 'late'].map((part) => keyIndex(table, `${table.name}_${part}`)),
  ];
}

const keyIndex = (table: Table, part: string): string =>
  `create unique index ${quote(`${part}_key`)} on ${quote(part)} (${table.key.map(quote).join(', ')})`;

async function leafPartitions(connection: PgConnection, table: Table): Promise<string[]> {
  const { rows } = await runStatement(
    connection,
    `select relname as name from pg_partition_tree(to_regclass($1)) join pg_class on pg_class.oid = relid
     where isleaf order by relname`,
    [quote(table.name)],
  );
  return (rows as { name: string }[]).map(({ name }) => name);
}

/** Position of the instant by which the table is partitioned; -1 if it has no partitions. */
export const instantPosition = (table: Table): number =>
  recordColumns(table).findIndex(({ name }) => name === table.partitionBy);

/** YYYY-MM; empty without an instant. */
export const monthOf = (instant: Scalar | undefined): string => String(instant ?? '').slice(0, 7);

/** The partition of the rows of a month; undefined if the year is out of range. */
export function partitionOf(table: Table, month: string): string | undefined {
  if (month === '') return `${table.name}_undated`;
  const year = Number(month.slice(0, 4));
  const isMade = year >= FIRST_YEAR && year <= LAST_YEAR;
  return isMade ? `${table.name}_${month.replace('-', '_')}` : undefined;
}

/** Creates the missing partitions of these months. Returns all partitions. */
export async function ensureMonths(
  connection: PgConnection,
  table: Table,
  months: ReadonlySet<string>,
): Promise<string[]> {
  const parts = await leafPartitions(connection, table);
  for (const month of months) {
    const part = partitionOf(table, month);
    if (part === undefined || parts.includes(part)) continue;
    const [year = 0, number = 0] = month.split('-').map(Number);
    const statements = [
      `create table ${quote(part)} (like ${quote(table.name)} including defaults including constraints)`,
      keyIndex(table, part),
      `alter table ${quote(`${table.name}_dated`)} attach partition ${quote(part)}
         for values from ('${startOf(year, number)}') to ('${startOf(year, number + 1)}')`,
    ];
    for (const statement of statements) await runStatement(connection, statement);
    parts.push(part);
  }
  return parts;
}
