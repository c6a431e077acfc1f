// Which days are final, as bi_day_status has it.
import type { Engine } from '../engine.ts';
import { openDays } from '../views/bi-day-status.ts';

export interface DayStatus {
  /** Local date. */
  day: string;
  table_name: string;
  status: 'final' | 'provisional' | 'hole';
  read_until: string | null;
  last_read_at: string | null;
  expected_final_at: string | null;
}

/** The local days from `first` to `last`, newest first; `tables` restricts the tables. */
export const dayStatuses = (
  engine: Pick<Engine, 'read'>,
  { first, last, ...tables }: { first: string; last: string; table_name?: string },
): Promise<DayStatus[]> =>
  engine.read((sql) =>
    sql('bi_day_status')
      .whereBetween('day', [first, last])
      .where(tables)
      .orderBy('day', 'desc')
      .orderBy('table_name')
      .select('day', 'table_name', 'status', 'read_until', 'last_read_at', 'expected_final_at'),
  );

/** By table, the ids of the records that runs read by id however old they are. */
export async function openIds(engine: Pick<Engine, 'read' | 'dialect'>): Promise<Map<string, Set<string>>> {
  const rows: { table_name: string; id: number | string }[] = await engine.read((sql) =>
    sql.from(sql.raw(openDays(engine.dialect))).distinct('table_name', 'id'),
  );
  const tables = Map.groupBy(rows, ({ table_name }) => table_name);
  return new Map([...tables].map(([table, own]) => [table, new Set(own.map(({ id }) => String(id)))]));
}
