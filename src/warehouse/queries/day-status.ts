// Which days are final, as bi_day_status has it.
import type { Knex } from 'knex';
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

/** Ids of the records of a table that runs read by id however old they are. */
export async function openIds(engine: Pick<Engine, 'read' | 'dialect'>, table_name: string): Promise<Set<string>> {
  const open = (sql: Knex) => sql.from(sql.raw(openDays(engine.dialect))).where({ table_name });
  const rows: { id: number | string }[] = await engine.read((sql) => open(sql).distinct('id'));
  return new Set(rows.map(({ id }) => String(id)));
}
