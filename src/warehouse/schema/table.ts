// A table is declared once, as data. The declaration drives the wire schema of its records, the row mapping, the DDL, the
// upsert and the dictionary.
import type { Policy } from '../../core/privacy-policy.ts';

export type ColumnType = 'integer' | 'real' | 'text' | 'boolean' | 'instant' | 'date' | 'json';

export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  /** One sentence for the data dictionary. */
  readonly meaning: string;
  /** Path of the field in the record; default: the name of the column. */
  readonly from: readonly string[];
  /** A second path where the record repeats the value, such as driver.id beside driver_id. */
  readonly alias?: readonly string[];
  /** Not a field of the service's record: the job or the loader adds the value. */
  readonly added: boolean;
  readonly personal: boolean;
  /** The default privacy policy; the configuration may set another. */
  readonly policy: Policy;
  readonly required: boolean;
  /** The service does not document the type: any value is valid, and values that do not fit stay in `extra`. */
  readonly undocumented: boolean;
  /** Describes the read, not the record: a row that differs only here counts as unchanged. */
  readonly ignoreInDiff: boolean;
  /** The SQL default of the column; absent for none. */
  readonly default?: number;
  /** The table whose `id` the column holds. After an unknown id, the job that pulls that table runs next. */
  readonly references?: Table;
}

/** What a declaration says of a column besides its name. Paths are dotted. */
export type ColumnDraft = Pick<Column, 'type' | 'meaning'> & ColumnOptions;

type ColumnOptions = Partial<Omit<Column, 'name' | 'type' | 'meaning' | 'from' | 'alias'>> & {
  from?: string;
  alias?: string;
};

const COLUMN_DEFAULTS = {
  added: false,
  personal: false,
  policy: 'keep',
  required: false,
  undocumented: false,
  ignoreInDiff: false,
} as const satisfies ColumnOptions;

const column =
  <Type extends ColumnType>(type: Type) =>
  <const Options extends ColumnOptions>(meaning: string, options?: Options) =>
    ({ type, meaning, ...options }) as ColumnDraft & { type: Type } & Options;

export const integer = column('integer');
export const real = column('real');
export const text = column('text');
export const boolean = column('boolean');
export const instant = column('instant');
export const date = column('date');
export const json = column('json');

/** An index over all rows, or over those that match `where`. */
export interface Index {
  readonly columns: readonly string[];
  /** SQL condition. A query has to repeat it word for word, or SQLite does not use the index. */
  readonly where?: string;
  /** Only queries use the index. It is created once the table has rows, because a first fill is faster without it. Default: false. */
  readonly afterFirstFill?: boolean;
}

export interface Table {
  readonly name: string;
  /** `base` tables hold the service's records and have the trailing columns. `control` tables are Roadbook's own. */
  readonly kind: 'base' | 'control';
  readonly meaning: string;
  /** The call of the service that fills the table; null if there is none. */
  readonly source: string | null;
  /** Path of the record list inside each element of the response; null if the elements themselves are the records. */
  readonly list: string | null;
  readonly key: readonly string[];
  readonly columns: readonly Column[];
  readonly indexes: readonly Index[];
  /** Column whose observed changes are recorded in `status_change`. */
  readonly history: string | null;
  /** Column that determines the age of a row for retention; null if rows are kept forever. */
  readonly retentionBy: string | null;
  /** The parent table, and the column that refers to the parent row. Rows are deleted with their parent. */
  readonly parent: { readonly table: string; readonly column: string } | null;
  /** Table that records old and new values of changed numbers; null for none. */
  readonly revisions: string | null;
  /** Instants of the row. The loader stores the local day of the first that is not null in `_day`. Empty for none. */
  readonly dayOf: readonly string[];
  /** Instant by whose month an engine may partition the table; null for none. */
  readonly partitionBy: string | null;
  /** Name of the job that pulls the table, if columns of other tables reference it. */
  readonly pulledBy: string | null;
}

const TABLE_DEFAULTS = {
  source: null,
  list: null,
  history: null,
  retentionBy: null,
  parent: null,
  revisions: null,
  dayOf: [],
  partitionBy: null,
  pulledBy: null,
} as const satisfies Partial<Table>;

export type TableDraft = Pick<Table, 'name' | 'meaning' | 'key'> &
  Partial<Pick<Table, keyof typeof TABLE_DEFAULTS>> & {
    columns: Record<string, ColumnDraft>;
    indexes?: readonly (readonly string[] | Index)[];
  };

const complete = (draft: TableDraft, kind: Table['kind'], trailing: Record<string, ColumnDraft>): Table => ({
  ...TABLE_DEFAULTS,
  ...draft,
  kind,
  columns: Object.entries({ ...draft.columns, ...trailing }).map(([name, { from = name, alias, ...rest }]) => ({
    ...COLUMN_DEFAULTS,
    ...rest,
    name,
    from: from.split('.'),
    alias: alias?.split('.'),
    required: rest.required === true || draft.key.includes(name),
  })),
  indexes: (draft.indexes ?? []).map((index) => ('columns' in index ? index : { columns: index })),
});

/** The last columns of every base table. The loader fills them, never a record. */
const TRAILING: Record<string, ColumnDraft> = {
  extra: json('Fields of the record that the columns do not hold, as JSON; null if there are none.'),
  _first_seen_at: instant('When the row was first loaded.', { required: true }),
  _changed_at: instant('When the row last changed, vanished or returned.', { required: true }),
  _run_id: text('The run that last changed the row.', { required: true }),
  _missing_since: instant('Since when the service no longer returns the record; null while it does.'),
};

/** The local day of a row, for indexes: no index serves a day that a view computes. */
const DAY: Record<string, ColumnDraft> = {
  _day: date('Local day of the row in the configured time zone; the views show it as day.'),
};

export const baseTable = (draft: TableDraft): Table =>
  complete(draft, 'base', draft.dayOf === undefined ? TRAILING : { ...DAY, ...TRAILING });
export const controlTable = <Columns extends TableDraft['columns'], const Key extends string>(
  draft: TableDraft & { columns: Columns; key: readonly Key[] },
): ControlTable<RowFrom<Columns, Key>> => complete(draft, 'control', {});

interface ControlTable<Row> extends Table {
  /** For `RowOf`; never set. */
  readonly row?: Row;
}

/** A row of a control table as every engine returns it, except that a boolean is 1 or 0. */
export type RowOf<T extends ControlTable<unknown>> = NonNullable<T['row']>;

type RowFrom<Columns extends TableDraft['columns'], Key> = {
  [Name in keyof Columns]:
    | (Columns[Name]['type'] extends 'integer' | 'real'
        ? number
        : Columns[Name]['type'] extends 'boolean'
          ? boolean
          : string)
    | (Name extends Key ? never : Columns[Name] extends { required: true } ? never : null);
};

/** The columns that a record fills: all except the trailing ones. */
export const recordColumns = (table: Table): readonly Column[] => table.columns.filter(({ name }) => !isTrailing(name));

const isTrailing = (name: string): boolean => name in TRAILING || name in DAY;

/** The fields of a row in their order: the record columns, then `extra`. */
export const rowFields = (table: Table): readonly Column[] =>
  table.columns.filter(({ name }) => name === 'extra' || !isTrailing(name));

/** The fields that a load writes: those of a row, then `_day` if the table has it. */
export const loadedFields = (table: Table): readonly Column[] => [
  ...rowFields(table),
  ...table.columns.filter(({ name }) => name in DAY),
];

/** Names of the columns in any index, including the key. */
export const indexedColumns = ({ key, indexes }: Table): ReadonlySet<string> =>
  new Set([...key, ...indexes.flatMap(({ columns }) => columns)]);

/** The columns that decide whether a row has changed: without the key and columns with `ignoreInDiff`. */
export const comparedColumns = (table: Table): readonly Column[] =>
  loadedFields(table).filter(({ name, ignoreInDiff }) => !ignoreInDiff && !table.key.includes(name));

/** The numbers of a table whose changes are recorded in its `revisions`. */
export const revisedFigures = (table: Table): string[] =>
  recordColumns(table).flatMap(({ name, type }) => (type === 'real' && !table.key.includes(name) ? [name] : []));

/** For names from declarations, which need no escaping. */
export const quote = (name: string): string => `"${name}"`;

/** The constraint after the type of a column in DDL. */
export const constraintOf = ({ required, default: value }: Column): string =>
  `${required ? ' not null' : ''}${value === undefined ? '' : ` default ${value}`}`;
