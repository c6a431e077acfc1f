// Creates the declared tables and views in SQLite. Tables are strict, so that a column holds only its type.
import type { Ddl } from '../../engine.ts';
import type { Dialect } from '../../schema/dialect.ts';
import { type Column, type ColumnType, constraintOf, quote } from '../../schema/table.ts';

const TYPES: Readonly<Record<ColumnType, string>> = {
  integer: 'integer',
  real: 'real',
  text: 'text',
  boolean: 'integer',
  instant: 'text',
  date: 'text',
  json: 'text',
};

const shifted = (format: string, at: string, seconds: string): string =>
  `strftime('${format}', ${at}, (${seconds}) || ' seconds')`;

/** Instants, local times and days are all text. */
const dialect: Dialect = {
  now: `strftime('%Y-%m-%dT%H:%M:%fZ', 'now')`,
  secondsBetween: (from, to) => `(unixepoch(${to}) - unixepoch(${from}))`,
  addSeconds: (at, seconds) => shifted('%Y-%m-%dT%H:%M:%fZ', at, seconds),
  localTime: (at, offset) => shifted('%Y-%m-%d %H:%M:%S', at, offset),
  localDay: (at, offset) => shifted('%Y-%m-%d', at, offset),
  localHour: (at, offset) => `cast(${shifted('%H', at, offset)} as integer)`,
  roundedToCents: (amount) => `round(${amount}, 2)`,
};

const columnDefinition = (column: Column): string =>
  `${quote(column.name)} ${TYPES[column.type]}${constraintOf(column)}`;

export const sqliteDdl: Ddl = {
  dialect,
  prepareSchema: async () => undefined,
  columnDefinition,
  createStatements({ name, columns, key }) {
    const parts = [...columns.map(columnDefinition), `primary key (${key.map(quote).join(', ')})`];
    // Not `without rowid`: rows are appended and only the small key index has inserts, which loads a third faster.
    return [`create table ${quote(name)} (${parts.join(', ')}) strict`];
  },
  async replaceView(sql, name, query) {
    await sql.raw(`drop view if exists ${quote(name)}`);
    await sql.raw(`create view ${quote(name)} as ${query}`);
  },
  async columnsOf(sql, table) {
    const rows: { name: string }[] = await sql.raw('select name from pragma_table_info(?)', [table]);
    return rows.length === 0 ? undefined : rows.map(({ name }) => name);
  },
  async indexesOf(sql, table) {
    const rows: { name: string }[] = await sql.raw('select name from pragma_index_list(?)', [table]);
    return rows.map(({ name }) => name);
  },
  finishSchema: async () => undefined,
};
