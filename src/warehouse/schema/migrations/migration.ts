// The type of a migration. The list of migrations is src/warehouse/schema/migrations.ts.
import type { Knex } from 'knex';
import type { Ddl } from '../../engine.ts';

export interface Migration {
  /** Date and description, as in `2026-12-01 split address`. Never reused. */
  name: string;
  /** `sql` is the transaction of the upgrade; `engine` creates declared tables. */
  up(sql: Knex, engine: Ddl): Promise<void>;
}
