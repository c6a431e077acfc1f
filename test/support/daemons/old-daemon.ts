// The statements of a daemon of an older release on a warehouse, by the names that it knows: the tables, columns and views of
// its schema are noted down before the upgrade, and used afterwards as its statements would use them.
import type { Knex } from 'knex';
import type { Engine } from '../../../src/warehouse/engine.ts';
import { rowsOf } from '../warehouse/engines.ts';

interface KnownColumn {
  name: string;
  /** As the engine calls it. */
  type: string;
}

export interface KnownTable {
  name: string;
  isView: boolean;
  columns: KnownColumn[];
  key: string[];
}

/** All that the schema holds at present but the list of its changes; nobody names parts of a partitioned table. */
export async function knownTables(engine: Engine): Promise<KnownTable[]> {
  const all = await engine.read((sql) => (engine.name === 'sqlite' ? sqliteTables(sql) : postgresTables(sql)));
  return all.filter(({ name }) => name !== 'schema_version');
}

async function sqliteTables(sql: Knex): Promise<KnownTable[]> {
  const found = await rowsOf<{ name: string; kind: string }>(
    sql,
    `select name, type as kind from sqlite_schema where type in ('table', 'view') and name not like 'sqlite_%' order by name`,
  );
  return Promise.all(
    found.map(async ({ name, kind }) => {
      const columns = await rowsOf<KnownColumn & { pk: number }>(
        sql,
        `select name, type, pk from pragma_table_info('${name}')`,
      );
      const key = columns.filter(({ pk }) => pk > 0).map((column) => column.name);
      return { name, isView: kind === 'view', columns, key };
    }),
  );
}

async function postgresTables(sql: Knex): Promise<KnownTable[]> {
  const found = await rowsOf<{ name: string; kind: string; key: string | null }>(
    sql,
    `select relname as name, relkind as kind,
       (select string_agg(attname, ',' order by attnum) from pg_index join pg_attribute on attrelid = indrelid and attnum = any(indkey)
        where indrelid = pg_class.oid and indisprimary) as key
     from pg_class where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'v') and not relispartition
     order by relname`,
  );
  return Promise.all(
    found.map(async ({ name, kind, key }) => ({
      name,
      isView: kind === 'v',
      key: key?.split(',') ?? [],
      columns: await rowsOf<KnownColumn>(
        sql,
        `select attname as name, format_type(atttypid, null) as type from pg_attribute
         where attrelid = to_regclass('"${name}"') and attnum > 0 and not attisdropped order by attnum`,
      ),
    })),
  );
}

/** A row in every table, as the release would write it. */
export async function plantRows(engine: Engine, tables: readonly KnownTable[]): Promise<void> {
  await engine.write(async ({ sql }) => {
    for (const table of tables.filter(({ isView }) => !isView)) await sql.raw(insertOf(table));
  });
}

/** The planted rows by table, in the columns that the release knows. */
export async function plantedRows(engine: Engine, tables: readonly KnownTable[]): Promise<Record<string, unknown>> {
  const rows = tables
    .filter(({ isView }) => !isView)
    .map(async (table): Promise<[string, unknown]> => {
      const select = `${selectOf(table)} where ${matchOf(table)}`;
      return [table.name, await engine.read((sql) => rowsOf(sql, select)).catch((error) => error.message)];
    });
  return Object.fromEntries(await Promise.all(rows));
}

/** The old statements that no longer work, in words; empty where an old daemon goes on unharmed. */
export async function oldDaemonFaults(engine: Engine, tables: readonly KnownTable[]): Promise<string[]> {
  const faults: string[] = [];
  for (const table of tables) {
    for (const [what, statement] of statementsOf(table)) {
      const failure = await engine
        .write(async ({ sql }) => {
          await sql.raw(statement);
        })
        .then(
          () => undefined,
          (error: Error) => error.message,
        );
      if (failure !== undefined) faults.push(`${what} ${table.name}: ${failure}`);
    }
  }
  return faults;
}

const quoted = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ');

const namesOf = ({ columns }: KnownTable): string => quoted(columns.map(({ name }) => name));

/** With the table's name: SQLite takes a quoted name that it does not know for a text. */
const selectOf = ({ name, columns }: KnownTable): string =>
  `select ${columns.map((column) => `"${name}"."${column.name}"`).join(', ')} from "${name}"`;

const matchOf = ({ columns }: KnownTable): string =>
  columns
    .slice(0, 1)
    .map((column) => `"${column.name}" = ${sampleOf(column)}`)
    .join();

function insertOf(table: KnownTable): string {
  const first = table.columns[0]?.name;
  const conflict =
    table.key.length === 0 ? '' : ` on conflict (${quoted(table.key)}) do update set "${first}" = excluded."${first}"`;
  return `insert into "${table.name}" (${namesOf(table)}) values (${table.columns.map(sampleOf).join(', ')})${conflict}`;
}

function statementsOf(table: KnownTable): [string, string][] {
  const read: [string, string] = ['read', `${selectOf(table)} limit 1`];
  if (table.isView) return [read];
  const changes = table.columns.map((column) => `"${column.name}" = ${sampleOf(column)}`);
  return [
    read,
    ['delete from', `delete from "${table.name}" where ${matchOf(table)}`],
    ['insert into', insertOf(table)],
    ['update', `update "${table.name}" set ${changes.join(', ')} where ${matchOf(table)}`],
  ];
}

/** Something that the type takes, the same each time; before 2000, where months have a part of their own. */
function sampleOf({ type }: KnownColumn): string {
  const word = type.toLowerCase();
  if (word.startsWith('timestamp')) return `'1999-01-01T00:00:00.000Z'`;
  if (word === 'date') return `'1999-01-01'`;
  if (word.startsWith('json')) return `'{}'`;
  if (word === 'boolean') return 'true';
  if (/int|double|real/.test(word)) return '7';
  return `'x'`;
}
