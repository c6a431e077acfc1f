// roadbook export: tables and views as files for BI. A further export into the same folder writes only the changes.
import { type Command, Option } from 'commander';
import { suggest } from '../core/text/near-word.ts';
import { isHeld, takeWhenFree } from '../warehouse/control/leases.ts';
import { csv } from '../warehouse/export/csv-format.ts';
import { type ExportedTable, exportTables } from '../warehouse/export/export.ts';
import { type Exportable, exportables } from '../warehouse/export/exportable.ts';
import { parquet } from '../warehouse/export/parquet-format.ts';
import { defineCommand, print, say, sayWaiting, usageError, withApp } from './command.ts';
import { createProgressBar } from './output/progress-bar.ts';
import { fieldTable } from './output/text-table.ts';

const FORMATS = { parquet, csv };

interface ExportOptions {
  format: keyof typeof FORMATS;
  out: string;
  table: string[];
  full: boolean;
}

export const define = (command: Command): Command =>
  defineCommand<ExportOptions>(command, {
    options: (command) =>
      command
        .addOption(
          new Option('--format <format>', 'format of the files').choices(Object.keys(FORMATS)).makeOptionMandatory(),
        )
        .requiredOption('--out <folder>', 'folder to write to')
        .option('--table <name...>', 'only these tables or views', [])
        .option('--full', 'write everything, changed or not', false),
    action: withApp(async (app, _args, { json, format, out, table, full }) => {
      const bar = createProgressBar('export', app.clock, 'rows');
      const what = chosen(table);
      // Stored rows are rewritten to the current privacy policy first; exported files cannot be rewritten later.
      await app.privacy();
      const held = await takeWhenFree(await app.leases(), 'export to files', {
        clock: app.clock,
        onWait: sayWaiting('export'),
      });
      const engine = await app.warehouse();
      const written = await exportTables(engine, {
        folder: out,
        format: FORMATS[format],
        what,
        nowMs: app.clock.now(),
        full,
        isAlone: () => engine.read((sql) => isHeld(sql, held)),
        onProgress: bar.update,
      }).finally(() => held.release());
      bar.end();
      print(json ? JSON.stringify({ folder: out, format, tables: written }, null, 2) : describe(written));
      if (!json) say(`Written to ${out}.`);
    }),
  });

function chosen(names: readonly string[]): readonly Exportable[] {
  if (names.length === 0) return exportables;
  return names.map((name) => {
    const found = exportables.find((each) => each.name === name);
    if (found !== undefined) return found;
    const names = exportables.map((each) => each.name);
    throw usageError(`There is no table or view ${name} to export`, suggest(name, names));
  });
}

const describe = (written: readonly ExportedTable[]): string =>
  fieldTable({ table: 'table', rows: 'rows', 'files written': 'written', unchanged: 'kept' }, written);
