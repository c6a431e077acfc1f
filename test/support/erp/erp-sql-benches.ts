// ERPs that are databases: SQLite in a file, a real PostgreSQL and a real MariaDB. Rows are kept as JSON; the query of the feed
// gives them as columns of the database's own types.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import knex, { type Knex } from 'knex';
import { createManualClock } from '../../../src/core/time/manual-clock.ts';
import { openSource } from '../../../src/erp/sources.ts';
import { sharedMariadb } from '../databases/mariadb.ts';
import { startPostgres } from '../databases/postgres.ts';
import { type Bench, columnsOf, contextFor, NOW, type Row, temporaryFolder } from './erp-benches.ts';

interface Dialect {
  client: string;
  connection: string | { filename: string };
  /** The cell of a column as an expression over `body`. */
  cell(column: string, rows: readonly Row[]): string;
  quoted(name: string): string;
  /** Ends an insert so that a row with this key is changed instead. */
  orUpdate(key: string, columns: readonly string[]): string;
  remove(): void;
}

const standard = {
  quoted: (name: string) => `"${name}"`,
  orUpdate: (key: string, columns: readonly string[]) =>
    `on conflict (${key}) do update set ${columns.map((name) => `${name} = excluded.${name}`).join(', ')}`,
};

export function sqliteBench(): Promise<Bench> {
  const folder = temporaryFolder();
  return sqlBench({
    client: 'sqlite3',
    connection: { filename: join(folder, 'erp.db') },
    ...standard,
    cell: (column) => `json_extract(body, '$."${column}"')`,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  });
}

export async function postgresBench(): Promise<Bench> {
  return sqlBench({
    client: 'pg',
    connection: await (await startPostgres()).newDatabase(),
    ...standard,
    cell: (column, rows) => `(body::jsonb ->> '${column}')::${postgresType(column, rows)}`,
    remove: () => undefined,
  });
}

export async function mariadbBench(): Promise<Bench> {
  return sqlBench({
    client: 'mysql2',
    connection: await (await sharedMariadb()).newDatabase(),
    cell: (column) => `json_value(body, '$."${column}"')`,
    quoted: (name) => `\`${name}\``,
    orUpdate: (_key, columns) =>
      `on duplicate key update ${columns.map((name) => `${name} = values(${name})`).join(', ')}`,
    remove: () => undefined,
  });
}

function postgresType(column: string, rows: readonly Row[]): string {
  const kinds = new Set(rows.map((row) => row[column] ?? null).flatMap((cell) => (cell === null ? [] : [typeof cell])));
  if (kinds.size !== 1) return 'text';
  return { number: 'numeric', boolean: 'boolean' }[String([...kinds][0])] ?? 'text';
}

async function sqlBench({ client, connection, cell, quoted, orUpdate, remove }: Dialect): Promise<Bench> {
  const clock = createManualClock(NOW);
  const database: Knex = knex({ client, connection, useNullAsDefault: true });
  await database.raw('create table orders (number integer primary key, body text)');
  await database.raw(
    'create table acknowledged (code varchar(99) primary key, state text, remote_id integer, period_start text)',
  );
  await database.raw(
    'create table stops (plan varchar(99), point varchar(99), status text, start text, primary key (plan, point))',
  );
  let offered: Row[] = [];
  return {
    name: client,
    clock,
    open(change) {
      const selected = columnsOf(offered).map((name) => `${cell(name, offered)} as ${quoted(name)}`);
      const code = cell('plan.external_code', offered);
      return openSource(
        {
          source: 'sql',
          client,
          connection,
          query: `select ${selected.join(', ')} from orders where ${code} not in (select code from acknowledged where state <> 'unknown') order by number`,
          acknowledge: `insert into acknowledged values (:external_code, :state, :remote_id, :period_start) ${orUpdate('code', ['state', 'remote_id'])}`,
          return: `insert into stops values (:plan_external_code, :point_external_code, :status, :plan_period_start) ${orUpdate('plan, point', ['status'])}`,
          mapping: {},
        },
        contextFor(clock, change),
      );
    },
    async offer(rows) {
      const orders = rows.map((row, i) => ({ number: offered.length + i, body: JSON.stringify(row) }));
      await database.batchInsert('orders', orders, 100);
      offered = [...offered, ...rows];
    },
    async notified() {
      const rows = await database('acknowledged').select();
      return Object.fromEntries(
        rows.map((one) => [one.code, { state: one.state, remoteId: one.remote_id, periodStart: one.period_start }]),
      );
    },
    async returned() {
      const rows = await database('stops').select();
      return Object.fromEntries(
        rows.map(({ plan, point, status, start }) => [`${plan} ${point}`, `${status} ${start}`]),
      );
    },
    async close() {
      await database.destroy();
      remove();
    },
  };
}
