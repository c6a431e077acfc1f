// The tables and views and what they mean, and the records that did not fit, with people's data masked.
import { Hono } from 'hono';
import { tables } from '../../warehouse/catalog.ts';
import { dictionary } from '../../warehouse/dictionary.ts';
import { quarantined } from '../../warehouse/quarantine.ts';
import { countRows } from '../../warehouse/row-counts.ts';
import { maskedKey, maskedRecord } from '../masked-record.ts';
import type { StatusServerParts } from '../server-parts.ts';
import { PAGE_ROWS, page, paged, query, text } from './page-query.ts';

export function data({ engine, redactor }: Pick<StatusServerParts, 'engine' | 'redactor'>): Hono {
  const app = new Hono();

  app.get('/dictionary', (c) => c.json({ tables: dictionary() }));

  app.get('/quarantine', async (c) => {
    const asked = query(c, { page, table: text });
    const found = await quarantined(engine, { table: asked.table }, PAGE_ROWS + 1, asked.page * PAGE_ROWS);
    const rows = found.map(({ payload, ...row }) => {
      const table = tables.find(({ name }) => name === row.table_name);
      return {
        ...row,
        record_key: maskedKey(row.record_key, table),
        reason: redactor.redact(row.reason),
        payload: maskedRecord(JSON.parse(payload), table),
      };
    });
    return c.json({ total: await countRows(engine, 'sync_quarantine'), ...paged(rows, asked.page) });
  });
  return app;
}
