// The rows of bi_day_status for the page.
import type { Engine } from '../engine.ts';

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
