// Every table there is: the declarations in tables/, each found by being there, and the lookup tables.
import { readdirSync } from 'node:fs';
import { lookups } from './lookups.ts';
import type { Table } from './table.ts';

const folder = new URL('./tables/', import.meta.url);

const isTable = (value: unknown): value is Table =>
  typeof value === 'object' && value !== null && 'columns' in value && 'key' in value;

async function declaredTables(): Promise<Table[]> {
  const files = readdirSync(folder).filter((file) => file.endsWith('.ts'));
  const modules = await Promise.all(files.map((file) => import(new URL(file, folder).href)));
  return modules.flatMap((module) => Object.values(module).filter(isTable));
}

/** All tables, by name. */
export const tables: readonly Table[] = [
  ...(await declaredTables()),
  ...lookups.map(({ table }) => table),
].sort((a, b) => (a.name < b.name ? -1 : 1));

/** The tables that hold the service's records. */
export const baseTables: readonly Table[] = tables.filter(({ kind }) => kind === 'base');
