// Exports tables to files. Each file is written completely or not at all, and all files show one committed state. A part
// that has not changed since the last export to the same folder is kept. The file of a part that no longer exists is
// removed.
import { existsSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolder, publishFile } from '../../core/atomic-file.ts';
import { Fatal } from '../../core/errors.ts';
import { isoInstant } from '../../core/time/clock.ts';
import type { Engine, Scan } from '../engine.ts';
import { quote } from '../schema/table.ts';
import type { Exportable } from './exportable.ts';
import { readManifest, type TableManifest, writeManifest } from './manifest.ts';
import { type Part, partsOf } from './parts.ts';
import type { FileFormat } from './table-file.ts';

export interface ExportRequest {
  folder: string;
  format: FileFormat;
  what: readonly Exportable[];
  nowMs: number;
  /** Writes every part, changed or not. */
  full: boolean;
  onProgress(doneRows: number, allRows: number): void;
}

export interface ExportedTable {
  table: string;
  rows: number;
  written: number;
  kept: number;
}

/** A row gets its timestamp before its commit, so it may appear later than its timestamp says. */
const COMMIT_MARGIN_MS = 3_600_000;

export async function exportTables(engine: Engine, request: ExportRequest): Promise<ExportedTable[]> {
  try {
    return await writeTables(engine, request);
  } catch (thrown) {
    throw folderError(thrown, request.folder);
  }
}

/** Explains an error of the file system. Returns any other error unchanged. */
function folderError(thrown: unknown, folder: string): unknown {
  const { code, syscall } = (thrown ?? {}) as NodeJS.ErrnoException;
  if (typeof code !== 'string' || syscall === undefined) return thrown;
  return new Fatal(`The export cannot write its files to ${folder} (${syscall}, ${code})`, {
    code: 'export_unwritable',
    hint: 'Check free disk space and the permissions of this user, then run the export again. Complete files are kept.',
  });
}

async function writeTables(engine: Engine, request: ExportRequest): Promise<ExportedTable[]> {
  const { folder, format } = request;
  await mkdir(folder, { recursive: true });
  const manifest = await readManifest(folder, format.extension);
  return engine.snapshot(async (scan) => {
    const planned = await planParts(scan, request, manifest.tables);
    const all = planned.reduce((sum, { writes }) => sum + rowsOf(writes), 0);
    let done = 0;
    const results: ExportedTable[] = [];
    for (const { table, parts, writes } of planned) {
      for (const part of writes) {
        await writePart(scan, table, part, request, (rows) => {
          done += rows;
          request.onProgress(done, all);
        });
      }
      await removeEmptyMonths(table, parts, request);
      manifest.tables[table.name] = manifestOf(table, parts, request);
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

async function planParts(scan: Scan, request: ExportRequest, known: Record<string, TableManifest>) {
  const { what, full } = request;
  const planned = [];
  for (const table of what) {
    const parts = await partsOf(scan, table);
    const before = known[table.name];
    const isSame = (part: Part): boolean =>
      !full && before !== undefined && isUnchanged(table, part, before) && existsSync(pathOf(table, part, request));
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

const manifestOf = (table: Exportable, parts: readonly Part[], { nowMs }: ExportRequest): TableManifest => ({
  columns: namesOf(table),
  read_at: isoInstant(nowMs),
  parts: Object.fromEntries(parts.map(({ name, rows, changedAt }) => [name, { rows, changed_at: changedAt }])),
});

/** `vehicle.parquet`, or for a partitioned table `event/month=2026-03/event.parquet`, as partition-aware readers expect. */
const pathOf = (table: Exportable, part: Part, { folder, format }: ExportRequest): string =>
  table.month === null
    ? join(folder, `${table.name}.${format.extension}`)
    : join(folder, table.name, `month=${part.name}`, `${table.name}.${format.extension}`);

async function writePart(
  scan: Scan,
  table: Exportable,
  part: Part,
  request: ExportRequest,
  onRows: (rows: number) => void,
): Promise<void> {
  const path = pathOf(table, part, request);
  await makeFolder(dirname(path));
  const draft = `${path}.tmp`;
  const file = await request.format.open(draft, table.columns);
  const columns = namesOf(table).map(quote).join(', ');
  const sorted = table.key.map(quote).join(', ');
  const statement = `select ${columns} from "${table.name}" where ${part.where} order by ${sorted}`;
  for await (const rows of scan(statement, part.bindings)) {
    await file.write(rows);
    onRows(rows.length);
  }
  await file.finish();
  await publishFile(draft, path);
}

/** Removes the files of months without rows. */
async function removeEmptyMonths(table: Exportable, parts: readonly Part[], { folder }: ExportRequest) {
  if (table.month === null) return;
  const names = new Set(parts.map(({ name }) => `month=${name}`));
  const present = await readdir(join(folder, table.name)).catch(() => [] as string[]);
  for (const name of present.filter((each) => each.startsWith('month=') && !names.has(each))) {
    await rm(join(folder, table.name, name), { recursive: true });
  }
}
