// The PostgreSQL statements of the loader. Names come from table declarations; values are always bound.

import { hasDayFigures } from '../../control/event-days.ts';
import type { Row, RowRange } from '../../engine.ts';
import { comparedColumns, loadedFields, quote, revisedFigures, type Table } from '../../schema/table.ts';
import { typeOf } from './ddl.ts';
import { arrayText } from './driver.ts';

const fieldNames = (table: Table): string[] => loadedFields(table).map(({ name }) => quote(name));

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
 * whether its row was written between two instants, which are bound last; of an event also its day and vehicle. `offset 0` forces one index lookup per key,
 * whatever the planner estimates.
 */
export const lookupStatement = (table: Table, targets: readonly string[]): string => {
  const [found, figures] = hasDayFigures(table)
    ? [', found.day, found.vehicle_id', ', cast(row._day as text) as day, row.vehicle_id']
    : ['', ''];
  return targets
    .map(
      (target) => `
        select k.place, '${target}' as part, found.is_newer${found} from unnest(${keyArrays(table, 1)}) with ordinality as k(${keyNames(table)}, place),
        lateral (select ${isBetween('row', table.key.length + 1)} as is_newer${figures}
          from ${quote(target)} as row where ${keyMatch(table, 'row')} offset 0) as found`,
    )
    .join(' union all ');
};

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
  const columns = loadedFields(table).map((field) => `${quote(field.name)} ${typeOf(field, table)}`);
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
  const compared = comparedColumns(table);
  const stored = compared.map(({ name }) => `old.${quote(name)}`);
  const given = compared.map(({ name }) => `new.${quote(name)}`);
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
export const isBetween = (row: string, first: number): string =>
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
  const pairs = revisedFigures(table).map((name) => `('${name}', old.${quote(name)}, new.${quote(name)})`);
  return `
    insert into ${quote(revisions)}
      (${table.key.map(quote).join(', ')}, figure, old_value, new_value, observed_at, run_id)
    select ${table.key.map((name) => `old.${quote(name)}`).join(', ')}, figure, was, is_now, $1, $2
    from ${stageName(table)} as new join ${quote(table.name)} as old on ${stagedMatch(table)},
    lateral (values ${pairs.join(', ')}) as pair(figure, was, is_now)
    where was is distinct from is_now
    on conflict do nothing`;
}

interface Condition {
  sql: string;
  values: string[];
}

/** The rows of `range` that are not marked as missing. Binds the range values after `before` other values. */
export function presentIn(table: Table, range: RowRange, before = 0): Condition {
  const values: string[] = [];
  const bind = (value: string): string => `$${before + values.push(value)}`;
  const parts = Object.entries(range).map(([column, bound]) => {
    const cast = castOf(table, column);
    if ('in' in bound) return `${quote(column)} = any(${bind(arrayText(bound.in))}::${cast}[])`;
    return `${quote(column)} >= ${bind(bound.from)}::${cast} and ${quote(column)} < ${bind(bound.to)}::${cast}`;
  });
  return { sql: ['_missing_since is null', ...parts].join(' and '), values };
}

/** The rows of `range` whose keys are not in `seen`, under the alias `row`. Binds its values after $1 and $2. */
export function missingIn(table: Table, range: RowRange, seen: readonly Row[]): Condition {
  const keys = table.key.map((_, position) => arrayText(seen.map((row) => row[position])));
  const { sql, values } = presentIn(table, range, 2 + keys.length);
  const isSeen = `select from unnest(${keyArrays(table, 3)}) as k(${keyNames(table)}) where ${keyMatch(table, 'row')}`;
  return { sql: `${sql} and not exists (${isSeen})`, values: [...keys, ...values] };
}

/** The greatest value up to the bound of each key. Binds an array of keys and one of bounds. One index lookup per key. */
export const latestStatement = (table: Table, by: string, column: string): string => `
  select key, (select max(${quote(column)}) from ${quote(table.name)}
    where ${quote(by)} = key and ${quote(column)} <= bound) as latest
  from unnest(?::${castOf(table, by)}[], ?::${castOf(table, column)}[]) as asked (key, bound)`;
