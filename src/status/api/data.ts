// The dictionary of the tables and views, and the invalid records in quarantine with personal data masked.
import { Hono } from 'hono';
import { mapLeaves } from '../../core/json.ts';
import { quarantined } from '../../warehouse/control/quarantine.ts';
import { tableDrift, verifications } from '../../warehouse/control/verification.ts';
import { countRows } from '../../warehouse/queries/row-counts.ts';
import { tables } from '../../warehouse/schema/catalog.ts';
import { dictionary } from '../../warehouse/schema/dictionary.ts';
import type { Table } from '../../warehouse/schema/table.ts';
import type { StatusServerDependencies } from '../server/dependencies.ts';
import { PAGE_ROWS, page, paged, query, text } from './page-query.ts';

export function data({ engine, redactor }: StatusServerDependencies): Hono {
  const app = new Hono();

  app.get('/dictionary', (c) => c.json({ tables: dictionary() }));

  app.get('/verification', async (c) => {
    const params = query(c, { page, table: text });
    const rows = await verifications(engine, params.table, PAGE_ROWS + 1, params.page * PAGE_ROWS);
    return c.json({ tables: await tableDrift(engine), ...paged(rows, params.page) });
  });

  app.get('/quarantine', async (c) => {
    const params = query(c, { page, table: text });
    const found = await quarantined(engine, { table: params.table }, PAGE_ROWS + 1, params.page * PAGE_ROWS);
    const rows = found.map(({ payload, ...row }) => {
      const table = tables.find(({ name }) => name === row.table_name);
      return {
        ...row,
        record_key: maskedKey(row.record_key, table),
        reason: redactor.redact(row.reason),
        payload: maskedRecord(JSON.parse(payload), table),
      };
    });
    return c.json({ total: await countRows(engine, 'sync_quarantine'), ...paged(rows, params.page) });
  });
  return app;
}

const hidden = (value: unknown): string =>
  typeof value === 'string' ? `[hidden: text of ${value.length}]` : `[hidden: ${typeof value}]`;

/**
 * A record for display without personal data: only values that the table declares as not personal are shown. An
 * undeclared field may hold anything, so only its type is shown.
 */
export function maskedRecord(record: unknown, table: Table | undefined): unknown {
  const shown = new Set(
    (table?.columns ?? [])
      .filter(({ personal, type }) => !personal && type !== 'json')
      .flatMap(({ from, alias }) => [from, alias ?? from].map((path) => path.join('.'))),
  );
  return mapLeaves(record, (value, path) => (value === null || shown.has(path.join('.')) ? value : hidden(value)));
}

/** The key of a record for display. If any part of the key may name a person, all of it is hidden. */
function maskedKey(key: string | null, table: Table | undefined): string | null {
  const isHarmless = table?.key.every((name) => table.columns.some((each) => each.name === name && !each.personal));
  return key === null || isHarmless === true ? key : hidden(key);
}
