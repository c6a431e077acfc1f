// The rows of a query, one after another, in bounded memory. Most drivers stream. That of SQLite gives a whole
// result at once: there the result is laid into a temporary table first, which is read by the page. So the ERP's own
// tables are locked no longer than the query itself takes.
import type { Knex } from 'knex';

export type SqlRow = Record<string, unknown>;

/** Clients whose driver gives a result whole. */
const WHOLE: readonly string[] = ['sqlite3', 'better-sqlite3'];
const PAGE = 1_000;

export function sqlRows(database: Knex, client: string, query: string): AsyncIterable<SqlRow> {
  // Oracle takes no semicolon at the end.
  const statement = query.replace(/;\s*$/, '');
  return WHOLE.includes(client)
    ? laidOutRows(database, statement)
    : (database.raw(statement).stream() as AsyncIterable<SqlRow>);
}

async function* laidOutRows(database: Knex, statement: string): AsyncGenerator<SqlRow> {
  // A temporary table is seen by its own connection alone.
  const connection = await database.client.acquireConnection();
  const run = (text: string): Promise<SqlRow[]> => database.raw(text).connection(connection);
  try {
    await run('pragma temp_store = file');
    await run('drop table if exists temp.roadbook_feed');
    await run(`create temp table roadbook_feed as ${statement}`);
    for (let after = 0; ; after += PAGE) {
      const rows = await run(
        `select * from temp.roadbook_feed where rowid > ${after} order by rowid limit ${PAGE}`,
      );
      yield* rows;
      if (rows.length < PAGE) return;
    }
  } finally {
    await run('drop table if exists temp.roadbook_feed').catch(() => undefined);
    await database.client.releaseConnection(connection);
  }
}
