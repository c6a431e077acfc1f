// The layers of the source tree as data: what each folder may import. Any other import fails.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../../..');

/** Folder → folders it may import from, itself included. Imports run downwards only; siblings never import each other. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  'src/core': ['src/core'],
  'src/config': ['src/config', 'src/core'],
  'src/sandbox': ['src/sandbox', 'src/core'],
  'src/fleet': ['src/fleet', 'src/core'],
  'src/erp': ['src/erp', 'src/core'],
  'src/warehouse': ['src/warehouse', 'src/core'],
  'src/sync': ['src/sync', 'src/fleet', 'src/erp', 'src/warehouse', 'src/core'],
  'src/schedule': ['src/schedule', 'src/sync', 'src/fleet', 'src/erp', 'src/warehouse', 'src/core', 'src/config'],
  'src/status': [
    'src/status',
    'src/schedule',
    'src/sync',
    'src/fleet',
    'src/erp',
    'src/warehouse',
    'src/core',
    'src/config',
  ],
  'src/cli': [
    'src/cli',
    'src/app/app.ts',
    'src/status',
    'src/schedule',
    'src/sync',
    'src/sandbox',
    'src/erp',
    'src/warehouse',
    'src/config',
    'src/core',
    'package.json',
  ],
  'src/app/connections.ts': ['src/sync', 'src/fleet', 'src/erp', 'src/config', 'src/core'],
  'src/app/storage.ts': ['src/warehouse', 'src/config', 'src/core'],
  'src/app/app.ts': [
    'src/app/connections.ts',
    'src/app/storage.ts',
    'src/status',
    'src/schedule',
    'src/sync',
    'src/fleet',
    'src/erp',
    'src/warehouse',
    'src/sandbox',
    'src/config',
    'src/core',
  ],
  'src/main.ts': ['src/cli'],
  jobs: ['src/sync', 'src/fleet', 'src/warehouse', 'src/core'],
};

/** Packages that only one place may import. */
const PACKAGE_HOME: Record<string, readonly string[]> = {
  got: ['src/fleet', 'src/erp', 'src/status/alerts/webhook.ts'],
  knex: ['src/warehouse', 'src/erp'],
  sqlite3: ['src/warehouse/engines/sqlite/engine.ts'],
  'pg-boss': ['src/sync/dispatch/pg-boss.ts', 'src/sync/dispatch/worker.ts'],
  commander: ['src/cli'],
  pino: ['src/core/log.ts'],
  'pino-pretty': ['src/core/log-lines.ts'],
  'p-retry': ['src/core/retry/retry.ts'],
  yaml: ['src/config', 'src/cli/output'],
  hono: ['src/status', 'src/sandbox'],
  'prom-client': ['src/status'],
};

/** Code that a declaration may not contain. */
const FORBIDDEN_IN_JOBS = /\bDate\.now\b|\bnew Date\b|\bprocess\.|\bfetch\(|from '(?:got|knex|node:[^']*)'/;

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\b[^'";]*?from\s*'([^']+)'|\bimport\('([^']+)'\)|(?:^|\n)import\s*'([^']+)'/g;

function importsOf(file: string): string[] {
  const text = readFileSync(join(ROOT, file), 'utf8');
  return [...text.matchAll(IMPORT)].map((match) => match[1] ?? match[2] ?? match[3] ?? '');
}

const isIn = (path: string, place: string): boolean => path === place || path.startsWith(`${place}/`);

function filesIn(place: string): string[] {
  if (place.endsWith('.ts')) return [place];
  try {
    return readdirSync(join(ROOT, place), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(place, name));
  } catch {
    return [];
  }
}

const sources = Object.keys(MAY_IMPORT).flatMap((place) => filesIn(place).map((file) => ({ place, file })));

/** Folders that a module imports by listing them: their files may not import the module, since it waits for them. */
const READ_FOLDERS: Readonly<Record<string, readonly string[]>> = {
  'src/warehouse/schema/catalog.ts': ['tables', 'outbox', 'control'].map((name) => `src/warehouse/${name}`),
  'src/warehouse/schema/view-catalog.ts': ['src/warehouse/views'],
  'src/app/app.ts': ['jobs'],
};

describe('the layers', () => {
  it('cover every source file', () => {
    const all = [...filesIn('src'), ...filesIn('jobs')];
    expect(sources.map(({ file }) => file).sort()).toEqual(all.sort());
  });

  it('are imported downwards only', () => {
    const wrong = sources.flatMap(({ place, file }) =>
      importsOf(file)
        .filter((name) => name.startsWith('.'))
        .map((name) => relative(ROOT, resolve(ROOT, dirname(file), name)))
        .filter((target) => !MAY_IMPORT[place]!.some((allowed) => isIn(target, allowed)))
        .map((target) => `${file} imports ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  it('have no import cycle, types included', () => {
    const targets = new Map(
      sources.map(({ file }) => [
        file,
        importsOf(file)
          .filter((name) => name.startsWith('.'))
          .map((name) => relative(ROOT, resolve(ROOT, dirname(file), name)))
          .concat((READ_FOLDERS[file] ?? []).flatMap(filesIn)),
      ]),
    );
    const done = new Set<string>();
    const circles: string[] = [];
    function visit(file: string, path: readonly string[]): void {
      const from = path.indexOf(file);
      if (from >= 0) circles.push([...path.slice(from), file].join(' -> '));
      if (from >= 0 || done.has(file)) return;
      for (const target of targets.get(file) ?? []) visit(target, [...path, file]);
      done.add(file);
    }
    for (const file of targets.keys()) visit(file, []);
    expect(circles).toEqual([]);
  });

  it('keep each driver in its own place', () => {
    const wrong = sources.flatMap(({ file }) =>
      importsOf(file)
        .filter((name) => PACKAGE_HOME[name]?.some((home) => isIn(file, home)) === false)
        .map((name) => `${file} imports ${name}`),
    );
    expect(wrong).toEqual([]);
  });

  it('keep jobs declarative: no HTTP, SQL, clock or environment', () => {
    const wrong = filesIn('jobs').filter((file) => FORBIDDEN_IN_JOBS.test(readFileSync(join(ROOT, file), 'utf8')));
    expect(wrong).toEqual([]);
  });
});

it('helpers of the tests set no hook while they are loaded, which only the first test file of a worker would have', () => {
  const helpers = filesIn('test').filter((file) => !file.endsWith('.test.ts'));
  const wrong = helpers.filter((file) =>
    /^(?:before|after)(?:Each|All)\(/m.test(readFileSync(join(ROOT, file), 'utf8')),
  );
  expect(wrong).toEqual([]);
  expect(helpers).toContain('test/support/pull/rig.ts');
});
