// The identifiers and labels of the stored vehicles and drivers.
import type { Engine } from '../engine.ts';
import type { Table } from '../schema/table.ts';

type Reader = Pick<Engine, 'read'>;

/** All identifiers of a dimension, including those that the service no longer lists: their past data remains. */
export async function knownIds(reader: Reader, table: Table): Promise<number[]> {
  const rows = await reader.read((sql) => sql(table.name).orderBy('id').select('id'));
  return rows.map(({ id }) => id as number);
}

/** Identifier by label; null for a label that two rows share, because it is ambiguous. */
export async function idsByLabel(
  reader: Reader,
  table: Table,
  columns: readonly string[],
): Promise<Map<string, number | null>> {
  const rows = await reader.read((sql) => sql(table.name).select('id', ...columns));
  const owners = new Map<string, number | null>();
  for (const row of rows) {
    for (const column of columns) {
      const label = row[column] as string | null;
      if (label === null || label === '') continue;
      const owner = owners.get(label);
      owners.set(label, owner === undefined || owner === row.id ? row.id : null);
    }
  }
  return owners;
}
