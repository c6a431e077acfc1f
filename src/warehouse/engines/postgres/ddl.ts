// Creates the declared tables and views in PostgreSQL, in the configured schema, with a comment on every table and column.
import type { Knex } from 'knex';
import type { Ddl } from '../../engine.ts';
import { mayBiRead } from '../../schema/bi-access.ts';
import type { Dialect } from '../../schema/dialect.ts';
import { type Column, type ColumnType, constraintOf, quote, type Table } from '../../schema/table.ts';
import type { View } from '../../schema/view.ts';
import { monthlyTable } from './months.ts';

/**
 * Text sorts by code points, as in SQLite: keys have the same order everywhere, and an upgrade of the server's locale
 * cannot corrupt an index.
 */
const TYPES: Readonly<Record<ColumnType, string>> = {
  integer: 'bigint',
  real: 'double precision',
  text: 'text collate "C"',
  boolean: 'boolean',
  instant: 'timestamptz',
  date: 'date',
  json: 'jsonb',
};

const later = (at: string, seconds: string): string => `(${at} + (${seconds}) * interval '1 second')`;
const wall = (at: string, offset: string): string => later(`(${at} at time zone 'UTC')`, offset);
const epoch = (at: string): string => `floor(extract(epoch from ${at}))`;

/** No expression depends on the time zone of the session. */
export const dialect: Dialect = {
  now: 'now()',
  secondsBetween: (from, to) => `cast(${epoch(to)} - ${epoch(from)} as bigint)`,
  addSeconds: later,
  localTime: (at, offset) => `date_trunc('second', ${wall(at, offset)})`,
  localDay: (at, offset) => `cast(${wall(at, offset)} as date)`,
  localHour: (at, offset) => `cast(extract(hour from ${wall(at, offset)}) as bigint)`,
  roundedToCents: (amount) => `cast(round(cast(${amount} as numeric), 2) as double precision)`,
};

/** Control tables store JSON unchanged: a quarantined record may contain what jsonb rejects. */
export const typeOf = ({ type }: Pick<Column, 'type'>, { kind }: Table): string =>
  type === 'json' && kind === 'control' ? 'json' : TYPES[type];

const columnDefinition = (column: Column, table: Table): string =>
  `${quote(column.name)} ${typeOf(column, table)}${constraintOf(column)}`;

export const hasSchema = async (sql: Knex, schema: string): Promise<boolean> =>
  (await sql.raw('select 1 from pg_namespace where nspname = ?', [schema])).rows.length > 0;

export const postgresDdl = (schema: string): Ddl => ({
  dialect,
  async prepareSchema(sql) {
    // Checked first: a user that may not create schemas can still use an existing one.
    if (!(await hasSchema(sql, schema))) await sql.raw(`create schema ${quote(schema)}`);
  },
  columnDefinition,
  createStatements(table) {
    const columns = table.columns.map((column) => columnDefinition(column, table));
    if (table.partitionBy !== null) return monthlyTable(table, table.partitionBy, columns);
    const key = `primary key (${table.key.map(quote).join(', ')})`;
    return [`create table ${quote(table.name)} (${[...columns, key].join(', ')})`];
  },
  replaceView,
  async columnsOf(sql, table) {
    const { rows } = await sql.raw(
      `select attname as name from pg_attribute
       where attrelid = to_regclass(?) and attnum > 0 and not attisdropped order by attnum`,
      [quote(table)],
    );
    return rows.length === 0 ? undefined : rows.map(({ name }: { name: string }) => name);
  },
  async indexesOf(sql, table) {
    const { rows } = await sql.raw(
      `select relname as name from pg_index join pg_class on pg_class.oid = indexrelid
       where indrelid = to_regclass(?)`,
      [quote(table)],
    );
    return rows.map(({ name }: { name: string }) => name);
  },
  async finishSchema(sql, declared) {
    const present = await comments(sql, schema);
    const statements = declared.flatMap(wantedComments).filter(({ at, text }) => present.get(at) !== text);
    if (statements.length > 0) await sql.raw(statements.map(commentStatement).join('; '));
    await grantToBi(sql, schema, declared);
  },
});

/** PostgreSQL's error code if a view's existing columns would change: `create or replace` can only append columns. */
const OTHER_COLUMNS = '42P16';

/** Replaces the view in place if its columns allow, so that grants and dependent views survive. */
async function replaceView(sql: Knex, name: string, query: string): Promise<void> {
  await sql.raw('savepoint replace_view');
  try {
    await sql.raw(`create or replace view ${quote(name)} as ${query}`);
  } catch (thrown) {
    if ((thrown as { code?: unknown }).code !== OTHER_COLUMNS) throw thrown;
    await sql.raw('rollback to savepoint replace_view');
    await sql.raw(`drop view ${quote(name)}`);
    await sql.raw(`create view ${quote(name)} as ${query}`);
  }
  await sql.raw('release savepoint replace_view');
}

/** The role that deploy/postgres-roles.sql makes for BI. */
const BI_ROLE = 'roadbook_bi';

/** Opens new tables and views to BI, if its role exists: a view whose columns changed was made anew, without grants. */
async function grantToBi(sql: Knex, schema: string, declared: readonly (Table | View)[]): Promise<void> {
  const names = declared.filter(mayBiRead).map(({ name }) => name);
  const { rows } = await sql.raw(
    `select relname as name from pg_class, pg_roles where rolname = ? and relnamespace = to_regnamespace(?)
     and relname = any(?) and has_schema_privilege(rolname, relnamespace, 'usage')
     and not has_table_privilege(rolname, pg_class.oid, 'select')`,
    [BI_ROLE, schema, names],
  );
  for (const { name } of rows) await sql.raw(`grant select on ${quote(name)} to ${BI_ROLE}`);
}

interface Comment {
  on: string;
  /** `table` or `table.column`. */
  at: string;
  text: string;
}

const wantedComments = ({ name, kind, meaning, columns }: Table | View): Comment[] => [
  { on: `${kind === 'view' ? 'view' : 'table'} ${quote(name)}`, at: name, text: meaning },
  ...columns.map((column) => ({
    on: `column ${quote(name)}.${quote(column.name)}`,
    at: `${name}.${column.name}`,
    text: column.personal ? `${column.meaning} Personal data.` : column.meaning,
  })),
];

/** Escapes question marks for the query builder. */
const commentStatement = ({ on, text }: Comment): string =>
  `comment on ${on} is '${text.replaceAll("'", "''").replaceAll('?', '\\\\?')}'`;

/** By `table` and `table.column`. */
async function comments(sql: Knex, schema: string): Promise<Map<string, string>> {
  const { rows } = await sql.raw(
    `select concat_ws('.', relname, attname) as at, description as text
     from pg_description join pg_class on pg_class.oid = objoid and classoid = 'pg_class'::regclass
     left join pg_attribute on attrelid = objoid and attnum = objsubid and objsubid > 0
     where relnamespace = (select oid from pg_namespace where nspname = ?)`,
    [schema],
  );
  return new Map(rows.map(({ at, text }: { at: string; text: string }) => [at, text]));
}
