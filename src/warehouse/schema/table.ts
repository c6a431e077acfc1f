// How a table is declared: once, as data, for the wire schema of its records, the row mapping, the DDL, the upsert and the
// dictionary.
import type { Policy } from '../../core/privacy-policy.ts';

export type ColumnType = 'integer' | 'real' | 'text' | 'boolean' | 'instant' | 'date' | 'json';

export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  /** One sentence for the data dictionary. */
  readonly meaning: string;
  /** Path of the field in the record; the name itself unless told. */
  readonly from: readonly string[];
  /** A second place where the record repeats the same value, such as driver.id beside driver_id. */
  readonly alias?: readonly string[];
  /** No field of the service's record: the job or the loader knows it. */
  readonly added: boolean;
  /** Says something about a person. */
  readonly personal: boolean;
  /** What is stored of it unless the configuration says otherwise. */
  readonly policy: Policy;
  readonly required: boolean;
  /** The service does not tell its form: any value passes, and what the column cannot hold stays in `extra`. */
  readonly undocumented: boolean;
  /** Tells of the reading, not of what was read: a row that differs in nothing else is the same. */
  readonly ignoreInDiff: boolean;
  /** What a row that names no value gets; none where absent. */
  readonly default?: number;
  /** The table whose `id` it holds, where the job that pulls that table should follow an unknown one. */
  readonly references?: Table;
}

interface ColumnOptions {
  from?: string;
  alias?: string;
  added?: boolean;
  personal?: boolean;
  policy?: Policy;
  required?: boolean;
  undocumented?: boolean;
  ignoreInDiff?: boolean;
  default?: number;
  references?: Table;
}

export type ColumnDraft = Omit<Column, 'name' | 'from' | 'alias'> & { from?: string; alias?: string };

const column =
  (type: ColumnType) =>
  (meaning: string, options: ColumnOptions = {}): ColumnDraft => ({
    type,
    meaning,
    added: options.added ?? false,
    personal: options.personal ?? false,
    policy: options.policy ?? 'keep',
    required: options.required ?? false,
    undocumented: options.undocumented ?? false,
    ignoreInDiff: options.ignoreInDiff ?? false,
    ...(options.default !== undefined && { default: options.default }),
    ...(options.references !== undefined && { references: options.references }),
    from: options.from,
    alias: options.alias,
  });

export const integer = column('integer');
export const real = column('real');
export const text = column('text');
export const boolean = column('boolean');
export const instant = column('instant');
export const date = column('date');
export const json = column('json');

/** An index, of only those rows that meet `where` if it is given. */
export interface Index {
  readonly columns: readonly string[];
  /** SQL condition. A query has to repeat it to the letter, or SQLite does not use the index. */
  readonly where?: string;
  /** Only queries use it: it is created once the table has rows, since a first fill is faster without it. Default: false. */
  readonly afterFirstFill?: boolean;
}

type IndexDraft = readonly string[] | Index;

export interface Table {
  readonly name: string;
  /** `base` tables hold the service's records and carry the trailing columns; `control` tables are our own. */
  readonly kind: 'base' | 'control';
  readonly meaning: string;
  /** The call that fills it. */
  readonly source: string | null;
  /** The list below each element of the answer that holds its records; null where the elements themselves do. */
  readonly list: string | null;
  readonly key: readonly string[];
  readonly columns: readonly Column[];
  readonly indexes: readonly Index[];
  /** Column whose every observed transition is kept in `status_change`. */
  readonly history: string | null;
  /** Column that tells how old a row is, for retention; null where rows are kept for ever. */
  readonly retentionBy: string | null;
  /** The table whose rows own these, and the column that names the owner: they go when it goes. */
  readonly parent: { readonly table: string; readonly column: string } | null;
  /** Table that keeps old and new values of changed numbers; null where none does. */
  readonly revisions: string | null;
  /** Instant by whose month an engine that can keeps the rows apart; null where it need not. */
  readonly partitionBy: string | null;
  /** Name of the job that pulls it, where columns of other tables reference it. */
  readonly pulledBy: string | null;
}

export interface TableDraft {
  name: string;
  meaning: string;
  source?: string;
  list?: string;
  key: readonly string[];
  columns: Record<string, ColumnDraft>;
  indexes?: readonly IndexDraft[];
  history?: string;
  retentionBy?: string;
  parent?: { table: string; column: string };
  revisions?: string;
  partitionBy?: string;
  pulledBy?: string;
}

const complete = (draft: TableDraft, kind: Table['kind'], extra: Record<string, ColumnDraft>): Table => ({
  name: draft.name,
  kind,
  meaning: draft.meaning,
  source: draft.source ?? null,
  list: draft.list ?? null,
  key: draft.key,
  columns: Object.entries({ ...draft.columns, ...extra }).map(([name, { from, alias, ...rest }]) => ({
    ...rest,
    name,
    from: (from ?? name).split('.'),
    alias: alias?.split('.'),
    required: rest.required || draft.key.includes(name),
  })),
  indexes: (draft.indexes ?? []).map((index) => ('columns' in index ? index : { columns: index })),
  history: draft.history ?? null,
  retentionBy: draft.retentionBy ?? null,
  parent: draft.parent ?? null,
  revisions: draft.revisions ?? null,
  partitionBy: draft.partitionBy ?? null,
  pulledBy: draft.pulledBy ?? null,
});

/** Columns that end every base table; the loader fills them, never a record. */
const TRAILING: Record<string, ColumnDraft> = {
  extra: json('What the columns do not hold, as JSON; null where nothing is left.'),
  _first_seen_at: instant('When the row was first loaded.', { required: true }),
  _changed_at: instant('When its content last changed, vanished or returned.', { required: true }),
  _run_id: text('The run that changed it.', { required: true }),
  _missing_since: instant('Since when the service no longer returns it; null while it does.'),
};

export const baseTable = (draft: TableDraft): Table => complete(draft, 'base', TRAILING);
export const controlTable = (draft: TableDraft): Table => complete(draft, 'control', {});

/** The columns that a record fills: all but the trailing ones. */
export const recordColumns = (table: Table): readonly Column[] =>
  table.columns.filter((each) => !(each.name in TRAILING));

/** Names of the columns that an index holds, that of the key included. */
export const indexedColumns = ({ key, indexes }: Table): ReadonlySet<string> =>
  new Set([...key, ...indexes.flatMap(({ columns }) => columns)]);

/** Names of the columns by which a stored row and a read one are told apart: the key and what only tells of the reading are not. */
export const comparedColumns = (table: Table): string[] => [
  ...recordColumns(table).flatMap(({ name, ignoreInDiff }) =>
    ignoreInDiff || table.key.includes(name) ? [] : [name],
  ),
  'extra',
];

/** What follows the type of a column in DDL. */
export const constraintOf = ({ required, default: value }: Column): string =>
  `${required ? ' not null' : ''}${value === undefined ? '' : ` default ${value}`}`;
