// The ordered list of changes that a declaration alone cannot express: renames, splits, backfills. A new table,
// column or index needs none, it is added from its declaration. Entries are never edited once released.
import type { Knex } from 'knex';
import { keyAgentDigests } from './migrations/key-agent-digests.ts';

export interface Migration {
  /** Date and words, as in `2026-12-01 split address`; unique for ever. */
  name: string;
  up(sql: Knex): Promise<void>;
}

export const migrations: readonly Migration[] = [keyAgentDigests];
