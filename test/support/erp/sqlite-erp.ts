// A small ERP on SQLite with one table: a row an item, its code, its cells as JSON, and its state. Every acknowledgement
// is kept in order. A code in `rejecting` makes the database reject its acknowledgements.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Knex } from 'knex';
import { onTestFinished } from 'vitest';
import type { FeedSettings } from '../../../src/erp/sources.ts';
import { openDatabase } from '../process/workplace.ts';

export interface SqliteErp {
  database: Knex;
  feed: FeedSettings;
  /** Puts an item into the table, or changes it; the feed reads its `columns`. */
  give(code: string, cells: Record<string, unknown>): Promise<void>;
  /** The acknowledgements it received, in order. */
  acknowledgements(code?: string): Promise<{ code: string; state: string; message: string | null }[]>;
}

/** `columns`: the cells that the query gives. `offers`: which rows it gives. */
export async function makeSqliteErp(columns: readonly string[], offers = 'true'): Promise<SqliteErp> {
  const folder = mkdtempSync(join(tmpdir(), 'roadbook-erp-'));
  const filename = join(folder, 'erp.db');
  const database = openDatabase(filename);
  onTestFinished(async () => {
    await database.destroy();
    rmSync(folder, { recursive: true, force: true });
  });
  await database.raw('create table item (code text primary key, cells text, state text)');
  await database.raw('create table rejecting (code text primary key)');
  await database.raw('create table acknowledged (code text, state text, message text)');
  await database.raw(`create trigger rejects before insert on acknowledged
    when exists (select 1 from rejecting where code = new.code) begin select raise(abort, 'no'); end`);
  await database.raw(
    'create trigger state after insert on acknowledged begin update item set state = new.state where code = new.code; end',
  );
  const cells = columns.map((name) => `json_extract(cells, '$."${name}"') as "${name}"`);
  return {
    database,
    feed: {
      source: 'sql',
      client: 'sqlite3',
      connection: { filename },
      query: `select ${cells.join(', ')} from item where ${offers} order by code`,
      acknowledge: 'insert into acknowledged values (:external_code, :state, :message)',
      mapping: {},
    },
    async give(code, given) {
      const row = { code, cells: JSON.stringify(given) };
      await database('item').insert(row).onConflict('code').merge();
    },
    acknowledgements: (code) =>
      database('acknowledged')
        .where(code === undefined ? {} : { code })
        .orderBy('rowid'),
  };
}
