// Brings the database to the declared schema, in one transaction: a kill at any statement leaves the old
// schema whole, and the next start does it again. Ordered migrations move what exists; then every declared
// table, column and index that is still absent is added, and the views are made. No table is ever dropped here.
import type { Knex } from 'knex';
import { Fatal } from '../core/errors.ts';
import { tables } from './catalog.ts';
import type { Engine } from './engine.ts';
import { lookups } from './lookups.ts';
import { type Migration, migrations } from './migrations.ts';
import { convergeViews, dropViews } from './schema-views.ts';
import type { Column, Table } from './table.ts';

const VERSION_TABLE = 'schema_version';
const quote = (name: string): string => `"${name}"`;

export async function bringSchemaUpToDate(
  engine: Engine,
  steps: readonly Migration[] = migrations,
): Promise<void> {
  await engine.write(async ({ sql }) => {
    const done = await appliedMigrations(engine, sql);
    if (done !== undefined) refuseNewer(done, steps);
    if (steps.some(({ name }) => done?.has(name) === false)) await dropViews(engine, sql);
    for (const step of steps) {
      if (done?.has(step.name) === true) continue;
      // A new database is created at the newest schema, so there is nothing for a migration to move.
      if (done !== undefined) await step.up(sql);
      await sql.raw(`insert into ${VERSION_TABLE} (name) values (?)`, [step.name]);
    }
    for (const table of tables) await converge(engine, sql, table);
    for (const { table, rows } of lookups)
      await sql(table.name)
        .insert(rows)
        .onConflict([...table.key])
        .merge();
    await convergeViews(engine, sql);
  });
}

/** Names of the migrations that were applied; undefined for a new database. */
async function appliedMigrations(engine: Engine, sql: Knex): Promise<Set<string> | undefined> {
  if ((await engine.columnsOf(sql, VERSION_TABLE)) === undefined) {
    await sql.raw(`create table ${VERSION_TABLE} (name ${engine.types.text} primary key)`);
    return undefined;
  }
  return new Set((await sql(VERSION_TABLE).select('name')).map(({ name }) => name as string));
}

function refuseNewer(done: Set<string>, steps: readonly Migration[]): void {
  const known = new Set(steps.map(({ name }) => name));
  const foreign = [...done].find((name) => !known.has(name));
  if (foreign === undefined) return;
  throw new Fatal(`The warehouse was made by a newer Roadbook (it knows the migration ${foreign})`, {
    code: 'warehouse_newer',
    hint: 'Use that version, or restore a backup from before the upgrade.',
  });
}

async function converge(engine: Engine, sql: Knex, table: Table): Promise<void> {
  const existing = await engine.columnsOf(sql, table.name);
  if (existing === undefined) {
    const key = `primary key (${table.key.map(quote).join(', ')})`;
    const columns = table.columns.map((column) => columnDefinition(engine, column));
    await sql.raw(
      `create table ${quote(table.name)} (${[...columns, key].join(', ')}) ${engine.tableSuffix(table)}`,
    );
  } else {
    for (const column of table.columns.filter(({ name }) => !existing.includes(name))) {
      // Rows that are already there have no value for it, so a later column is never required.
      const definition = columnDefinition(engine, { ...column, required: false });
      await sql.raw(`alter table ${quote(table.name)} add column ${definition}`);
    }
  }
  for (const columns of table.indexes) {
    const name = quote(`idx_${table.name}_${columns.join('_')}`);
    await sql.raw(
      `create index if not exists ${name} on ${quote(table.name)} (${columns.map(quote).join(', ')})`,
    );
  }
}

const columnDefinition = (engine: Engine, { name, type, required }: Column): string =>
  `${quote(name)} ${engine.types[type]}${required ? ' not null' : ''}`;
