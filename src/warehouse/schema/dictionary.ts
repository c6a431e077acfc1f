// The data dictionary as data, derived from the declarations: every table and view, and every column with its type, its
// meaning, its source and whether it holds personal data.
import { tables } from './catalog.ts';
import { type Column, recordColumns, type Table } from './table.ts';
import type { View, ViewColumn, ViewColumnType } from './view.ts';
import { views } from './view-catalog.ts';

export type DictionaryEntry = ReturnType<typeof dictionary>[number];
export type DictionaryColumn = DictionaryEntry['columns'][number];

/** Views first, because BI should use them first; then tables. Both by name. */
export const dictionary = () =>
  [...views, ...tables].map((declared) => ({
    name: declared.name,
    kind: declared.kind,
    meaning: declared.meaning,
    /** The call of the service that fills the table; null if there is none. */
    call: declared.kind === 'view' ? null : declared.source,
    columns: declared.columns.map((column) => ({
      name: column.name,
      type: column.type as ViewColumnType,
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
