// Deletes rows that are older than somebody wants to keep them, with the rows that belong to them: a few thousand a
// transaction, so that nobody waits long, parts before their owner, so that a crash leaves no orphan.
import type { Knex } from 'knex';
import { chunks } from '../../core/chunks.ts';
import type { Engine } from '../engine.ts';
import { tables } from '../schema/catalog.ts';
import type { Table } from '../schema/table.ts';

/** The tables that can have a limit of age. */
export const agingTables: readonly Table[] = tables.filter(({ retentionBy }) => retentionBy !== null);

const OWNERS = 2_000;

export interface Outdated {
  table: string;
  rows: number;
}

/** Rows of the table older than `before`, an ISO instant; those that belong to them are not counted. */
export const countOutdated = (engine: Engine, table: Table, before: string): Promise<number> =>
  engine.read(async (sql) => {
    const [found] = await outdated(sql, table, before).count({ n: '*' });
    return Number(found?.n ?? 0);
  });

/** Tells how many rows of each table are gone. */
export async function deleteOutdated(
  engine: Engine,
  table: Table,
  before: string,
  isStopped: () => boolean,
): Promise<Outdated[]> {
  const gone = new Map<string, number>();
  while (!isStopped()) {
    const deleted = await engine.write(
      async ({ sql }) => {
        const owners: Record<string, string | number>[] = await outdated(sql, table, before)
          .select([...table.key])
          .limit(OWNERS);
        if (owners.length > 0) await deleteRows(sql, table, owners, gone);
        return owners.length;
      },
      { isLong: true },
    );
    if (deleted < OWNERS) break;
  }
  return [...gone].map(([table, rows]) => ({ table, rows }));
}

function outdated(sql: Knex, { name, retentionBy, columns }: Table, before: string): Knex.QueryBuilder {
  const isDay = columns.some((column) => column.name === retentionBy && column.type === 'date');
  return sql(name).where(retentionBy ?? '', '<', isDay ? before.slice(0, 10) : before);
}

type Key = Record<string, string | number>;

async function deleteRows(
  sql: Knex,
  table: Table,
  keys: readonly Key[],
  gone: Map<string, number>,
): Promise<void> {
  for (const part of tables.filter(({ parent }) => parent?.table === table.name)) {
    const column = part.parent?.column ?? '';
    const owners = keys.map(({ id }) => id as number);
    for (const some of chunks(owners, MOST_BOUND)) {
      const owned: Key[] = await sql(part.name)
        .whereIn(column, some)
        .select([...part.key]);
      if (owned.length > 0) await deleteRows(sql, part, owned, gone);
    }
  }
  for (const some of chunks(keys, Math.floor(MOST_BOUND / table.key.length))) {
    const values = some.map((key) => table.key.map((name) => key[name] ?? null));
    const deleted = await sql(table.name)
      .whereIn([...table.key], values as Knex.Value[][])
      .delete();
    gone.set(table.name, (gone.get(table.name) ?? 0) + deleted);
  }
}

/** Values a statement, below what any engine binds. */
const MOST_BOUND = 1_000;

/** The limits of age by table, with those of the tables whose rows go with their owner's. */
export function retentionByTable(limits: Readonly<Record<string, number>>): Record<string, number> {
  const limitOf = (table: Table | undefined): number | undefined =>
    table === undefined
      ? undefined
      : (limits[table.name] ?? limitOf(tables.find(({ name }) => name === table.parent?.table)));
  const all = tables.map((table) => [table.name, limitOf(table)] as const);
  return Object.fromEntries(all.filter((each): each is [string, number] => each[1] !== undefined));
}
