// An export in a process of its own, for its memory, and whether DuckDB reads from the files what the warehouse holds.
//   node test/bench/export.ts <settings as JSON> <folder> <instant>
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';
import type { Engine } from '../../src/warehouse/engine.ts';
import { engines } from '../../src/warehouse/engines.ts';
import { exportTables } from '../../src/warehouse/export/export.ts';
import { exportables } from '../../src/warehouse/export/exportable.ts';
import { parquet } from '../../src/warehouse/export/parquet-format.ts';
import { type EnginePlace, rowsOf } from '../support/engines.ts';
import { PRODUCT_FLAGS } from './task.ts';

interface Exported {
  seconds: number;
  peakMb: number;
  written: number;
}

/** One line of the table for each engine. */
export async function exportBench(engine: Engine, place: EnginePlace): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'roadbook-export-'));
  try {
    const first = await inProcess(place, folder, '2026-05-02T00:00:00.000Z');
    const again = await inProcess(place, folder, '2026-05-02T06:00:00.000Z');
    const totals = 'count(*) as events, sum(distance_metres) as metres';
    const [stored] = await engine.read((sql) => rowsOf(sql, `select ${totals} from bi_event`));
    const duck = await (await DuckDBInstance.create(':memory:')).connect();
    const read = await duck.runAndReadAll(`select ${totals} from '${folder}/bi_event/*/*.parquet'`);
    const [inFiles] = read.getRowObjectsJson();
    if (['events', 'metres'].some((name) => Number(stored?.[name]) !== Number(inFiles?.[name])))
      throw new Error(`DuckDB reads ${JSON.stringify(inFiles)}, the warehouse has ${JSON.stringify(stored)}`);
    const cells = [
      engine.name,
      first.seconds.toFixed(0),
      first.peakMb.toFixed(0),
      again.seconds.toFixed(1),
      again.written,
    ];
    return [`| ${cells.join(' | ')} |`];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function inProcess({ settings }: EnginePlace, folder: string, at: string): Promise<Exported> {
  const args = [...PRODUCT_FLAGS, import.meta.filename, JSON.stringify(settings), folder, at];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout);
}

const [given, folder = '', at = ''] = process.argv.slice(2);
if (import.meta.main && given !== undefined) {
  const { engine: name, ...settings } = JSON.parse(given) as Record<string, string>;
  const engine = await engines[name as keyof typeof engines]?.open(settings);
  if (engine === undefined) throw new Error(`no engine ${name}`);
  const begun = performance.now();
  const request = { folder, format: parquet, what: exportables, nowMs: Date.parse(at), full: false };
  const exported = await exportTables(engine, { ...request, onProgress: () => undefined });
  const result: Exported = {
    seconds: (performance.now() - begun) / 1_000,
    peakMb: process.resourceUsage().maxRSS / 1_024,
    written: exported.reduce((sum, { written }) => sum + written, 0),
  };
  process.stdout.write(JSON.stringify(result));
  await engine.close();
}
