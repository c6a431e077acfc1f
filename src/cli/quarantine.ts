// roadbook quarantine list | show | retry: the invalid records and their reasons.
import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { type RetryResult, retryQuarantined } from '../sync/pull/records/quarantine-retry.ts';
import { type QuarantinedRecord, quarantined } from '../warehouse/control/quarantine.ts';
import { addCommand, print, say, usageError, withApp } from './command.ts';
import { EXIT } from './output/exit-codes.ts';
import { fieldTable } from './output/text-table.ts';

interface Filter {
  job?: string;
  table?: string;
}

const MAX_SHOWN = 100;
const RETRIED_AT_ONCE = 1_000;

const filterOptions = (command: Command): Command =>
  command.option('--job <name>', 'only records of this job').option('--table <name>', 'only records of this table');

export function define(parent: Command): void {
  addCommand<Filter>(parent, {
    usage: 'list',
    summary: 'lists the newest records, with their reasons',
    options: filterOptions,
    action: withApp(async (app, _args, { json, job, table }) => {
      const found = await quarantined(await app.warehouse(), { job, table }, MAX_SHOWN + 1);
      const rows = found.slice(0, MAX_SHOWN);
      if (found.length > MAX_SHOWN) say(`Only the newest ${MAX_SHOWN} are listed. Try --job or --table.`);
      print(json ? JSON.stringify(rows.map(withPayload), null, 2) : show(rows));
    }),
  });
  addCommand(parent, {
    usage: 'show <id>',
    summary: 'shows one complete record; the start of its id is enough',
    action: withApp(async (app, [id = ''], { json }) => {
      const [row, other] = await quarantined(await app.warehouse(), { id }, 2);
      if (row === undefined) throw noSuch(id);
      if (other !== undefined) throw usageError(`The ids of several records begin with ${id}`, 'give more of the id');
      print(json ? JSON.stringify(withPayload(row), null, 2) : showOne(row));
    }),
  });
  addCommand<Filter>(parent, {
    usage: 'retry [id]',
    summary: 'loads the records that are valid now',
    options: filterOptions,
    action: withApp(async (app, [id], { json, job, table }) => {
      const engine = await app.warehouse();
      const dependencies = { ...app, engine, privacy: await app.privacy() };
      const runId = randomUUID();
      const results: RetryResult[] = [];
      for (let after: QuarantinedRecord | undefined; ; ) {
        const rows = await quarantined(engine, { job, table, id, after }, RETRIED_AT_ONCE);
        after = rows.at(-1);
        if (after === undefined) break;
        results.push(...(await retryQuarantined(rows, app.jobs, runId, dependencies)));
      }
      if (id !== undefined && results.length === 0) throw noSuch(id);
      const loaded = results.filter((result) => result.loaded).length;
      if (json) print(JSON.stringify({ tried: results.length, loaded, results }, null, 2));
      else {
        for (const { id, reason } of results.filter((result) => !result.loaded)) print(`${id.slice(0, 8)}  ${reason}`);
        say(`${loaded} of ${results.length} loaded.`);
      }
      return loaded === results.length ? EXIT.ok : EXIT.partial;
    }),
  });
}

const noSuch = (id: string): Error =>
  usageError(`There is no quarantined record with the id ${id}`, 'see `roadbook quarantine list`');

const withPayload = (row: QuarantinedRecord) => ({ ...row, payload: JSON.parse(row.payload) as unknown });

const show = (rows: readonly QuarantinedRecord[]): string =>
  rows.length === 0
    ? 'There are no records in quarantine.'
    : fieldTable(
        {
          id: 'id',
          table: 'table_name',
          key: 'record_key',
          times: 'times',
          'last seen': 'last_seen_at',
          reason: 'reason',
        },
        rows.map((row) => ({ ...row, id: row.id.slice(0, 8) })),
      );

const showOne = (row: QuarantinedRecord): string =>
  [
    ...Object.entries(row)
      .filter(([name]) => name !== 'payload')
      .map(([name, value]) => `${name}: ${value ?? '-'}`),
    JSON.stringify(JSON.parse(row.payload), null, 2),
  ].join('\n');
