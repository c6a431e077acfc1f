// An export in a process of its own, for its memory, and whether DuckDB reads from the files what the warehouse holds.
//   node test/bench/warehouse/export.ts <settings as JSON> <folder> <instant>
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';
import type { Engine } from '../../../src/warehouse/engine.ts';
import { engines } from '../../../src/warehouse/engines.ts';
import { exportTables } from '../../../src/warehouse/export/export.ts';
import { exportables } from '../../../src/warehouse/export/exportable.ts';
import { parquet } from '../../../src/warehouse/export/parquet-format.ts';
import { peakMb } from '../../support/measure/peak-memory.ts';
import { PRODUCT_ENV, PRODUCT_FLAGS } from '../../support/process/product-flags.ts';
import { type EnginePlace, rowsOf } from '../../support/warehouse/engines.ts';

interface Exported {
  seconds: number;
  peakMb: number;
  written: number;
}

/** A line of the table, and what is wrong in it. */
export interface ExportLine {
  cells: string[];
  faults: string[];
}

const MOST_MB = 300;
const MOST_SECONDS_AGAIN = 10;

export const EXPORT_LIMITS = `Memory is that of
the exporting process. The run fails above ${MOST_MB} MB, if the export of nothing new takes ${MOST_SECONDS_AGAIN} s, or if DuckDB reads other totals from the files
than SQL from the warehouse: events and metres, and stops and item values by outcome.`;

/** What has to be equal in the warehouse and in the files, in any order of the rows. */
const TOTALS: Readonly<Record<string, (from: string) => string>> = {
  bi_event: (from) => `select count(*), sum(distance_metres) as metres from ${from}`,
  bi_delivery: (from) =>
    `select outcome, count(*), sum(item_count) as items, sum(item_value) as total from ${from} group by outcome`,
  route_point_item: (from) => `select count(*), sum(value) as total, sum(quantity) as quantity from ${from}`,
};

export async function exportBench(engine: Engine, place: EnginePlace): Promise<ExportLine> {
  const folder = mkdtempSync(join(tmpdir(), 'roadbook-export-'));
  try {
    const first = await inProcess(place, folder, '2026-05-02T00:00:00.000Z');
    const again = await inProcess(place, folder, '2026-05-02T06:00:00.000Z');
    const faults = await differences(engine, folder);
    if (first.peakMb > MOST_MB) faults.push(`the export needs ${first.peakMb.toFixed(0)} MB`);
    if (again.seconds >= MOST_SECONDS_AGAIN)
      faults.push(`the export of nothing new takes ${again.seconds.toFixed(1)} s`);
    const [{ events } = {}] = await engine.read((sql) => rowsOf(sql, 'select count(*) as events from event'));
    const cells = [
      engine.name,
      Number(events).toLocaleString('en'),
      first.seconds.toFixed(0),
      first.peakMb.toFixed(0),
      again.seconds.toFixed(1),
      String(again.written),
    ];
    return { cells, faults: faults.map((fault) => `${engine.name}, ${cells[1]} events: ${fault}`) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function differences(engine: Engine, folder: string): Promise<string[]> {
  const duck = await (await DuckDBInstance.create(':memory:')).connect();
  const found: string[] = [];
  for (const [name, totals] of Object.entries(TOTALS)) {
    const isMonthly = exportables.some((each) => each.name === name && each.month !== null);
    const files = isMonthly ? `'${folder}/${name}/*/*.parquet'` : `'${folder}/${name}.parquet'`;
    const stored = plain(await engine.read((sql) => rowsOf(sql, totals(name))));
    const inFiles = plain((await duck.runAndReadAll(totals(files))).getRowObjectsJson());
    if (stored !== inFiles)
      found.push(`DuckDB reads ${inFiles} from the files of ${name}, the warehouse has ${stored}`);
  }
  return found;
}

/** Rows as text, whatever the reader makes of large numbers and in which order it groups. */
const plain = (rows: readonly Record<string, unknown>[]): string =>
  rows
    .map((row) => Object.values(row).map((value) => (/^[\d.]+$/.test(String(value)) ? Number(value) : value)))
    .map((values) => values.join(' '))
    .sort()
    .join(', ');

async function inProcess({ settings }: EnginePlace, folder: string, at: string): Promise<Exported> {
  const args = [...PRODUCT_FLAGS, import.meta.filename, JSON.stringify(settings), folder, at];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: { ...process.env, ...PRODUCT_ENV } });
  return JSON.parse(stdout);
}

const [given, folder = '', at = ''] = process.argv.slice(2);
if (import.meta.main && given !== undefined) {
  const { engine: name, ...settings } = JSON.parse(given) as Record<string, string>;
  const engine = await engines[name as keyof typeof engines]?.open(settings);
  if (engine === undefined) throw new Error(`no engine ${name}`);
  const begun = performance.now();
  const request = { folder, format: parquet, what: exportables, nowMs: Date.parse(at), full: false };
  const exported = await exportTables(engine, { ...request, isAlone: async () => true, onProgress: () => undefined });
  const result: Exported = {
    seconds: (performance.now() - begun) / 1_000,
    peakMb: peakMb(),
    written: exported.reduce((sum, { written }) => sum + written, 0),
  };
  process.stdout.write(JSON.stringify(result));
  await engine.close();
}
