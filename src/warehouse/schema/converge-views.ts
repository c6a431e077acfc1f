// The views of the schema. A view is made anew only where its text has changed or its columns are gone, so a start does
// not disturb readers; all of them give way to a migration, which may touch the tables under them.
import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
import type { Engine } from '../engine.ts';
import { schemaView } from '../tables/schema-view.ts';
import { viewQuery } from './view.ts';
import { views } from './view-catalog.ts';

/** Brings the views to their declarations; those that are declared no more are dropped. */
export async function convergeViews(engine: Engine, sql: Knex): Promise<void> {
  const made = await madeViews(engine, sql);
  for (const name of made.keys()) {
    if (!views.some((view) => view.name === name)) await dropView(sql, name);
  }
  for (const view of views) {
    const query = viewQuery(view, engine.dialect);
    const hash = createHash('sha256').update(query).digest('hex');
    const columns = await engine.columnsOf(sql, view.name);
    const isWhole = view.columns.every(({ name }, place) => columns?.[place] === name);
    if (isWhole && made.get(view.name) === hash) continue;
    await engine.replaceView(sql, view.name, query);
    await sql(schemaView.name).insert({ name: view.name, hash }).onConflict('name').merge();
  }
}

/** Drops the views, so that a migration may change what they read. */
export async function dropViews(engine: Engine, sql: Knex): Promise<void> {
  for (const name of (await madeViews(engine, sql)).keys()) await dropView(sql, name);
}

/** The views that were made, with the digests of their queries; none before the first start that made any. */
async function madeViews(engine: Engine, sql: Knex): Promise<Map<string, string>> {
  if ((await engine.columnsOf(sql, schemaView.name)) === undefined) return new Map();
  const rows: { name: string; hash: string }[] = await sql(schemaView.name).select('name', 'hash');
  return new Map(rows.map(({ name, hash }) => [name, hash]));
}

async function dropView(sql: Knex, name: string): Promise<void> {
  await sql.raw(`drop view if exists "${name}"`);
  await sql(schemaView.name).where({ name }).delete();
}
