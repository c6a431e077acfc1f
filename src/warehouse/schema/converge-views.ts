// The views of the schema. A view is replaced only if its query has changed or its columns are gone, so that a start does
// not disturb readers. A migration drops all views first, because it may change the tables under them.
import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
import type { Engine } from '../engine.ts';
import { schemaView } from '../tables/schema-view.ts';
import { viewQuery } from './view.ts';
import { views } from './view-catalog.ts';

/** Creates or replaces views that differ from their declarations. Drops views that are no longer declared. */
export async function convergeViews(engine: Engine, sql: Knex): Promise<void> {
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
    await sql(schemaView.name).insert({ name: view.name, hash }).onConflict('name').merge();
  }
}

export async function dropViews(engine: Engine, sql: Knex): Promise<void> {
  for (const name of (await existingViews(engine, sql)).keys()) await dropView(sql, name);
}

/** The views that exist, with the digests of their queries. Empty before the first start. */
async function existingViews(engine: Engine, sql: Knex): Promise<Map<string, string>> {
  if ((await engine.columnsOf(sql, schemaView.name)) === undefined) return new Map();
  const rows: { name: string; hash: string }[] = await sql(schemaView.name).select('name', 'hash');
  return new Map(rows.map(({ name, hash }) => [name, hash]));
}

async function dropView(sql: Knex, name: string): Promise<void> {
  await sql.raw(`drop view if exists "${name}"`);
  await sql(schemaView.name).where({ name }).delete();
}
