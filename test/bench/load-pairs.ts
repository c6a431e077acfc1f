// Two ways of storing the same rows from memory: the engine's loader, and the barest statement that could do it.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Knex } from 'knex';
import type { Engine, Row } from '../../src/warehouse/engine.ts';
import { postgres } from '../../src/warehouse/engines/postgres.ts';
import type { PgConnection } from '../../src/warehouse/engines/postgres-connection.ts';
import { copyIn } from '../../src/warehouse/engines/postgres-copy.ts';
import { ensureMonths } from '../../src/warehouse/engines/postgres-months.ts';
import { copyStatement } from '../../src/warehouse/engines/postgres-statements.ts';
import { sqlite } from '../../src/warehouse/engines/sqlite.ts';
import { rowMapping } from '../../src/warehouse/row-mapping.ts';
import { bringSchemaUpToDate } from '../../src/warehouse/schema.ts';
import { recordColumns } from '../../src/warehouse/table.ts';
import { event } from '../../src/warehouse/tables/event.ts';
import { stampAt } from '../support/stamp.ts';

/** Rows of a slice, about what the product commits at once. */
export const SLICE_ROWS = 10_000;
const stamp = stampAt('bench', '2026-01-01T00:00:00.000Z');
const START = Date.parse('2026-01-01T00:00:00.000Z');
const toRow = rowMapping(event);

/** As in a slice of a pull: from `start` on. */
export const eventRows = (start: number, count: number): Row[] =>
  Array.from({ length: Math.min(SLICE_ROWS, count - start) }, (_, n) => eventRow(start + n));

/** Events as the service sends them: 500 vehicles over some months. */
function eventRow(n: number): Row {
  const at = (ms: number) => new Date(START + n * 30_000 + ms).toISOString();
  const mapped = toRow({
    event_category: 1 + (n % 24),
    id: n,
    begin_date: at(0),
    end_date: at(90_000),
    distance: n % 40_000,
    vehicle: { id: 1 + (n % 500), plate: `ABC${1000 + (n % 500)}`, model: `Model ${n % 30}` },
    driver: { id: 1 + (n % 300), name: `Driver Number ${n % 300}` },
    location_start: { address: `Rua das Flores, ${n % 1_000}, São Paulo` },
    location_end: { address: `Avenida Brasil, ${n % 777}, Rio de Janeiro` },
  });
  if (!('row' in mapped)) throw new Error(mapped.misfit);
  return mapped.row;
}

export interface Pair {
  name: string;
  load(rows: readonly Row[]): Promise<void>;
  bare(rows: readonly Row[]): Promise<void>;
  close(): Promise<void>;
}

const load = (engine: Engine) => async (rows: readonly Row[]) => {
  await engine.write((tx) => tx.load(event, rows, stamp));
};

/** In two schemas of the database. */
export async function postgresPair(url: string): Promise<Pair> {
  const [engine, other] = await Promise.all(
    ['fleet', 'bare'].map((schema) => postgres.open({ url, schema })),
  );
  if (engine === undefined || other === undefined) throw new Error('not open');
  for (const each of [engine, other]) await bringSchemaUpToDate(each);
  const months = new Set<string>();
  const connectionOf = async (sql: Knex) => (await sql.client.acquireConnection()) as PgConnection;
  return {
    name: 'PostgreSQL, beside a bare COPY into the same table',
    load: load(engine),
    bare: (rows) =>
      other.write(async ({ sql }) => {
        const connection = await connectionOf(sql);
        const month = String(rows.at(-1)?.[2]).slice(0, 7);
        if (!months.has(month)) await ensureMonths(connection, event, 'begin_date', rows);
        months.add(month);
        await copyIn(connection, copyStatement(event), { rows, tail: [stamp.at, stamp.at, stamp.runId] });
      }),
    async close() {
      await Promise.all([engine.close(), other.close()]);
    },
  };
}

export async function sqlitePair(): Promise<Pair> {
  const dir = mkdtempSync(join(tmpdir(), 'roadbook-load-'));
  const engine = await sqlite.open({ file: join(dir, 'warehouse.db') });
  const other = await sqlite.open({ file: join(dir, 'bare.db') });
  for (const each of [engine, other]) await bringSchemaUpToDate(each);
  const names = [...recordColumns(event).map(({ name }) => name), 'extra'];
  const values = names.map((_, position) => `json_extract(value, '$[${position}]')`);
  const statement = `insert into event (${names.join(', ')}, _first_seen_at, _changed_at, _run_id)
    select ${values.join(', ')}, '${stamp.at}', '${stamp.at}', '${stamp.runId}' from jsonb_each(?)`;
  return {
    name: 'SQLite, beside the bare insert from jsonb_each into the same table',
    load: load(engine),
    bare: (rows) =>
      other.write(async ({ sql }) => {
        for (let start = 0; start < rows.length; start += 2_000) {
          await sql.raw(statement, [JSON.stringify(rows.slice(start, start + 2_000))]);
        }
      }),
    async close() {
      await Promise.all([engine.close(), other.close()]);
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
