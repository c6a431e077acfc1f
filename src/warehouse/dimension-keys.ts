// The identifiers and titles of vehicles and drivers that the warehouse knows.
import type { Engine } from './engine.ts';
import type { Table } from './table.ts';

type Reader = Pick<Engine, 'read'>;

/** All identifiers of a dimension, those that the service no longer lists included: their past remains. */
export async function knownIds(reader: Reader, table: Table): Promise<number[]> {
  const rows = await reader.read((sql) => sql(table.name).orderBy('id').select('id'));
  return rows.map(({ id }) => id as number);
}

/** Identifier by label; a label that two rows share stands for neither. */
export async function idsByLabel(
  reader: Reader,
  table: Table,
  columns: readonly string[],
): Promise<Map<string, number>> {
  const rows = await reader.read((sql) => sql(table.name).select('id', ...columns));
  const owners = new Map<string, Set<number>>();
  for (const row of rows) {
    for (const column of columns) {
      const label = row[column] as string | null;
      if (label !== null && label !== '') owners.set(label, (owners.get(label) ?? new Set()).add(row.id));
    }
  }
  const unique = [...owners].filter(([, ids]) => ids.size === 1);
  return new Map(unique.map(([label, [id]]) => [label, id as number]));
}
