// What the warehouse knows of plans when it is decided which of them to ask for again.
import type { Engine } from './engine.ts';

type Reader = Pick<Engine, 'read'>;

export interface KnownPlan {
  id: number;
  status: string | null;
  date_time_end: string | null;
}

/** Statuses in which a plan rests: completed, or optimisation failed. */
export const FINAL_PLAN_STATUSES: readonly string[] = ['C', 'I'];

/** Plans that start in a period, by id. */
export async function plansStartingIn(
  reader: Reader,
  beginAt: string,
  endAt: string,
): Promise<Map<number, KnownPlan>> {
  const rows: KnownPlan[] = await reader.read((sql) =>
    sql('route_plan')
      .where('date_time_start', '>=', beginAt)
      .where('date_time_start', '<', endAt)
      .select('id', 'status', 'date_time_end'),
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** Plans that are still listed, may yet change, and start outside of the period. */
export async function openPlansOutside(reader: Reader, beginAt: string, endAt: string): Promise<number[]> {
  const rows = await reader.read((sql) =>
    sql('route_plan')
      .whereNull('_missing_since')
      .where((open) => open.whereNull('status').orWhereNotIn('status', [...FINAL_PLAN_STATUSES]))
      .where((outside) =>
        outside
          .whereNull('date_time_start')
          .orWhere('date_time_start', '<', beginAt)
          .orWhere('date_time_start', '>=', endAt),
      )
      .orderBy('id')
      .select('id'),
  );
  return rows.map(({ id }) => id as number);
}

/** When each scope of the job was last read in full. */
export async function lastRead(reader: Reader, job: string): Promise<Map<string, string>> {
  const rows: { scope: string; at: string }[] = await reader.read((sql) =>
    sql('sync_coverage').where({ job }).groupBy('scope').select('scope', sql.raw('max(covered_at) as at')),
  );
  return new Map(rows.map(({ scope, at }) => [scope, at]));
}
