// All tables: every declaration in tables/, outbox/ and control/, found by listing those folders, and the lookup tables.
// Files in those folders must not import this file, because it waits for their imports.
import { readdirSync } from 'node:fs';
import { lookups } from './lookups.ts';
import type { Table } from './table.ts';

const folders = ['../tables/', '../outbox/', '../control/'].map((path) => new URL(path, import.meta.url));

const isTable = (value: unknown): value is Table =>
  typeof value === 'object' && value !== null && 'columns' in value && 'key' in value;

async function declaredTables(): Promise<Table[]> {
  const files = folders.flatMap((folder) =>
    readdirSync(folder).flatMap((file) => (file.endsWith('.ts') ? [new URL(file, folder).href] : [])),
  );
  const modules = await Promise.all(files.map((file) => import(file)));
  return modules.flatMap((module) => Object.values(module).filter(isTable));
}

/** All tables, by name. */
export const tables: readonly Table[] = [...(await declaredTables()), ...lookups.map(({ table }) => table)].sort(
  (a, b) => (a.name < b.name ? -1 : 1),
);

/** The tables that hold the service's records. */
export const baseTables: readonly Table[] = tables.filter(({ kind }) => kind === 'base');
