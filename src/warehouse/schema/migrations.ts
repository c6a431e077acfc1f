// The ordered list of changes that a declaration alone cannot express: renames, splits, backfills. A new table,
// column or index needs none, it is added from its declaration. Entries are never edited once released.
import { keyAgentDigests } from './migrations/key-agent-digests.ts';
import type { Migration } from './migrations/migration.ts';
import { processHeartbeat } from './migrations/process-heartbeat.ts';
import { rateColumns } from './migrations/rate-columns.ts';
import { returnKey } from './migrations/return-key.ts';
import { smallOutbox } from './migrations/small-outbox.ts';
import { unusedIndexes } from './migrations/unused-indexes.ts';

export const migrations: readonly Migration[] = [
  keyAgentDigests,
  returnKey,
  smallOutbox,
  unusedIndexes,
  rateColumns,
  processHeartbeat,
];
