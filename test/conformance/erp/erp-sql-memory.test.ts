// A large result of the `sql` source is read in a heap that could not hold it. The figures are those of
// test/bench/sql-source.ts.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import knex from 'knex';
import { expect, test } from 'vitest';
import { createManualClock } from '../../../src/core/time/manual-clock.ts';
import { openSource } from '../../../src/erp/sources.ts';
import { contextFor, NOW, temporaryFolder } from '../../support/erp/erp-benches.ts';
import { type Erp, feedOf, fillErp, readApart } from '../../support/erp/large-feed.ts';

const HEAP = ['--max-old-space-size=32', '--max-semi-space-size=2'];

test('60,000 rows of SQLite, whose driver would hold them all', { timeout: 120_000 }, async () => {
  const folder = temporaryFolder();
  try {
    const erp: Erp = { client: 'sqlite3', connection: { filename: join(folder, 'erp.db') } };
    await fillErp(erp, 60_000);
    expect(await readApart(feedOf(erp), HEAP)).toMatch(/^6000 plans of 60000 rows/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('an ERP on SQLite can write while its feed is read, and the read can be aborted', async () => {
  const folder = temporaryFolder();
  const connection = { filename: join(folder, 'erp.db') };
  const erp = knex({ client: 'sqlite3', connection, useNullAsDefault: true });
  const columns = ['title', 'latitude', 'longitude'];
  await erp.raw('create table shop (title text, latitude real, longitude real)');
  await erp.batchInsert(
    'shop',
    Array.from({ length: 2_500 }, (_, i) => ({ title: `Shop ${i}`, latitude: 1, longitude: 1 })),
    200,
  );
  const query = `select ${columns.join(', ')} from shop order by rowid;`;
  const settings = { source: 'sql', client: 'sqlite3', connection, query, mapping: {} } as const;
  const source = openSource(settings, contextFor(createManualClock(NOW), { kind: 'points_of_interest' }));
  try {
    for (let readings = 0; readings < 2; readings++) {
      const titles: string[] = [];
      for await (const { items } of source.read()) {
        titles.push(...items.map(({ externalCode }) => externalCode));
        await erp('shop').update({ latitude: 2 });
        if (readings === 0) break;
      }
      expect(titles).toEqual(Array.from({ length: readings === 0 ? 500 : 2_500 }, (_, i) => `Shop ${i}`));
    }
  } finally {
    await source.close();
    await erp.destroy();
    rmSync(folder, { recursive: true, force: true });
  }
});
