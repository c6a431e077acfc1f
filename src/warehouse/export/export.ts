// Exports tables to files. Each file is written completely or not at all, and all files show one committed state. A part
// that has not changed since the last export to the same folder is kept. The file of a part that no longer exists is
// removed.

import { existsSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { draftOf, isDraft, makeFolder, publishFile } from '../../core/atomic-file.ts';
import { Fatal } from '../../core/errors.ts';
import { isoInstant } from '../../core/time/clock.ts';
import { DAY_MS } from '../../core/time/durations.ts';
import type { Engine, Scan } from '../engine.ts';
import { quote } from '../schema/table.ts';
import type { Exportable, FileFormat } from './exportable.ts';
import { readManifest, type TableManifest, writeManifest } from './manifest.ts';
import { type Part, partsOf, sharedState, shiftMonth } from './parts.ts';

export interface ExportRequest {
  folder: string;
  format: FileFormat;
  what: readonly Exportable[];
  nowMs: number;
  /** Writes every part, changed or not. */
  full: boolean;
  /** False if another process may be exporting to the same folder: then nothing more is written. */
  isAlone(): Promise<boolean>;
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

export const exportTables = (engine: Engine, request: ExportRequest): Promise<ExportedTable[]> =>
  writeTables(engine, request).catch((thrown) => {
    throw folderError(thrown, request.folder);
  });

/** Explains an error of the file system. Returns any other error unchanged. */
function folderError(thrown: unknown, folder: string): unknown {
  const { code, syscall } = (thrown ?? {}) as NodeJS.ErrnoException;
  if (typeof code !== 'string' || syscall === undefined) return thrown;
  if (code === 'EEXIST' || code === 'ENOTDIR')
    return new Fatal(`The export needs a folder, and ${folder} is a file or lies in one`, {
      code: 'usage',
      hint: 'Name a folder with --out.',
    });
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
    const all = planned.reduce((sum, { writes }) => writes.reduce((rows, part) => rows + part.sourceRows, sum), 0);
    let done = 0;
    const results: ExportedTable[] = [];
    for (const { table, parts, writes } of planned) {
      const rows = new Map(parts.map(({ name }) => [name, manifest.tables[table.name]?.parts[name]?.rows ?? 0]));
      for (const part of writes) {
        let written = 0;
        await writePart(scan, table, part, request, (count) => {
          written += count;
          request.onProgress(Math.min(done + written, all), all);
        });
        rows.set(part.name, written);
        done += part.sourceRows;
        request.onProgress(Math.min(done, all), all);
      }
      await checkAlone(request);
      await removeOtherFiles(table, parts, request);
      manifest.tables[table.name] = manifestOf(table, parts, rows, request);
      await writeManifest(folder, manifest);
      results.push({
        table: table.name,
        rows: [...rows.values()].reduce((sum, count) => sum + count, 0),
        written: writes.length,
        kept: parts.length - writes.length,
      });
    }
    return results;
  });
}

async function checkAlone({ isAlone }: ExportRequest): Promise<void> {
  if (await isAlone()) return;
  throw new Fatal('Another process may have taken over the export, because this one stood still', {
    code: 'lease_lost',
    hint: 'Run the export again: what this one has completed is kept.',
  });
}

async function planParts(scan: Scan, request: ExportRequest, known: Record<string, TableManifest>) {
  const { what, full } = request;
  const shared = await sharedState(scan);
  const planned = [];
  for (const table of what) {
    const parts = await partsOf(scan, table, shared);
    const before = known[table.name];
    const changed = new Set(
      parts
        .filter((part) => before === undefined || !isUnchanged(table, part, before))
        .flatMap(({ name }) => (table.isLive ? [shiftMonth(name, -1), name, shiftMonth(name, 1)] : [name])),
    );
    const isDue = (part: Part): boolean => full || changed.has(part.name) || !existsSync(pathOf(table, part, request));
    planned.push({ table, parts, writes: parts.filter(isDue) });
  }
  return planned;
}

function isUnchanged(table: Exportable, { name, state, changedAt }: Part, before: TableManifest): boolean {
  if (state === null || changedAt === null) return false;
  const since = isoInstant(Date.parse(before.read_at) - COMMIT_MARGIN_MS);
  // The day of margin is for the time zone.
  const isPast = !table.isLive || isoInstant(Date.parse(before.read_at) - DAY_MS) >= shiftMonth(name, 1);
  return (
    isPast &&
    before.parts[name]?.state === state &&
    changedAt < since &&
    before.columns.join() === namesOf(table).join()
  );
}

const namesOf = ({ columns }: Exportable): string[] => columns.map(({ name }) => name);

const manifestOf = (
  table: Exportable,
  parts: readonly Part[],
  rows: ReadonlyMap<string, number>,
  { nowMs }: ExportRequest,
): TableManifest => ({
  columns: namesOf(table),
  read_at: isoInstant(nowMs),
  parts: Object.fromEntries(parts.map(({ name, state }) => [name, { rows: rows.get(name) ?? 0, state }])),
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
  await removeDrafts(dirname(path));
  const draft = draftOf(path);
  const file = await request.format.open(draft, table.columns);
  const columns = namesOf(table).map(quote).join(', ');
  const sorted = table.key.map(quote).join(', ');
  const statement = `select ${columns} from "${table.name}" where ${part.where} order by ${sorted}`;
  for await (const rows of scan(statement, part.bindings)) {
    await file.write(rows);
    onRows(rows.length);
  }
  await file.finish();
  await checkAlone(request);
  await publishFile(draft, path);
}

/** Removes what a crash left. */
async function removeDrafts(folder: string): Promise<void> {
  for (const name of (await readdir(folder)).filter(isDraft)) await rm(join(folder, name), { force: true });
}

/** Removes the files of months without rows, and the single file of a version that did not partition the table. */
async function removeOtherFiles(table: Exportable, parts: readonly Part[], { folder, format }: ExportRequest) {
  if (table.month === null) return;
  await rm(join(folder, `${table.name}.${format.extension}`), { force: true });
  const names = new Set(parts.map(({ name }) => `month=${name}`));
  const present = await readdir(join(folder, table.name)).catch(() => [] as string[]);
  for (const name of present.filter((each) => each.startsWith('month=') && !names.has(each))) {
    await rm(join(folder, table.name, name), { recursive: true });
  }
}
