// The ordered list of changes that a declaration alone cannot express: renames, splits, backfills. A new table,
// column or index needs none, it is added from its declaration. Entries are never edited once released.
import type { Knex } from 'knex';
import type { Ddl } from './engine.ts';
import { keyAgentDigests } from './migrations/key-agent-digests.ts';
import { returnKey } from './migrations/return-key.ts';

export interface Migration {
  /** Date and words, as in `2026-12-01 split address`; unique for ever. */
  name: string;
  /** `sql` is the transaction of the upgrade; `engine` says how the engine makes what is declared. */
  up(sql: Knex, engine: Ddl): Promise<void>;
}

export const migrations: readonly Migration[] = [keyAgentDigests, returnKey];
