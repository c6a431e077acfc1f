// The load stage alone: rows in memory into a warehouse, beside the barest statement that could store them. Batch by
// batch in turn, so that whatever else the machine does meets both alike; the ratio is the figure.
//   node test/bench/load-stage.ts 200000
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Knex } from 'knex';
import type { Engine, Row } from '../../src/warehouse/engine.ts';
import { postgres } from '../../src/warehouse/engines/postgres.ts';
import type { PgConnection } from '../../src/warehouse/engines/postgres-connection.ts';
import { copyIn, copyText } from '../../src/warehouse/engines/postgres-copy.ts';
import { ensureMonths } from '../../src/warehouse/engines/postgres-months.ts';
import { copyStatement } from '../../src/warehouse/engines/postgres-statements.ts';
import { sqlite } from '../../src/warehouse/engines/sqlite.ts';
import { rowMapping } from '../../src/warehouse/row-mapping.ts';
import { bringSchemaUpToDate } from '../../src/warehouse/schema.ts';
import { recordColumns } from '../../src/warehouse/table.ts';
import { event } from '../../src/warehouse/tables/event.ts';
import { startPostgres, stopPostgres } from '../support/postgres.ts';

const SLICE_ROWS = 10_000;
const stamp = { runId: 'bench', at: '2026-01-01T00:00:00.000Z' };
const START = Date.parse('2026-01-01T00:00:00.000Z');
const toRow = rowMapping(event);

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

interface Pair {
  name: string;
  load(rows: readonly Row[]): Promise<void>;
  bare(rows: readonly Row[]): Promise<void>;
  close(): Promise<void>;
}

const load = (engine: Engine) => async (rows: readonly Row[]) => {
  await engine.write((tx) => tx.load(event, rows, stamp));
};

async function postgresPair(): Promise<Pair> {
  const url = await (await startPostgres()).newDatabase();
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
        await copyIn(connection, copyStatement(event), copyText(rows, [stamp.at, stamp.at, stamp.runId]));
      }),
    async close() {
      await Promise.all([engine.close(), other.close()]);
      await stopPostgres();
    },
  };
}

async function sqlitePair(): Promise<Pair> {
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

async function timed(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1_000;
}

async function measure({ name, load: product, bare, close }: Pair, count: number): Promise<string> {
  const seconds = { load: 0, bare: 0, again: 0 };
  for (let start = 0; start < count; start += SLICE_ROWS) {
    const rows = Array.from({ length: Math.min(SLICE_ROWS, count - start) }, (_, n) => eventRow(start + n));
    // Who goes first changes with every slice.
    const turns = [
      async () => (seconds.load += await timed(() => product(rows))),
      async () => (seconds.bare += await timed(() => bare(rows))),
    ];
    for (const turn of (start / SLICE_ROWS) % 2 === 0 ? turns : turns.toReversed()) await turn();
    seconds.again += await timed(() => product(rows));
  }
  await close();
  const rate = (spent: number) => Math.round(count / spent).toLocaleString('en');
  const ratio = (seconds.bare / seconds.load).toFixed(2);
  return `| ${[name, rate(seconds.bare), rate(seconds.load), ratio, rate(seconds.again)].join(' | ')} |`;
}

/** A table in Markdown. */
export async function loadStage(count: number): Promise<string> {
  const lines = [];
  for (const make of [postgresPair, sqlitePair]) lines.push(await measure(await make(), count));
  return `| load stage alone, ${count.toLocaleString('en')} events | bare, rows/s | Roadbook, rows/s | ratio | unchanged, rows/s |
|---|---|---|---|---|
${lines.join('\n')}
`;
}

if (import.meta.main) process.stdout.write(await loadStage(Number(process.argv[2] ?? 200_000)));
