// The PostgreSQL statements of the loader. Names come from table declarations; values are always bound.
import type { RowRange } from '../../engine.ts';
import { type Column, comparedColumns, recordColumns, type Table } from '../../schema/table.ts';
import { typeOf } from './ddl.ts';
import { arrayText, quote } from './statement.ts';

type Field = Pick<Column, 'name' | 'type'>;

/** The fields of a row in their order. */
const fieldsOf = (table: Table): Field[] => [...recordColumns(table), { name: 'extra', type: 'json' }];

const fieldNames = (table: Table): string[] => fieldsOf(table).map(({ name }) => quote(name));

/** The type of a column without its collation, for a cast. */
const castOf = (table: Table, column: string): string => {
  const field = table.columns.find(({ name }) => name === column) ?? { type: 'text' };
  return typeOf(field, table).replace(/ collate .*/, '');
};

const keyArrays = (table: Table, firstParameter: number): string =>
  table.key.map((name, index) => `$${firstParameter + index}::${castOf(table, name)}[]`).join(', ');

const keyNames = (table: Table): string => table.key.map((_, index) => `k${index}`).join(', ');

const keyMatch = (table: Table, row: string): string =>
  table.key.map((name, index) => `${row}.${quote(name)} = k.k${index}`).join(' and ');

/**
 * Finds the keys (one array per key column) in `targets`. Returns the position of each key from 1, its target, and
 * whether its row was written between two instants, which are bound last. `offset 0` forces one index lookup per key,
 * whatever the planner estimates.
 */
export const lookupStatement = (table: Table, targets: readonly string[]): string =>
  targets
    .map(
      (target) => `
        select k.place, '${target}' as part, found.is_newer from unnest(${keyArrays(table, 1)}) with ordinality as k(${keyNames(table)}, place),
        lateral (select ${isBetween('row', table.key.length + 1)} as is_newer
          from ${quote(target)} as row where ${keyMatch(table, 'row')} offset 0) as found`,
    )
    .join(' union all ');

/**
 * The partitions that hold any key between `least` and `greatest`, with the same leading key columns. Needs one index
 * lookup per partition instead of one per row.
 */
export function candidatePartitionsStatement(table: Table, parts: readonly string[]): string {
  const lead = table.key.slice(0, -1);
  const last = table.key.at(-1) ?? '';
  const arrays = [...lead, last, last].map((name, index) => `$${index + 1}::${castOf(table, name)}[]`);
  const names = [...lead.map((_, index) => `k${index}`), 'least', 'greatest'];
  const same = lead.map((name, index) => `row.${quote(name)} = k.k${index} and`).join(' ');
  return parts
    .map(
      (part) => `
        select '${part}' as part where exists (select from unnest(${arrays.join(', ')}) as k(${names.join(', ')}),
          lateral (select from ${quote(part)} as row
            where ${same} row.${quote(last)} between k.least and k.greatest limit 1) as found)`,
    )
    .join(' union all ');
}

const TAIL = ['_first_seen_at', '_changed_at', '_run_id'];

export const copyStatement = (table: Table): string =>
  `copy ${quote(table.name)} (${[...fieldNames(table), ...TAIL].join(', ')}) from stdin`;

export const stageName = (table: Table): string => `pg_temp.${quote(`stage_${table.name}`)}`;

/** Holds incoming rows until the transaction ends. `_part` is the partition of the stored row, if the row stays in it. */
export const stageStatement = (table: Table): string => {
  const columns = fieldsOf(table).map((field) => `${quote(field.name)} ${typeOf(field, table)}`);
  return `create temp table if not exists ${quote(`stage_${table.name}`)}
    (${[...columns, '_part text', '_is_newer boolean'].join(', ')}) on commit delete rows`;
};

export const copyToStageStatement = (table: Table): string =>
  `copy ${stageName(table)} (${[...fieldNames(table), '_part', '_is_newer'].join(', ')}) from stdin`;

const stagedMatch = (table: Table): string =>
  table.key.map((name) => `old.${quote(name)} = new.${quote(name)}`).join(' and ');

const contentNames = (table: Table): string[] =>
  fieldNames(table).filter((name) => !table.key.map(quote).includes(name));

function stagedDiffers(table: Table): string {
  const compared = comparedColumns(table).map(quote);
  const stored = compared.map((name) => `old.${name}`);
  const given = compared.map((name) => `new.${name}`);
  return `(${stored.join(', ')}, old._missing_since) is distinct from (${given.join(', ')}, null::timestamptz)`;
}

/**
 * Binds at and run. Does not write a row that equals the stored one. With `part`: updates the rows that stay in that
 * partition, by key alone. With a condition on the period, the planner would use that instead of the key until it has
 * statistics of a new month. Without `part`: updates the rows that change their
 * partition or whose partition is out of range.
 */
export const updateStatement = (table: Table, part?: string): string => `
  update ${quote(part ?? table.name)} as old set
    ${contentNames(table)
      .map((name) => `${name} = new.${name}`)
      .join(', ')},
    _changed_at = $1, _run_id = $2, _missing_since = null
  from ${stageName(table)} as new
  where ${stagedMatch(table)} and new._part ${part === undefined ? 'is null' : `= '${part}'`} and ${stagedDiffers(table)}`;

/** Written after the first of two parameters, but not after the second. */
const isBetween = (row: string, first: number): string =>
  `(${row}._changed_at > $${first}::timestamptz and ${row}._changed_at <= $${first + 1}::timestamptz)`;

/** Counts staged rows that differ from a newer stored row. */
export const newerStatement = (table: Table): string => `
  select count(*) as newer from ${stageName(table)} as new join ${quote(table.name)} as old on ${stagedMatch(table)}
  where new._is_newer and ${stagedDiffers(table)}`;

/** Runs before the rows are written: records each status that is new or differs from the stored one. Binds at and run. */
export function historyStatement(table: Table, column: string): string {
  const [key = 'id'] = table.key;
  const [was, is] = [`old.${quote(column)}`, `new.${quote(column)}`];
  return `
    insert into status_change (entity, entity_id, from_status, to_status, observed_at, run_id)
    select '${table.name}', new.${quote(key)}, ${was}, ${is}, $1, $2
    from ${stageName(table)} as new left join ${quote(table.name)} as old on ${stagedMatch(table)}
    where ${is} is not null and ${was} is distinct from ${is}
    on conflict do nothing`;
}

/** Runs before the rows are written: records each changed number of a stored row. Binds at and run. */
export function revisionStatement(table: Table, revisions: string): string {
  const figures = recordColumns(table).filter(({ type, name }) => type === 'real' && !table.key.includes(name));
  const pairs = figures.map(({ name }) => `('${name}', old.${quote(name)}, new.${quote(name)})`);
  return `
    insert into ${quote(revisions)}
      (${table.key.map(quote).join(', ')}, figure, old_value, new_value, observed_at, run_id)
    select ${table.key.map((name) => `old.${quote(name)}`).join(', ')}, figure, was, is_now, $1, $2
    from ${stageName(table)} as new join ${quote(table.name)} as old on ${stagedMatch(table)},
    lateral (values ${pairs.join(', ')}) as pair(figure, was, is_now)
    where was is distinct from is_now
    on conflict do nothing`;
}

interface Bound {
  text: string;
  values: string[];
}

/** Binds at, run, the seen keys (one array per key column), then the values of the range. */
export function missingStatement(table: Table, range: RowRange): Bound {
  const { text: missing, values } = isMissing(table, range, 2);
  const text = `
    update ${quote(table.name)} as row set _missing_since = $1, _changed_at = $1, _run_id = $2 where ${missing}`;
  return { text, values };
}

/** Binds the two instants between which the row was written, then the same as missingStatement. */
export function newerMissingStatement(table: Table, range: RowRange): Bound {
  const { text: missing, values } = isMissing(table, range, 2);
  const text = `
    select count(*) as newer from ${quote(table.name)} as row where ${isBetween('row', 1)} and ${missing}`;
  return { text, values };
}

/** The rows of `range` whose keys were not seen. Binds keys and range values after `before` other values. */
function isMissing(table: Table, range: RowRange, before: number): Bound {
  const { text: inRange, values } = presentIn(table, range, before + table.key.length);
  const keys = keyArrays(table, before + 1);
  const text = `${inRange} and not exists
      (select from unnest(${keys}) as k(${keyNames(table)}) where ${keyMatch(table, 'row')})`;
  return { text, values };
}

export function anyPresentStatement(table: Table, range: RowRange): Bound {
  const { text, values } = presentIn(table, range, 0);
  return { text: `select 1 from ${quote(table.name)} where ${text} limit 1`, values };
}

export function presentStatement(table: Table, range: RowRange): Bound {
  const { text, values } = presentIn(table, range, 0);
  return { text: `select count(*) as present from ${quote(table.name)} where ${text}`, values };
}

/** The rows of `range` that are not marked as missing. Binds the range values after `before` other values. */
function presentIn(table: Table, range: RowRange, before: number): Bound {
  const values: string[] = [];
  const bind = (value: string): string => `$${before + values.push(value)}`;
  const parts = Object.entries(range).map(([column, bound]) => {
    const cast = castOf(table, column);
    if ('in' in bound) return `${quote(column)} = any(${bind(arrayText(bound.in))}::${cast}[])`;
    return `${quote(column)} >= ${bind(bound.from)}::${cast} and ${quote(column)} < ${bind(bound.to)}::${cast}`;
  });
  return { text: ['_missing_since is null', ...parts].join(' and '), values };
}

/** The greatest value up to the bound of each key. Binds an array of keys and one of bounds. One index lookup per key. */
export const latestStatement = (table: Table, by: string, column: string): string => `
  select key, (select max(${quote(column)}) from ${quote(table.name)}
    where ${quote(by)} = key and ${quote(column)} <= bound) as latest
  from unnest(?::${castOf(table, by)}[], ?::${castOf(table, column)}[]) as asked (key, bound)`;
