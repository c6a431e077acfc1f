// A table kept by the month of an instant, with native partitions. A month's part is made in the transaction that
// loads its first row, so there is no maintenance that could fail unseen, and no default part: attaching a month
// beside one would wait for every reader. Rows without the instant have a part of their own, and so has each end of
// time. A unique constraint over all parts would have to contain the instant, which may change: the key is unique
// within each part, and the loader, which is alone in its transaction, looks a row up in all of them.
import type { Row } from '../../engine.ts';
import { recordColumns, type Table } from '../../schema/table.ts';
import type { PgConnection } from './driver.ts';
import { quote, runStatement } from './statement.ts';

/** Months are made between these; a clock that is wrong by more shares one part. */
const FIRST_YEAR = 2000;
const LAST_YEAR = 2099;

const startOf = (year: number, month = 1): string => new Date(Date.UTC(year, month - 1)).toISOString();

/** The statements that make the table and its fixed parts. */
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

/** The parts that hold rows, by name. */
export async function partsOf(connection: PgConnection, table: Table): Promise<string[]> {
  const { rows } = await runStatement(
    connection,
    `select relname as name from pg_partition_tree(to_regclass($1)) join pg_class on pg_class.oid = relid
     where isleaf order by relname`,
    [quote(table.name)],
  );
  return (rows as { name: string }[]).map(({ name }) => name);
}

const positionOf = (table: Table, instant: string): number =>
  recordColumns(table).findIndex(({ name }) => name === instant);

/** The name of the part that a row belongs to, by its month or for want of one; nothing for the ends of time. */
export function partitionFinder(table: Table, instant: string): (row: Row) => string | undefined {
  const position = positionOf(table, instant);
  return (row) => {
    const value = row[position] ?? null;
    return value === null ? `${table.name}_undated` : monthPart(table, String(value).slice(0, 7));
  };
}

function monthPart(table: Table, month: string): string | undefined {
  const year = Number(month.slice(0, 4));
  const isMade = year >= FIRST_YEAR && year <= LAST_YEAR;
  return isMade ? `${table.name}_${month.replace('-', '_')}` : undefined;
}

/** Makes the months of `rows` that are not there yet; gives all parts. */
export async function ensureMonths(
  connection: PgConnection,
  table: Table,
  instant: string,
  rows: readonly { row: Row }[],
): Promise<string[]> {
  const position = positionOf(table, instant);
  const months = new Set(rows.map(({ row }) => String(row[position] ?? '').slice(0, 7)));
  const parts = await partsOf(connection, table);
  for (const month of months) {
    const part = monthPart(table, month);
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
