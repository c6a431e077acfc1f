// The SQLite statements of the loader. One JSON text a batch is bound and unpacked by jsonb_each, so a batch
// is one statement whatever its size; positional arrays keep the text short.
import type { Extent } from '../engine.ts';
import { type Column, recordColumns, type Table } from '../table.ts';

const quote = (name: string): string => `"${name}"`;

const extracted = (position: number, column: Pick<Column, 'type'>): string => {
  const value = `json_extract(value, '$[${position}]')`;
  // Integers beyond 2^53 travel as text; a REAL column would silently round them.
  return column.type === 'integer' ? `cast(${value} as integer)` : value;
};

/** Binds :rows (JSON), :at and :run. A row equal to the stored one is left alone. */
export function upsertStatement(table: Table): string {
  const columns: Pick<Column, 'name' | 'type'>[] = [...recordColumns(table), { name: 'extra', type: 'json' }];
  const names = columns.map(({ name }) => quote(name));
  const content = columns.filter(({ name }) => !table.key.includes(name)).map(({ name }) => quote(name));
  const stored = content.map((name) => `${quote(table.name)}.${name}`);
  const given = content.map((name) => `excluded.${name}`);
  return `
    insert into ${quote(table.name)} (${names.join(', ')}, _first_seen_at, _changed_at, _run_id)
    select ${columns.map((column, position) => extracted(position, column)).join(', ')}, :at, :at, :run
    from jsonb_each(:rows) where true
    on conflict (${table.key.map(quote).join(', ')}) do update set
      ${content.map((name) => `${name} = excluded.${name}`).join(', ')},
      _changed_at = excluded._changed_at, _run_id = excluded._run_id, _missing_since = null
    where (${stored.join(', ')}, ${quote(table.name)}._missing_since) is not (${given.join(', ')}, null)`;
}

/** Counts updates on the writer's connection, so that inserts need no second look at the keys. */
export function updateCounter(table: Table): string {
  return `
    create temp trigger if not exists ${quote(`count_${table.name}`)} after update on main.${quote(table.name)}
    begin update temp.load_counter set updated = updated + 1; end`;
}

export const COUNTER_TABLE = 'create temp table if not exists load_counter (updated integer not null)';

/** Binds :keys (JSON), :at, :run and the values of the extent, which `condition` speaks of. */
export function missingStatement(table: Table, condition: string): string {
  const keys = table.key.map(quote);
  return `
    update ${quote(table.name)} set _missing_since = :at, _changed_at = :at, _run_id = :run
    where _missing_since is null and ${condition} and (${keys.join(', ')}) not in (
      select ${keys.map((_, position) => `json_extract(value, '$[${position}]')`).join(', ')}
      from jsonb_each(:keys))`;
}

/** The SQL of an extent and what it binds. Column names come from declarations, values are always bound. */
export function extentCondition(extent: Extent): { condition: string; bindings: Record<string, string> } {
  const parts = ['true'];
  const bindings: Record<string, string> = {};
  for (const [column, bound] of Object.entries(extent)) {
    if ('in' in bound) {
      parts.push(`${quote(column)} in (select value from jsonb_each(:${column}_in))`);
      bindings[`${column}_in`] = JSON.stringify(bound.in);
    } else {
      parts.push(`${quote(column)} >= :${column}_from and ${quote(column)} < :${column}_to`);
      bindings[`${column}_from`] = bound.from;
      bindings[`${column}_to`] = bound.to;
    }
  }
  return { condition: parts.join(' and '), bindings };
}
