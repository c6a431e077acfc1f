// Recreates a control table from its declaration and copies its rows: the only way to change a key or drop a column that
// every engine supports. Grants on the old table are lost, so do not use this for tables that BI reads.
import type { Knex } from 'knex';
import type { Ddl } from '../../engine.ts';
import { quote, type Table } from '../table.ts';

const quoted = (names: readonly string[]): string => names.map(quote).join(', ');

/** `filled` has an SQL expression for each required column that the old table lacks. */
export async function rebuildTable(
  sql: Knex,
  engine: Ddl,
  table: Table,
  filled: Readonly<Record<string, string>> = {},
): Promise<void> {
  const existing = await engine.columnsOf(sql, table.name);
  // A table that does not exist yet is created after the migrations.
  if (existing === undefined) return;
  const kept = table.columns.flatMap(({ name }) => (existing.includes(name) ? [name] : []));
  const added = Object.keys(filled).filter((name) => !kept.includes(name));
  const values = [quoted(kept), ...added.map((column) => filled[column])].join(', ');
  // The rows are copied aside and back. Creating the new table under another name and renaming it would leave that name
  // in PostgreSQL's key constraint.
  const waiting = `"${table.name}_rows"`;
  await sql.raw(`create table ${waiting} as select * from "${table.name}"`);
  await sql.raw(`drop table "${table.name}"`);
  for (const statement of engine.createStatements(table)) await sql.raw(statement);
  await sql.raw(`insert into "${table.name}" (${quoted([...kept, ...added])}) select ${values} from ${waiting}`);
  await sql.raw(`drop table ${waiting}`);
}
