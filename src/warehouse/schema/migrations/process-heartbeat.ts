// Leases live as long as their process, so a lease has no heartbeat of its own. The old columns are dropped: a daemon of an
// earlier version would see their values stand still and free the leases of living processes.
import { syncLease } from '../../control/leases.ts';
import type { Migration } from './migration.ts';
import { rebuildTable } from './rebuild-table.ts';

export const processHeartbeat: Migration = {
  name: '2026-11-18 one heartbeat for each process',
  up: (sql, engine) => rebuildTable(sql, engine, syncLease),
};
