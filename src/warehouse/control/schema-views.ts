// The views that exist, with the digest of each query, so that a start replaces only views that have changed.
import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
import type { Engine } from '../engine.ts';
import { controlTable, text } from '../schema/table.ts';
import { type View, viewQuery } from '../schema/view.ts';

export const schemaView = controlTable({
  name: 'schema_view',
  meaning: 'The views that exist, with the digest of their queries.',
  key: ['name'],
  columns: {
    name: text('Name of the view.'),
    hash: text('Digest of the query of the view.', { required: true }),
  },
});

const TABLE = schemaView.name;

/** Creates or replaces views that differ from their declarations. Drops views that are no longer declared. */
export async function convergeViews(engine: Engine, sql: Knex, views: readonly View[]): Promise<void> {
  const existing = await existingViews(engine, sql);
  for (const name of existing.keys()) {
    if (!views.some((view) => view.name === name)) await dropView(sql, name);
  }
  for (const view of views) {
    const query = viewQuery(view, engine.dialect);
    const hash = createHash('sha256').update(query).digest('hex');
    const columns = await engine.columnsOf(sql, view.name);
    const hasColumns = view.columns.every(({ name }, place) => columns?.[place] === name);
    if (hasColumns && existing.get(view.name) === hash) continue;
    await engine.replaceView(sql, view.name, query);
    await sql(TABLE).insert({ name: view.name, hash }).onConflict('name').merge();
  }
}

/** Drops all views: a migration may change the tables under them. */
export async function dropViews(engine: Engine, sql: Knex): Promise<void> {
  for (const name of (await existingViews(engine, sql)).keys()) await dropView(sql, name);
}

/** The views that exist, with the digests of their queries. Empty before the first start. */
async function existingViews(engine: Engine, sql: Knex): Promise<Map<string, string>> {
  if ((await engine.columnsOf(sql, TABLE)) === undefined) return new Map();
  const rows: { name: string; hash: string }[] = await sql(TABLE).select('name', 'hash');
  return new Map(rows.map(({ name, hash }) => [name, hash]));
}

async function dropView(sql: Knex, name: string): Promise<void> {
  await sql.raw(`drop view if exists "${name}"`);
  await sql(TABLE).where({ name }).delete();
}
