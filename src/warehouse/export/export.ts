// Writes tables as files, each whole or not at all, all of one committed state. A part that did not change since the
// last export into the same folder is left as it is; one that is no longer there is removed.
import { existsSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolder, publishFile } from '../../core/atomic-file.ts';
import { Fatal } from '../../core/errors.ts';
import { isoInstant } from '../../core/time/clock.ts';
import type { Engine, Scan } from '../engine.ts';
import type { Exportable } from './exportable.ts';
import { readManifest, type TableManifest, writeManifest } from './manifest.ts';
import { type Part, partsOf } from './parts.ts';
import type { FileFormat } from './table-file.ts';

export interface ExportRequest {
  folder: string;
  format: FileFormat;
  what: readonly Exportable[];
  nowMs: number;
  /** Writes every part, whether it changed or not. */
  full: boolean;
  onProgress(doneRows: number, allRows: number): void;
}

export interface ExportedTable {
  table: string;
  rows: number;
  written: number;
  kept: number;
}

/** Rows are stamped before they commit, so that one may appear a little later than its stamp says. */
const COMMIT_MARGIN_MS = 3_600_000;

export async function exportTables(engine: Engine, order: ExportRequest): Promise<ExportedTable[]> {
  try {
    return await writeTables(engine, order);
  } catch (thrown) {
    throw folderFailure(thrown, order.folder);
  }
}

/** Anything that is not the file system's stays as it is. */
function folderFailure(thrown: unknown, folder: string): unknown {
  const { code, syscall } = (thrown ?? {}) as NodeJS.ErrnoException;
  if (typeof code !== 'string' || syscall === undefined) return thrown;
  return new Fatal(`The files of the export cannot be written to ${folder} (${syscall}, ${code})`, {
    code: 'export_unwritable',
    hint: 'Check the space on its disk and that this user may write there; files that are whole stay, run it again.',
  });
}

async function writeTables(engine: Engine, order: ExportRequest): Promise<ExportedTable[]> {
  const { folder, format } = order;
  await mkdir(folder, { recursive: true });
  const manifest = await readManifest(folder, format.extension);
  return engine.snapshot(async (scan) => {
    const planned = await planParts(scan, order, manifest.tables);
    const all = planned.reduce((sum, { writes }) => sum + rowsOf(writes), 0);
    let done = 0;
    const results: ExportedTable[] = [];
    for (const { table, parts, writes } of planned) {
      for (const part of writes) {
        await writePart(scan, table, part, order, (rows) => {
          done += rows;
          order.onProgress(done, all);
        });
      }
      await removeOthers(table, parts, order);
      manifest.tables[table.name] = noted(table, parts, order);
      await writeManifest(folder, manifest);
      results.push({
        table: table.name,
        rows: rowsOf(parts),
        written: writes.length,
        kept: parts.length - writes.length,
      });
    }
    return results;
  });
}

async function planParts(scan: Scan, order: ExportRequest, known: Record<string, TableManifest>) {
  const { what, full } = order;
  const planned = [];
  for (const table of what) {
    const parts = await partsOf(scan, table);
    const before = known[table.name];
    const isSame = (part: Part): boolean =>
      !full &&
      before !== undefined &&
      isUnchanged(table, part, before) &&
      existsSync(pathOf(table, part, order));
    planned.push({ table, parts, writes: parts.filter((part) => !isSame(part)) });
  }
  return planned;
}

function isUnchanged(table: Exportable, part: Part, before: TableManifest): boolean {
  if (table.changed === null || part.changedAt === null) return false;
  const since = Date.parse(before.read_at) - COMMIT_MARGIN_MS;
  return (
    before.parts[part.name]?.rows === part.rows &&
    before.parts[part.name]?.changed_at === part.changedAt &&
    Date.parse(part.changedAt) < since &&
    before.columns.join() === namesOf(table).join()
  );
}

const rowsOf = (parts: readonly Part[]): number => parts.reduce((sum, { rows }) => sum + rows, 0);
const namesOf = ({ columns }: Exportable): string[] => columns.map(({ name }) => name);

const noted = (table: Exportable, parts: readonly Part[], { nowMs }: ExportRequest): TableManifest => ({
  columns: namesOf(table),
  read_at: isoInstant(nowMs),
  parts: Object.fromEntries(
    parts.map(({ name, rows, changedAt }) => [name, { rows, changed_at: changedAt }]),
  ),
});

/** `vehicle.parquet`; a divided table as `event/month=2026-03/event.parquet`, as readers of partitions expect. */
const pathOf = (table: Exportable, part: Part, { folder, format }: ExportRequest): string =>
  table.month === null
    ? join(folder, `${table.name}.${format.extension}`)
    : join(folder, table.name, `month=${part.name}`, `${table.name}.${format.extension}`);

async function writePart(
  scan: Scan,
  table: Exportable,
  part: Part,
  order: ExportRequest,
  onRows: (rows: number) => void,
): Promise<void> {
  const path = pathOf(table, part, order);
  await makeFolder(dirname(path));
  const draft = `${path}.tmp`;
  const file = await order.format.open(draft, table.columns);
  const columns = table.columns.map(({ name }) => `"${name}"`).join(', ');
  const sorted = table.key.map((name) => `"${name}"`).join(', ');
  const statement = `select ${columns} from "${table.name}" where ${part.where} order by ${sorted}`;
  for await (const rows of scan(statement, part.bindings)) {
    await file.write(rows);
    onRows(rows.length);
  }
  await file.finish();
  await publishFile(draft, path);
}

/** Months that hold nothing any more. */
async function removeOthers(table: Exportable, parts: readonly Part[], { folder }: ExportRequest) {
  if (table.month === null) return;
  const names = new Set(parts.map(({ name }) => `month=${name}`));
  const present = await readdir(join(folder, table.name)).catch(() => [] as string[]);
  for (const name of present.filter((each) => each.startsWith('month=') && !names.has(each))) {
    await rm(join(folder, table.name, name), { recursive: true });
  }
}
