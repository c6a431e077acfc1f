// All views: every declaration in views/, found by listing that folder.
import { readdirSync } from 'node:fs';
import type { View } from './view.ts';

const folder = new URL('../views/', import.meta.url);

const isView = (value: unknown): value is View =>
  typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'view';

async function declaredViews(): Promise<View[]> {
  const files = readdirSync(folder).filter((file) => file.endsWith('.ts'));
  const modules = await Promise.all(files.map((file) => import(new URL(file, folder).href)));
  return modules.flatMap((module) => Object.values(module).filter(isView));
}

/** All views, by name. */
export const views: readonly View[] = (await declaredViews()).sort((a, b) => (a.name < b.name ? -1 : 1));
