// What BI may read: views, records, code lists and history. The other control tables may hold personal data that waits to
// be sent or did not fit, and the session of the daemon.
import { lookups } from './lookups.ts';
import type { Table } from './table.ts';
import type { View } from './view.ts';

/** History of the service's data. */
const HISTORY_TABLES = ['status_change', 'daily_summary_revision'];
/** Days, and which periods and runs the data comes from. */
const OPEN_TABLES = [...HISTORY_TABLES, 'local_day', 'time_zone_offset', 'event_day', 'sync_run', 'sync_coverage'];

/** The tables that a BI model is made of. */
export const isForBi = (table: Table): boolean =>
  table.kind === 'base' || HISTORY_TABLES.includes(table.name) || lookups.some((lookup) => lookup.table === table);

export const mayBiRead = (declared: Table | View): boolean =>
  declared.kind === 'view' || isForBi(declared) || OPEN_TABLES.includes(declared.name);
