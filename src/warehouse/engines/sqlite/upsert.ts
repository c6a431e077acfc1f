// The SQLite statements of the loader. A batch is bound as one JSON text and unpacked by jsonb_each, so it is one
// statement regardless of its size. Positional arrays keep the text short.

import { figuresStatement, hasDayFigures } from '../../control/event-days.ts';
import type { RowRange } from '../../engine.ts';
import {
  type Column,
  comparedColumns,
  loadedFields,
  quote,
  revisedFigures,
  rowFields,
  type Table,
} from '../../schema/table.ts';
import { sqliteDdl } from './ddl.ts';
import { numberAt } from './numbers.ts';

const extracted = ({ type }: Column, position: number): string => {
  if (type === 'real') return numberAt(`$[${position}]`);
  const value = `json_extract(value, '$[${position}]')`;
  // Integers beyond 2^53 arrive as text and need a cast.
  return type === 'integer' ? `cast(${value} as integer)` : value;
};

/** Binds :rows (JSON), :at and :run. Does not write a row that equals the stored one. */
function upsertStatement(table: Table): string {
  const fields = loadedFields(table);
  const names = fields.map(({ name }) => quote(name));
  const content = fields.filter(({ name }) => !table.key.includes(name)).map(({ name }) => quote(name));
  const compared = comparedColumns(table);
  const stored = compared.map(({ name }) => `${quote(table.name)}.${quote(name)}`);
  const given = compared.map(({ name }) => `excluded.${quote(name)}`);
  return `
    insert into ${quote(table.name)} (${names.join(', ')}, _first_seen_at, _changed_at, _run_id)
    select ${fields.map(extracted).join(', ')}, :at, :at, :run
    from jsonb_each(:rows) where true
    on conflict (${table.key.map(quote).join(', ')}) do update set
      ${content.map((name) => `${name} = excluded.${name}`).join(', ')},
      _changed_at = excluded._changed_at, _run_id = excluded._run_id, _missing_since = null
    where (${stored.join(', ')}, ${quote(table.name)}._missing_since) is not (${given.join(', ')}, null)`;
}

/**
 * Counts updates on the writer's connection, so that no second lookup has to separate inserts from updates. Also counts the
 * updates of rows that were written after the read began.
 */
export function updateCounter(table: Table): string {
  const days = hasDayFigures(table) ? `, ${DAY_COUNTERS}` : '';
  return `
    create temp trigger if not exists ${quote(`count_${table.name}`)} after update on main.${quote(table.name)}
    begin
      update temp.load_counter set updated = updated + 1,
        stale = stale + (old._changed_at > read_at and old._changed_at <= new._changed_at)${days};
    end`;
}

export const COUNTER_TABLE = `
  create temp table if not exists load_counter
    (updated integer, stale integer, read_at text, first_day text, last_day text, is_moved integer, last_rowid integer);
  insert into temp.load_counter (updated) values (0)`;

/** No day yet: any day is before `~` and after the empty text. Binds :readAt. */
export const resetCounter = (table: Table): string => `
  update temp.load_counter set updated = 0, stale = 0, read_at = :readAt, first_day = '~', last_day = '', is_moved = 0,
    last_rowid = ${hasDayFigures(table) ? '(select coalesce(max(rowid), 0) from event)' : 'null'}`;

const SUMS = ['events', 'duration_seconds', 'distance_metres', 'stored_events'];

/** Adds the figures of the events inserted since the counter was reset: they have the highest row ids. Binds :at. */
export const ADD_INSERTED = `
  ${figuresStatement(
    sqliteDdl.dialect,
    '_day is not null and rowid > (select last_rowid from temp.load_counter)',
    ':at',
  )}
  on conflict (day, vehicle_id, event_category) do update set
    ${SUMS.map((name) => `${name} = ${name} + excluded.${name}`).join(', ')},
    changed_at = max(changed_at, excluded.changed_at)`;

/** An update may take an event from another day or vehicle, or leave it without a day. Those figures change too. */
const DAY_COUNTERS = `
        first_day = min(first_day, coalesce(old._day, '~')), last_day = max(last_day, coalesce(old._day, '')),
        is_moved = is_moved or old.vehicle_id is not new.vehicle_id or new._day is null`;

/** The statements of each batch, in order; the last one writes the rows. Binds :rows (JSON), :at and :run. */
export const batchStatements = (table: Table): string[] => [
  ...(table.history === null ? [] : [historyStatement(table, table.history)]),
  ...(table.revisions === null ? [] : [revisionStatement(table, table.revisions)]),
  upsertStatement(table),
];

/** The incoming rows, under `new_` names, joined to the stored ones. Binds :rows. */
function incoming(table: Table, columns: readonly string[]): string {
  const wanted = rowFields(table).flatMap((field, position) =>
    columns.includes(field.name) ? [`${extracted(field, position)} as ${quote(`new_${field.name}`)}`] : [],
  );
  const same = table.key.map((name) => `old.${quote(name)} = new.${quote(`new_${name}`)}`);
  return `(select ${wanted.join(', ')} from jsonb_each(:rows)) as new
    left join ${quote(table.name)} as old on ${same.join(' and ')}`;
}

/** Runs before the upsert: records each status that is new or differs from the stored one. Binds :rows, :at, :run. */
function historyStatement(table: Table, column: string): string {
  const [key = 'id'] = table.key;
  const [was, is] = [`old.${quote(column)}`, `new.${quote(`new_${column}`)}`];
  return `
    insert into status_change (entity, entity_id, from_status, to_status, observed_at, run_id)
    select '${table.name}', new.${quote(`new_${key}`)}, ${was}, ${is}, :at, :run
    from ${incoming(table, [key, column])} where ${is} is not null and ${was} is not ${is} and true
    on conflict do nothing`;
}

/** Runs before the upsert: records each changed number of a stored row. Binds :rows, :at, :run. */
function revisionStatement(table: Table, revisions: string): string {
  const figures = revisedFigures(table);
  const keys = table.key.map((name) => `old.${quote(name)}`).join(', ');
  const from = incoming(table, [...table.key, ...figures]);
  const pairs = figures.map(
    (name) => `
      select ${keys}, '${name}', old.${quote(name)}, new.${quote(`new_${name}`)}, :at, :run from ${from}
      where old._run_id is not null and old.${quote(name)} is not new.${quote(`new_${name}`)}`,
  );
  return `
    insert into ${quote(revisions)}
      (${table.key.map(quote).join(', ')}, figure, old_value, new_value, observed_at, run_id)
    select * from (${pairs.join(' union all ')}) where true on conflict do nothing`;
}

/** The condition of the rows whose keys were not seen. Binds :keys (JSON). */
export const isUnseen = ({ key }: Table): string => `(${key.map(quote).join(', ')}) not in (
      select ${key.map((_, position) => `json_extract(value, '$[${position}]')`).join(', ')} from jsonb_each(:keys))`;

/**
 * The condition of the rows of a range that are not marked as missing, and its bindings. Only the first column and from-to
 * bounds may use an index: with an index on another column, SQLite would read the rows of all vehicles to find those of a
 * few. A unary plus prevents that. It also removes the column's type affinity, so an integer value needs a cast.
 */
export function presentIn(table: Table, range: RowRange): { condition: string; bindings: Record<string, string> } {
  const parts = ['_missing_since is null'];
  const bindings: Record<string, string> = {};
  for (const [index, [column, bound]] of Object.entries(range).entries()) {
    if ('in' in bound) {
      const isInteger = table.columns.find(({ name }) => name === column)?.type === 'integer';
      const value = index > 0 && isInteger ? 'cast(value as integer)' : 'value';
      parts.push(`${index > 0 ? '+' : ''}${quote(column)} in (select ${value} from jsonb_each(:${column}_in))`);
      bindings[`${column}_in`] = JSON.stringify(bound.in);
    } else {
      parts.push(`${quote(column)} >= :${column}_from and ${quote(column)} < :${column}_to`);
      bindings[`${column}_from`] = bound.from;
      bindings[`${column}_to`] = bound.to;
    }
  }
  return { condition: parts.join(' and '), bindings };
}

/** The greatest value up to the bound, for each pair of key and bound in :bounds (JSON). One index lookup per pair. */
export const latestStatement = (table: Table, by: string, column: string): string => `
  select value ->> 0 as key, (select max(${quote(column)}) from ${quote(table.name)}
    where ${quote(by)} = value ->> 0 and ${quote(column)} <= value ->> 1) as latest
  from json_each(:bounds)`;
