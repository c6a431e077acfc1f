// What can be exported: the views and tables that BI reads. Large facts are divided by month, so that a later export writes
// only the months that changed.
import { tables } from '../schema/catalog.ts';
import { lookups } from '../schema/lookups.ts';
import type { Table } from '../schema/table.ts';
import type { ViewColumnType } from '../schema/view.ts';
import { views } from '../schema/view-catalog.ts';

export interface ExportColumn {
  readonly name: string;
  readonly type: ViewColumnType;
}

export interface Exportable {
  readonly name: string;
  readonly columns: readonly ExportColumn[];
  /** Order of the rows. */
  readonly key: readonly string[];
  /** Column that tells when a row last changed; null where nothing does. */
  readonly changed: string | null;
  /** Column whose month divides it; null where it is one part. */
  readonly month: string | null;
}

/** Our own tables that tell about the service's data; the others are for operating. */
const TOLD = ['status_change', 'daily_summary_revision'];

const isRead = (table: Table): boolean =>
  table.kind === 'base' || TOLD.includes(table.name) || lookups.some((lookup) => lookup.table === table);

const CHANGED = '_changed_at';

const tablesRead = tables.filter(isRead).map((table) => ({
  name: table.name,
  columns: table.columns,
  key: table.key,
  changed: table.columns.some(({ name }) => name === CHANGED) ? CHANGED : null,
  month: table.partitionBy,
}));

/** Whether a view changed nobody can tell, so each is written every time. */
const viewsRead = views.map(({ name, columns, key }) => ({ name, columns, key, changed: null, month: null }));

export const exportables: readonly Exportable[] = [...viewsRead, ...tablesRead];
