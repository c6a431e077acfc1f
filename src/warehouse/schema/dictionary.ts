// The data dictionary as data, derived from the declarations: every table and view, and every column with its type, its
// meaning, its source and whether it holds personal data.
import { tables } from './catalog.ts';
import { type Column, recordColumns, type Table } from './table.ts';
import type { View, ViewColumnType } from './view.ts';
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
export const dictionary = (): DictionaryEntry[] => [...views.map(ofView), ...tables.map(ofTable)];

const ofView = ({ name, kind, meaning, key, columns }: View): DictionaryEntry => ({
  name,
  kind,
  meaning,
  call: null,
  columns: columns.map((column) => ({
    name: column.name,
    type: column.type,
    meaning: column.meaning,
    is_key: key.includes(column.name),
    is_required: false,
    source: column.source,
    is_personal: column.personal,
  })),
});

const ofTable = (table: Table): DictionaryEntry => ({
  name: table.name,
  kind: table.kind,
  meaning: table.meaning,
  call: table.source,
  columns: table.columns.map((column) => ({
    name: column.name,
    type: column.type,
    meaning: column.meaning,
    is_key: table.key.includes(column.name),
    is_required: column.required,
    source: fieldOf(table, column),
    is_personal: column.personal,
  })),
});

function fieldOf(table: Table, column: Column): string | null {
  if (table.source === null || column.added || !recordColumns(table).includes(column)) return null;
  return [...(table.list === null ? [] : [table.list]), ...column.from].join('.');
}
