// The data dictionary as data, derived from the declarations: every table and view, and every column with its type, its
// meaning, its source and whether it holds personal data.
import { tables } from './catalog.ts';
import { type Column, recordColumns, type Table } from './table.ts';
import type { View, ViewColumn, ViewColumnType } from './view.ts';
import { views } from './view-catalog.ts';

export interface DictionaryColumn {
  name: string;
  type: ViewColumnType;
  meaning: string;
  is_key: boolean;
  is_required: boolean;
  /** Field of the service's record, or column behind a view's column; null if Roadbook computes it. */
  source: string | null;
  is_personal: boolean;
}

export interface DictionaryEntry {
  name: string;
  kind: 'base' | 'control' | 'view';
  meaning: string;
  /** The call of the service that fills the table; null if there is none. */
  call: string | null;
  columns: DictionaryColumn[];
}

/** Views first, because BI should use them first; then tables. Both by name. */
export const dictionary = (): DictionaryEntry[] =>
  [...views, ...tables].map((declared) => ({
    name: declared.name,
    kind: declared.kind,
    meaning: declared.meaning,
    call: declared.kind === 'view' ? null : declared.source,
    columns: declared.columns.map((column) => ({
      name: column.name,
      type: column.type,
      meaning: column.meaning,
      is_key: declared.key.includes(column.name),
      is_required: 'required' in column && column.required,
      source: sourceOf(declared, column),
      is_personal: column.personal,
    })),
  }));

function sourceOf(declared: Table | View, column: Column | ViewColumn): string | null {
  if ('source' in column) return column.source;
  if (declared.kind !== 'base' || column.added || !recordColumns(declared).includes(column)) return null;
  return [...(declared.list === null ? [] : [declared.list]), ...column.from].join('.');
}
