// Deletes rows that are past their retention, with their child rows. Each transaction deletes a few thousand rows, so that
// other writes do not wait long. Children are deleted before their parents, so that a crash leaves no orphans.
import type { Knex } from 'knex';
import { chunks } from '../core/chunks.ts';
import { isoInstant } from '../core/time/clock.ts';
import { DAY_MS } from '../core/time/durations.ts';
import { eventDay, eventDaysIn, hasDayFigures, writeEventDays } from './control/event-days.ts';
import { noteDeletion } from './control/retention-limits.ts';
import type { Engine } from './engine.ts';
import { tables } from './schema/catalog.ts';
import type { Table } from './schema/table.ts';

/** The tables that can have a retention limit. */
export const agingTables: readonly Table[] = tables.filter(({ retentionBy }) => retentionBy !== null);

const ROWS_AT_ONCE = 2_000;

/** Counts the rows of the table older than `before`, an ISO instant, without their child rows. */
export const countOutdated = (engine: Engine, table: Table, before: string): Promise<number> =>
  engine.read(async (sql) => {
    const [found] = await outdated(sql, table, before).count({ n: '*' });
    return Number(found?.n ?? 0);
  });

/** Returns how many rows of each table were deleted. */
export async function deleteOutdated(engine: Engine, table: Table, before: string, isStopped: () => boolean) {
  const deletedByTable = new Map<string, number>();
  await noteDeletion(engine, table.name, before);
  if (hasDayFigures(table)) await dropEventDays(engine, before);
  while (!isStopped()) {
    const deleted = await engine.write(
      async ({ sql }) => {
        const owners: Record<string, string | number>[] = await outdated(sql, table, before)
          .select([...table.key])
          .limit(ROWS_AT_ONCE);
        if (owners.length > 0) await deleteRows(sql, table, owners, deletedByTable);
        return owners.length;
      },
      { isLong: true },
    );
    if (deleted < ROWS_AT_ONCE) break;
  }
  // The days around the limit have lost some of their events.
  const limit = eventDaysIn({ begin_date: { from: before, to: before } });
  if (hasDayFigures(table)) await engine.write(({ sql }) => writeEventDays(sql, engine.dialect, limit));
  return [...deletedByTable].map(([table, rows]) => ({ table, rows }));
}

/** Before the events themselves: figures must not outlive them. */
const dropEventDays = (engine: Engine, before: string): Promise<number> =>
  engine.write(({ sql }) => sql(eventDay.name).where('day', '<', before.slice(0, 10)).delete(), { isLong: true });

function outdated(sql: Knex, { name, retentionBy, columns, dayOf }: Table, before: string): Knex.QueryBuilder {
  const isDay = columns.some((column) => column.name === retentionBy && column.type === 'date');
  const found = sql(name).where(retentionBy ?? '', '<', isDay ? before.slice(0, 10) : before);
  if (dayOf[0] !== retentionBy) return found;
  // The index of the day finds the rows; a local day is at most one after the day in UTC.
  const lastDay = isoInstant(Date.parse(before) + DAY_MS).slice(0, 10);
  return found.where((row) => row.where('_day', '<=', lastDay).orWhereNull('_day'));
}

type Key = Record<string, string | number>;

async function deleteRows(
  sql: Knex,
  table: Table,
  keys: readonly Key[],
  deletedByTable: Map<string, number>,
): Promise<void> {
  for (const part of tables.filter(({ parent }) => parent?.table === table.name)) {
    const column = part.parent?.column ?? '';
    const owners = keys.map(({ id }) => id as number);
    for (const some of chunks(owners, MOST_BOUND)) {
      const owned: Key[] = await sql(part.name)
        .whereIn(column, some)
        .select([...part.key]);
      if (owned.length > 0) await deleteRows(sql, part, owned, deletedByTable);
    }
  }
  for (const some of chunks(keys, Math.floor(MOST_BOUND / table.key.length))) {
    const values = some.map((key) => table.key.map((name) => key[name] ?? null));
    const deleted = await sql(table.name)
      .whereIn([...table.key], values as Knex.Value[][])
      .delete();
    deletedByTable.set(table.name, (deletedByTable.get(table.name) ?? 0) + deleted);
  }
}

/** Values per statement, below the binding limit of any engine. */
const MOST_BOUND = 1_000;

/** The retention limits by table. A child table has the limit of its parent. */
export function retentionByTable(limits: Readonly<Record<string, number>>): Record<string, number> {
  const limitOf = (table: Table | undefined): number | undefined =>
    table === undefined
      ? undefined
      : (limits[table.name] ?? limitOf(tables.find(({ name }) => name === table.parent?.table)));
  const all = tables.map((table) => [table.name, limitOf(table)] as const);
  return Object.fromEntries(all.filter((each): each is [string, number] => each[1] !== undefined));
}
