// sync_rate has other columns. Its content is worth nothing after a moment, so the table is made anew from its declaration.
import type { Migration } from './migration.ts';

export const rateColumns: Migration = {
  name: '2026-11-17 new columns of the rate',
  async up(sql) {
    await sql.raw('drop table if exists sync_rate');
  },
};
