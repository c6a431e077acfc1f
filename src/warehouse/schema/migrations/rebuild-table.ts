// Makes a control table anew from its declaration and copies its rows: the one way to change a key or drop a column
// that every engine has. Grants on the old table are lost, so this is not for tables that BI reads.
import type { Knex } from 'knex';
import type { Ddl } from '../../engine.ts';
import type { Table } from '../table.ts';

const quoted = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ');

/** `filled` has the SQL expression for each declared column that the old table lacks and that must not be null. */
export async function rebuildTable(
  sql: Knex,
  engine: Ddl,
  table: Table,
  filled: Readonly<Record<string, string>> = {},
): Promise<void> {
  const existing = await engine.columnsOf(sql, table.name);
  // A table that does not exist yet is made by the step after the migrations.
  if (existing === undefined) return;
  const kept = table.columns.flatMap(({ name }) => (existing.includes(name) ? [name] : []));
  const added = Object.keys(filled).filter((name) => !kept.includes(name));
  const values = [quoted(kept), ...added.map((column) => filled[column])].join(', ');
  // The rows wait in a second table and not the new table under another name: PostgreSQL would keep that name in the
  // key's constraint.
  const waiting = `"${table.name}_rows"`;
  await sql.raw(`create table ${waiting} as select * from "${table.name}"`);
  await sql.raw(`drop table "${table.name}"`);
  for (const statement of engine.createStatements(table)) await sql.raw(statement);
  await sql.raw(
    `insert into "${table.name}" (${quoted([...kept, ...added])}) select ${values} from ${waiting}`,
  );
  await sql.raw(`drop table ${waiting}`);
}
