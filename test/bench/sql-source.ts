// How much memory the `sql` source takes to read a large feed, in a process that does only this: rows of SQLite and of
// a real PostgreSQL, ten a plan. Run with: node test/bench/sql-source.ts [rows]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres, stopPostgres } from '../support/databases/postgres.ts';
import { type Erp, feedOf, fillErp, readApart } from '../support/erp/large-feed.ts';
import { PRODUCT_FLAGS } from '../support/process/product-flags.ts';

const rows = Number(process.argv[2] ?? 300_000);

const folder = mkdtempSync(join(tmpdir(), 'roadbook-sql-'));
const erps: Erp[] = [
  { client: 'sqlite3', connection: { filename: join(folder, 'erp.db') } },
  { client: 'pg', connection: await (await startPostgres()).newDatabase() },
];
for (const erp of erps) {
  await fillErp(erp, rows);
  process.stdout.write(`${erp.client}: ${await readApart(feedOf(erp), PRODUCT_FLAGS)}`);
}
await stopPostgres();
rmSync(folder, { recursive: true, force: true });
