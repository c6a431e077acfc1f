// A BI view is declared once, as data, for the DDL of every engine and for the dictionary. A column has a meaning and an
// expression. If the expression is just a table column, source and privacy come from that column.
import type { Dialect } from './dialect.ts';
import type { ColumnType, Table } from './table.ts';

/** `local` is local time in the configured zone, stored without a zone. */
export type ViewColumnType = ColumnType | 'local';

/** SQL for every engine, or a function of the engine's dialect. */
export type Fragment = string | ((dialect: Dialect) => string);

export interface ViewColumnDraft {
  readonly type: ViewColumnType;
  /** One sentence for the data dictionary. */
  readonly meaning: string;
  readonly sql: Fragment;
}

export interface ViewColumn extends ViewColumnDraft {
  readonly name: string;
  /** `table.column` if the column is shown unchanged; null if it is computed. */
  readonly source: string | null;
  readonly personal: boolean;
}

export interface View {
  readonly name: string;
  readonly kind: 'view';
  readonly meaning: string;
  /** Columns that together are unique. */
  readonly key: readonly string[];
  readonly columns: readonly ViewColumn[];
  /** The query after the column list: from, joins, conditions. */
  readonly from: Fragment;
}

interface ViewDraft extends Omit<View, 'kind' | 'columns'> {
  /** The tables by their alias in `from` and in the columns. */
  tables: Readonly<Record<string, Table>>;
  columns: Readonly<Record<string, ViewColumnDraft>>;
}

const column =
  (type: ViewColumnType) =>
  (meaning: string, sql: Fragment): ViewColumnDraft => ({ type, meaning, sql });

export const integer = column('integer');
export const real = column('real');
export const text = column('text');
export const boolean = column('boolean');
export const instant = column('instant');
export const local = column('local');
export const date = column('date');

export const view = ({ tables, columns, ...draft }: ViewDraft): View => ({
  ...draft,
  kind: 'view',
  columns: Object.entries(columns).map(([name, own]) => ({ name, ...own, ...sourceOf(own, tables) })),
});

const PLAIN_COLUMN = /^(\w+)\."?(\w+)"?$/;

function sourceOf({ sql }: ViewColumnDraft, tables: ViewDraft['tables']) {
  const [, alias = '', name = ''] = (typeof sql === 'string' && PLAIN_COLUMN.exec(sql)) || [];
  const table = tables[alias];
  if (table === undefined) return { source: null, personal: false };
  const found = table.columns.find((each) => each.name === name);
  if (found === undefined) throw new TypeError(`${table.name} has no column ${name}`);
  return { source: `${table.name}.${name}`, personal: found.personal };
}

export function viewQuery({ columns, from }: View, dialect: Dialect): string {
  const sqlOf = (fragment: Fragment): string => (typeof fragment === 'string' ? fragment : fragment(dialect));
  const list = columns.map(({ name, sql }) => `  ${sqlOf(sql)} as "${name}"`);
  return `select\n${list.join(',\n')}\n${sqlOf(from).trim()}`;
}
