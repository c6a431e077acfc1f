// roadbook backup: a consistent copy of the warehouse while the daemon runs. The file appears only when it is complete.
import { existsSync } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Command } from 'commander';
import { makeFolder, publishFile } from '../core/atomic-file.ts';
import { defineCommand, print, usageError, withApp } from './command.ts';
import { EXIT } from './output/exit-codes.ts';

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
      await rm(draft, { force: true });
      await engine.backup(draft);
      await publishFile(draft, out);
      const { size } = await stat(out);
      print(json ? JSON.stringify({ file: out, bytes: size }, null, 2) : `${out}: ${megabytes(size)} MB`);
      return EXIT.ok;
    }),
  });

const megabytes = (bytes: number): string => (bytes / 1_000_000).toFixed(1);
