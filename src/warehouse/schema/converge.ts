// Brings the database to the declared schema in one transaction: a kill at any statement leaves the old schema intact,
// and the next start repeats the upgrade. Ordered migrations change existing tables. Then every declared table, column and
// index that is absent is added, and the views are created. This step never drops a table. An index that only queries use
// is created once its table has rows.
import type { Knex } from 'knex';
import { Fatal } from '../../core/errors.ts';
import { convergeViews, dropViews } from '../control/schema-views.ts';
import type { Engine } from '../engine.ts';
import { tables } from './catalog.ts';
import { lookups } from './lookups.ts';
import type { Migration } from './migrations/migration.ts';
import { migrations } from './migrations.ts';
import { controlTable, type Index, quote, type Table, text } from './table.ts';
import { views } from './view-catalog.ts';

const version = controlTable({
  name: 'schema_version',
  meaning: 'Migrations that were applied to this schema.',
  key: ['name'],
  columns: { name: text('Name of the migration.') },
});

export async function bringSchemaUpToDate(engine: Engine, steps: readonly Migration[] = migrations): Promise<void> {
  await engine.write(async ({ sql }) => {
    await engine.prepareSchema(sql);
    const done = await appliedMigrations(engine, sql);
    if (done !== undefined) rejectNewer(done, steps);
    if (steps.some(({ name }) => done?.has(name) === false)) await dropViews(engine, sql);
    for (const step of steps) {
      if (done?.has(step.name) === true) continue;
      // A new database is created with the newest schema, so its migrations only have to be recorded.
      if (done !== undefined) await step.up(sql, engine);
      await sql(version.name).insert({ name: step.name });
    }
    for (const table of tables) await converge(engine, sql, table);
    for (const { table, rows } of lookups)
      await sql(table.name)
        .insert(rows)
        .onConflict([...table.key])
        .merge()
        .whereRaw(`${quote(table.name)}.name is distinct from excluded.name`);
    await convergeViews(engine, sql, views);
    await engine.finishSchema(sql, [version, ...tables, ...views]);
  });
}

/** Names of the migrations that were applied; undefined for a new database. */
async function appliedMigrations(engine: Engine, sql: Knex): Promise<Set<string> | undefined> {
  if ((await engine.columnsOf(sql, version.name)) === undefined) {
    for (const statement of engine.createStatements(version)) await sql.raw(statement);
    return undefined;
  }
  return new Set((await sql(version.name).select('name')).map(({ name }) => name as string));
}

function rejectNewer(done: Set<string>, steps: readonly Migration[]): void {
  const known = new Set(steps.map(({ name }) => name));
  const unknown = [...done].find((name) => !known.has(name));
  if (unknown === undefined) return;
  throw new Fatal(`A newer version of Roadbook upgraded the warehouse (it has the migration ${unknown})`, {
    code: 'warehouse_newer',
    hint: 'Use that version, or restore a backup from before the upgrade.',
  });
}

async function converge(engine: Engine, sql: Knex, table: Table): Promise<void> {
  const existing = await engine.columnsOf(sql, table.name);
  if (existing === undefined) {
    for (const statement of engine.createStatements(table)) await sql.raw(statement);
  } else {
    for (const column of table.columns.filter(({ name }) => !existing.includes(name))) {
      // Existing rows have no value for a new column, so the column cannot be required.
      const definition = engine.columnDefinition({ ...column, required: false }, table);
      await sql.raw(`alter table ${quote(table.name)} add column ${definition}`);
    }
  }
  for (const index of await dueIndexes(engine, sql, table)) await createIndex(sql, table, index);
}

/**
 * Creates the indexes that waited for the first rows of their tables. Called at the end of each run. If a process dies
 * before that, the next start creates them.
 */
export async function createLateIndexes(engine: Engine, tables: readonly Table[]): Promise<void> {
  for (const table of tables.filter(({ indexes }) => indexes.some(({ afterFirstFill }) => afterFirstFill))) {
    // Checked in a read first: after nearly every run there is nothing to create.
    for (const index of await engine.read((sql) => dueIndexes(engine, sql, table))) {
      // One transaction per index, so that heartbeats wait for one index at most.
      await engine.write(
        async ({ sql }) => {
          // Another process may have created the index meanwhile.
          if ((await dueIndexes(engine, sql, table)).includes(index)) await createIndex(sql, table, index);
        },
        { isLong: true, tables: [table.name] },
      );
    }
  }
}

/** The declared indexes that are absent and due. */
async function dueIndexes(engine: Engine, sql: Knex, table: Table): Promise<Index[]> {
  // Checked first: `create index if not exists` would wait for writers of the table even if the index exists.
  const present = await engine.indexesOf(sql, table.name);
  const absent = table.indexes.filter((index) => !present.includes(indexName(table, index)));
  if (!absent.some(({ afterFirstFill }) => afterFirstFill)) return absent;
  const hasRows = (await sql(table.name).first([...table.key])) !== undefined;
  return hasRows ? absent : absent.filter(({ afterFirstFill }) => !afterFirstFill);
}

const indexName = ({ name }: Table, { columns, where }: Index): string =>
  `idx_${name}_${columns.join('_')}${where === undefined ? '' : '_some'}`;

async function createIndex(sql: Knex, table: Table, index: Index): Promise<void> {
  const columns = index.columns.map(quote).join(', ');
  const rows = index.where === undefined ? '' : ` where ${index.where}`;
  await sql.raw(`create index ${quote(indexName(table, index))} on ${quote(table.name)} (${columns})${rows}`);
}
