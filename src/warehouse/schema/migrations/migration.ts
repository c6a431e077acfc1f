// What a migration is; the list of them is src/warehouse/schema/migrations.ts.
import type { Knex } from 'knex';
import type { Ddl } from '../../engine.ts';

export interface Migration {
  /** Date and words, as in `2026-12-01 split address`; unique for ever. */
  name: string;
  /** `sql` is the transaction of the upgrade; `engine` says how the engine makes what is declared. */
  up(sql: Knex, engine: Ddl): Promise<void>;
}
