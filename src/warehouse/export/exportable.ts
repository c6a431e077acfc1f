// The views and tables that can be exported: those that BI reads. Large tables are partitioned by month, so that a later
// export writes only the months that changed.
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
  /** Sort order of the rows. */
  readonly key: readonly string[];
  /** Column with the last change of a row; null for none. */
  readonly changed: string | null;
  /** Column whose month partitions the table; null if it is one part. */
  readonly month: string | null;
}

/** Control tables with history of the service's data. The other control tables are for operations. */
const HISTORY_TABLES = ['status_change', 'daily_summary_revision'];

const isForBi = (table: Table): boolean =>
  table.kind === 'base' || HISTORY_TABLES.includes(table.name) || lookups.some((lookup) => lookup.table === table);

const exportedTables = tables.filter(isForBi).map(({ name, columns, key, kind, partitionBy }) => ({
  name,
  columns,
  key,
  changed: kind === 'base' ? '_changed_at' : null,
  month: partitionBy,
}));

/** Views have no time of change, so they are written every time. */
const exportedViews = views.map(({ name, columns, key }) => ({ name, columns, key, changed: null, month: null }));

export const exportables: readonly Exportable[] = [...exportedViews, ...exportedTables];
