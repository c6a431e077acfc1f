// All tables: every declaration in tables/, outbox/ and control/, found by listing those folders, and the lookup tables.
// Files in those folders must not import this file, because it waits for their imports.
import { readdirSync } from 'node:fs';
import { lookups } from './lookups.ts';
import type { Table } from './table.ts';

/** The declarations that the files of a folder export, by name. */
export async function declaredIn<T extends { name: string }>(path: string, is: (value: object) => value is T) {
  const folder = new URL(path, import.meta.url);
  const files = readdirSync(folder).filter((file) => file.endsWith('.ts'));
  const modules = await Promise.all(files.map((file) => import(new URL(file, folder).href)));
  const exported = modules.flatMap((module) => Object.values<unknown>(module));
  return exported
    .filter((value) => typeof value === 'object' && value !== null)
    .filter(is)
    .sort(byName);
}

const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1);

const isTable = (value: object): value is Table => 'columns' in value && 'key' in value;

const declared = await Promise.all(
  ['../tables/', '../outbox/', '../control/'].map((path) => declaredIn(path, isTable)),
);

export const tables: readonly Table[] = [...declared.flat(), ...lookups.map(({ table }) => table)].sort(byName);

/** The tables that hold the service's records. */
export const baseTables: readonly Table[] = tables.filter(({ kind }) => kind === 'base');
