// What an edit changes, by the names that the file uses, and what of it a running daemon cannot take over.
import type { Config } from './schema.ts';

/** Dotted names, as `service.password` or `jobs.pull-events`, in the order of the sections. */
export function configChanges(old: Config, next: Config): string[] {
  return (Object.keys(next) as (keyof Config)[]).flatMap((section) => {
    const [before, after] = [old[section], next[section]];
    if (isSame(before, after)) return [];
    if (typeof before !== 'object' || typeof after !== 'object') return [section];
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...keys]
      .filter((key) => !isSame(settingOf(before, key), settingOf(after, key)))
      .map((key) => `${section}.${fileName(key)}`);
  });
}

export interface RestartNeed {
  path: string[];
  message: string;
}

const IMAGES = 'warehouse.images';

/** The changes that only a restart can bring; undefined where there are none. */
export function restartNeeded(old: Config, next: Config): RestartNeed | undefined {
  const changed = configChanges(old, next).find((name) => name.startsWith('warehouse.') && name !== IMAGES);
  if (changed !== undefined) {
    return { path: changed.split('.'), message: 'another warehouse needs a restart' };
  }
  // Runs under way would go on storing what the rewrite has just taken away.
  if (!isSame(old.privacy, next.privacy)) {
    return { path: ['privacy'], message: 'another policy needs a restart, which rewrites what is stored' };
  }
  if (!isSame(old.scale, next.scale)) {
    return { path: ['scale'], message: 'another dispatcher or number of workers needs a restart' };
  }
  // A file that lost its service section would otherwise have the plans of the day pushed to a simulated service.
  const sandbox = (config: Config): boolean => config.service.baseUrl === 'sandbox';
  if (sandbox(old) === sandbox(next)) return undefined;
  return {
    path: ['service', 'base_url'],
    message: 'going to or from the built-in sandbox needs a restart',
  };
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

const settingOf = (section: object, key: string): unknown => (section as Record<string, unknown>)[key];

/** A duration bears its unit in the code and not in the file. */
const fileName = (key: string): string =>
  key.replace(/Ms$/, '').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
