// SQLite. Its driver returns complete results only, so the result is stored in a temporary table and read in pages. This
// also keeps the ERP's own tables locked only while the query itself runs.
import type { Connection, SqlClient, SqlResult } from './client.ts';

const PAGE = 1_000;
const FEED = 'temp.roadbook_feed';

type Row = Record<string, unknown>;

const all = (connection: Connection, statement: string): Promise<Row[]> =>
  new Promise((resolve, reject) =>
    connection.all(statement, (error: unknown, rows: Row[]) => (error ? reject(error) : resolve(rows))),
  );

export const sqlite: SqlClient = {
  settings: () => ({}),
  prepare: (connection, { lockMs }) => all(connection, `pragma busy_timeout = ${lockMs}`),
  async query(connection, statement): Promise<SqlResult> {
    await all(connection, 'pragma temp_store = file');
    await all(connection, `create temp table roadbook_feed as ${statement}`);
    const names = (await all(connection, 'pragma temp.table_info(roadbook_feed)')).map(({ name }) => String(name));
    const cells = names.map((name, i) => `${exact(`"${name.replaceAll('"', '""')}"`)} as c${i}`);
    async function* batches() {
      for (let after = 0; ; after += PAGE) {
        const page = `select ${cells.join(', ')} from ${FEED} where rowid > ${after} order by rowid limit ${PAGE}`;
        const rows = await all(connection, page);
        yield rows.map((row) => Object.values(row));
        if (rows.length < PAGE) return;
      }
    }
    return { header: names.map((name) => originalName(name, names)), batches: batches() };
  },
  run: (connection, { sql, bindings }) =>
    new Promise((resolve, reject) =>
      connection.run(sql, bindings, function (this: { changes: number }, error: unknown) {
        if (error) reject(error);
        else resolve(this.changes);
      }),
    ),
  cut(connection) {
    connection.interrupt();
    connection.close(() => undefined);
  },
};

/** The driver would round an integer beyond 2^53. */
const exact = (name: string): string =>
  `case when typeof(${name}) = 'integer' and abs(${name} / 2) > ${2 ** 52 - 1} then cast(${name} as text) else ${name} end`;

/** In the temporary table, the second column `id` of a query is named `id:1`. */
function originalName(name: string, names: readonly string[]): string {
  const original = /^(.+):\d+$/.exec(name)?.[1];
  return original !== undefined && names.includes(original) ? original : name;
}
