// Every text of an export against the warehouse by SQL, to the byte: CSV by a parser of its own, Parquet by
// DuckDB. In CSV a text that a spreadsheet would calculate has one apostrophe before it, and no other has.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { parse } from 'csv-parse/sync';
import { csv } from '../../../src/warehouse/export/csv-format.ts';
import { exportTables } from '../../../src/warehouse/export/export.ts';
import { type Exportable, exportables } from '../../../src/warehouse/export/exportable.ts';
import { parquet } from '../../../src/warehouse/export/parquet-format.ts';
import { fillLocalTime } from '../../../src/warehouse/load/local-days.ts';
import type { Rig } from '../pull/rig.ts';

type Row = Record<string, unknown>;

export interface ExportedTexts {
  cells: number;
  /** In words, rows whose texts are not those of the warehouse. */
  wrong: string[];
  /** In words, cells that a spreadsheet would calculate. */
  formulas: string[];
}

interface Read {
  format: typeof csv;
  /** The rows of one table or view, from the files that hold them. */
  rows(files: string[]): Promise<Row[]>;
  /** A text as this format has to hold it. */
  held(text: string | null): string | null;
}

/** Beginnings of a text that a spreadsheet would calculate. */
const FORMULA = /^[=+\-@\t\r＝＋－＠]/;

const asCsv: Read = {
  format: csv,
  rows: async (files) => files.flatMap((file) => parse(readFileSync(file), { columns: true, bom: true }) as Row[]),
  // The parser gives nothing as an empty text.
  held: (text) => (text !== null && FORMULA.test(text) ? `'${text}` : (text ?? '')),
};

/** One for all files of the process. */
let duck: Promise<DuckDBConnection> | undefined;

const asParquet: Read = {
  format: parquet,
  async rows(files) {
    duck ??= DuckDBInstance.create(':memory:').then((instance) => instance.connect());
    const names = files.map((file) => `'${file}'`).join(', ');
    const sql = `select * from read_parquet([${names}], hive_partitioning = false)`;
    return (await (await duck).runAndReadAll(sql)).getRowObjectsJson() as Row[];
  },
  held: (text) => text,
};

export const exportedCsv = (rig: Rig): Promise<ExportedTexts> => exported(rig, asCsv);
export const exportedParquet = (rig: Rig): Promise<ExportedTexts> => exported(rig, asParquet);

async function exported(rig: Rig, read: Read): Promise<ExportedTexts> {
  const { format } = read;
  const folder = mkdtempSync(join(tmpdir(), 'roadbook-nasty-'));
  const found: ExportedTexts = { cells: 0, wrong: [], formulas: [] };
  try {
    await fillLocalTime(rig.engine, 'America/Sao_Paulo', rig.clock.now());
    const order = {
      what: exportables,
      nowMs: rig.clock.now(),
      full: true,
      isAlone: async () => true,
      onProgress: () => undefined,
    };
    await exportTables(rig.engine, { folder, format, ...order });
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    for (const table of exportables) {
      const own = files.filter((file) => basename(file) === `${table.name}.${format.extension}`);
      const rows = await read.rows(own.map((file) => join(folder, file)));
      compare(table, rows, await rig.rows(`select * from "${table.name}"`), read, found);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return found;
}

/** Row by row, in any order: each row of the warehouse has to be there as often as it is stored. */
function compare(table: Exportable, rows: Row[], stored: Row[], { held, format }: Read, found: ExportedTexts) {
  const names = table.columns.filter(({ type }) => type === 'text' || type === 'json').map(({ name }) => name);
  const file = `${table.name}.${format.extension}`;
  const left = new Map<string, number>();
  const count = (row: string, by: number) => left.set(row, (left.get(row) ?? 0) + by);
  for (const row of stored) count(JSON.stringify(names.map((name) => held(asText(row[name])))), 1);
  for (const row of rows) {
    const texts = names.map((name) => row[name] as string | null);
    found.cells += texts.length;
    count(JSON.stringify(texts), -1);
    for (const text of format === csv ? texts : [])
      if (FORMULA.test(text ?? '')) found.formulas.push(`${file}: ${JSON.stringify(text)}`);
  }
  for (const [row, times] of left) {
    if (times > 0) found.wrong.push(`${file} lacks ${row}`);
    if (times < 0) found.wrong.push(`${file} has ${row}, which is not stored`);
  }
}

const asText = (value: unknown): string | null => {
  if (value === null || value === undefined) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
};
