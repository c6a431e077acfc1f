// roadbook backup: a consistent copy of the warehouse while the daemon runs. The file appears only when it is complete.
import { existsSync } from 'node:fs';
import { realpath, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Command } from 'commander';
import { makeFolder, publishFile } from '../core/atomic-file.ts';
import { defineCommand, print, usageError, withApp } from './command.ts';

export const define = (command: Command): Command =>
  defineCommand<{ out: string; force: boolean }>(command, {
    options: (command) =>
      command.requiredOption('--out <file>', 'file to write').option('--force', 'replace an existing file', false),
    action: withApp(async (app, _args, { json, out, force }) => {
      if (existsSync(out) && !force) throw usageError(`${out} already exists`, 'name another file, or add --force');
      await app.privacy();
      const engine = await app.warehouse();
      await makeFolder(dirname(out));
      const draft = `${out}.tmp`;
      const own = await filesOf(app.loaded.config.warehouse.file);
      if (own.includes(await realPath(out)) || own.includes(await realPath(draft)))
        throw usageError(`${out} would replace the warehouse itself`, 'name another file');
      await rm(draft, { force: true });
      try {
        await engine.backup(draft);
        await publishFile(draft, out);
      } catch (error) {
        await rm(draft, { force: true });
        throw error;
      }
      const { size } = await stat(out);
      print(json ? JSON.stringify({ file: out, bytes: size }, null, 2) : `${out}: ${megabytes(size)} MB`);
    }),
  });

/** The files of a SQLite warehouse. */
async function filesOf(file: unknown): Promise<string[]> {
  if (typeof file !== 'string') return [];
  const path = await realPath(file);
  return [path, `${path}-wal`, `${path}-shm`];
}

/** The last name need not exist. */
const realPath = async (path: string): Promise<string> =>
  realpath(path).catch(async () => join(await realpath(dirname(path)), basename(path)));

const megabytes = (bytes: number): string => (bytes / 1_000_000).toFixed(1);
