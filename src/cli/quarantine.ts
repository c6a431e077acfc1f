// roadbook quarantine list | show | retry: the records that did not fit, and why.
import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { Fatal } from '../core/errors.ts';
import { retryQuarantined } from '../sync/pull/records/quarantine-retry.ts';
import { type QuarantinedRecord, quarantined } from '../warehouse/control/quarantine.ts';
import { addCommand, print, say, withApp } from './command.ts';
import { EXIT } from './output/exit-codes.ts';
import { textTable } from './output/text-table.ts';

interface Filter {
  job?: string;
  table?: string;
}

const SHOWN = 100;
const MOST_RETRIED = 100_000;

const filterOptions = (command: Command): Command =>
  command.option('--job <name>', 'of this job only').option('--table <name>', 'of this table only');

export function fillQuarantine(parent: Command): void {
  addCommand<Filter>(parent, {
    usage: 'list',
    summary: 'the newest of them, with their reasons',
    options: filterOptions,
    action: withApp(async (app, _args, { json, job, table }) => {
      const rows = await quarantined(await app.warehouse(), { job, table }, SHOWN);
      print(json ? JSON.stringify(rows.map(opened), null, 2) : show(rows));
      return EXIT.ok;
    }),
  });
  addCommand(parent, {
    usage: 'show <id>',
    summary: 'one of them whole; the start of its id is enough',
    action: withApp(async (app, [id = ''], { json }) => {
      const [row] = await quarantined(await app.warehouse(), { id }, 1);
      if (row === undefined) throw noSuch(id);
      print(json ? JSON.stringify(opened(row), null, 2) : showOne(row));
      return EXIT.ok;
    }),
  });
  addCommand<Filter>(parent, {
    usage: 'retry [id]',
    summary: 'loads those that fit now',
    options: filterOptions,
    action: withApp(async (app, [id], { json, job, table }) => {
      const engine = await app.warehouse();
      const rows = await quarantined(engine, { job, table, id }, MOST_RETRIED);
      if (id !== undefined && rows.length === 0) throw noSuch(id);
      const results = await retryQuarantined(rows, app.jobs, randomUUID(), {
        ...app,
        engine,
        privacy: await app.privacy(),
      });
      const loaded = results.filter((result) => result.loaded).length;
      if (json) print(JSON.stringify({ tried: results.length, loaded, results }, null, 2));
      else {
        for (const { id, reason } of results.filter((result) => !result.loaded))
          print(`${id.slice(0, 8)}  ${reason}`);
        say(`${loaded} of ${results.length} loaded.`);
      }
      return loaded === results.length ? EXIT.ok : EXIT.partial;
    }),
  });
}

const noSuch = (id: string): Fatal =>
  new Fatal(`Nothing in quarantine has the id ${id}`, {
    code: 'usage',
    hint: 'see `roadbook quarantine list`',
  });

const opened = (row: QuarantinedRecord) => ({ ...row, payload: JSON.parse(row.payload) as unknown });

const show = (rows: readonly QuarantinedRecord[]): string =>
  rows.length === 0
    ? 'Nothing is in quarantine.'
    : textTable(
        ['id', 'table', 'key', 'times', 'last seen', 'reason'],
        rows.map((row) => [
          row.id.slice(0, 8),
          row.table_name,
          row.record_key,
          row.times,
          row.last_seen_at,
          row.reason,
        ]),
      );

const showOne = (row: QuarantinedRecord): string =>
  [
    ...Object.entries(row)
      .filter(([name]) => name !== 'payload')
      .map(([name, value]) => `${name}: ${value ?? '-'}`),
    JSON.stringify(JSON.parse(row.payload), null, 2),
  ].join('\n');
