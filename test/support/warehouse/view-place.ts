// A warehouse for the tests of views: records go in through the product's own loader, rows come out as plain values
// that are the same for every engine. Schema and local time are made once for each engine and zone; a test has a copy.
import { afterAll, onTestFinished } from 'vitest';
import { fillStopRules } from '../../../src/warehouse/control/config-tables.ts';
import type { Engine } from '../../../src/warehouse/engine.ts';
import { fillLocalTime } from '../../../src/warehouse/load/local-days.ts';
import { rowMapping } from '../../../src/warehouse/load/row-mapping.ts';
import { bringSchemaUpToDate } from '../../../src/warehouse/schema/converge.ts';
import type { Table } from '../../../src/warehouse/schema/table.ts';
import { views } from '../../../src/warehouse/schema/view-catalog.ts';
import { stopPostgres } from '../databases/postgres.ts';
import { type EngineCase, type EnginePlace, rowsOf } from './engines.ts';
import { metadataAt } from './load-metadata.ts';

type Fields = Record<string, unknown>;

export interface ViewPlace {
  engine: Engine;
  /** The engine of another process on the same warehouse. */
  open(): Promise<Engine>;
  load(table: Table, records: Fields[], at?: string): Promise<void>;
  /** Rows as they are, for control tables. */
  insert(table: string, rows: Fields[]): Promise<void>;
  /** Named columns of every row, in the order of the first ones. */
  rows(view: string, columns: string[], where?: string): Promise<unknown[][]>;
}

export const LOADED_AT = '2026-03-20T00:00:00.000Z';

/** Empty warehouses whose views are ready, by engine and zone. */
const ready = new Map<string, Promise<EnginePlace>>();
/** For a file that opens views: removes them after its last test. */
export function useViews(): void {
  afterAll(async () => {
    for (const place of await Promise.all(ready.values())) await place.remove();
    ready.clear();
    await stopPostgres();
  });
}

async function makeReady({ make }: EngineCase, zone: string): Promise<EnginePlace> {
  const place = await make();
  const engine = await place.open();
  await bringSchemaUpToDate(engine);
  await fillLocalTime(engine, zone, Date.parse('2026-03-20T00:00:00.000Z'));
  await fillStopRules(engine, { lateAfterMs: 900_000 });
  await engine.close();
  return place;
}

export async function openViews(engineCase: EngineCase, zone = 'America/Sao_Paulo'): Promise<ViewPlace> {
  const name = `${engineCase.name} ${zone}`;
  const original = ready.get(name) ?? makeReady(engineCase, zone);
  ready.set(name, original);
  const place = await (await original).copy();
  const engine = await place.open();
  await fillLocalTime(engine, zone, Date.parse(LOADED_AT));
  onTestFinished(async () => {
    await engine.close();
    await place.remove();
  });
  return {
    engine,
    async open() {
      const other = await place.open();
      onTestFinished(() => other.close());
      return other;
    },
    async load(table, records, at = LOADED_AT) {
      const toRow = rowMapping(table);
      const rows = records.map((record) => {
        const mapped = toRow(record as never);
        if ('invalid' in mapped) throw new Error(mapped.invalid);
        return mapped.row;
      });
      await engine.write((tx) => tx.load(table, rows, metadataAt('run-1', at)));
    },
    async insert(table, rows) {
      await engine.write(async ({ sql }) => {
        for (const row of rows) await sql(table).insert(row);
      });
    },
    async rows(view, columns, where = 'true') {
      const list = columns.map((name) => `"${name}"`).join(', ');
      const found = await query(engine, `select ${list} from ${view} where ${where} order by ${list}`);
      return found.map((row) => columns.map((name) => plain(view, name, row[name])));
    },
  };
}

export const query = (engine: Engine, text: string): Promise<Fields[]> => engine.read((sql) => rowsOf(sql, text));

function plain(view: string, name: string, value: unknown): unknown {
  const type = views.find((each) => each.name === view)?.columns.find((each) => each.name === name)?.type;
  if (value === null) return null;
  if (type === 'boolean') return Boolean(value);
  if (type === 'integer' || type === 'real') return Number(value);
  if (type === 'instant') return new Date(value as string).toISOString();
  return value;
}
