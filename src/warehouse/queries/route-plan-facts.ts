// Facts about stored plans, for deciding which plans to read again.
import type { Engine } from '../engine.ts';

type Reader = Pick<Engine, 'read'>;

export interface KnownPlan {
  /** Digits as text beyond 2^53. */
  id: number | string;
  status: string | null;
  date_time_end: string | null;
  _missing_since: string | null;
  /** When the last status change was observed; null if there was none. */
  turned_at: string | null;
}

/** Statuses that a plan normally keeps: completed, or optimisation failed. */
export const FINAL_PLAN_STATUSES: readonly string[] = ['C', 'I'];

/** How long a missing plan is still read by id, because it may return. */
export const MISSED_MS = 7 * 86_400_000;

const TURNED = `(select max(observed_at) from status_change where entity = 'route_plan'
  and entity_id = route_plan.id and from_status is not null)`;

/** Plans that start in a period, by id. */
export async function plansStartingIn(
  reader: Reader,
  beginAt: string,
  endAt: string,
): Promise<Map<KnownPlan['id'], KnownPlan>> {
  const rows: KnownPlan[] = await reader.read((sql) =>
    sql('route_plan')
      .where('date_time_start', '>=', beginAt)
      .where('date_time_start', '<', endAt)
      .select('id', 'status', 'date_time_end', '_missing_since', sql.raw(`${TURNED} as turned_at`)),
  );
  return new Map(rows.map((row) => [row.id, row]));
}

export interface WatchedSince {
  /** A final plan whose status changed after this instant may still change. */
  turnedAt: string;
  /** A plan that went missing after this instant may still return. */
  missingAt: string;
}

/** Plans that start outside the period and may still change. */
export async function openPlansOutside(
  reader: Reader,
  { beginAt, endAt }: { beginAt: string; endAt: string },
  since: WatchedSince,
): Promise<number[]> {
  const rows = await reader.read((sql) =>
    sql('route_plan')
      .where((listed) => listed.whereNull('_missing_since').orWhere('_missing_since', '>=', since.missingAt))
      .where((open) =>
        open
          .whereNull('status')
          .orWhereNotIn('status', [...FINAL_PLAN_STATUSES])
          .orWhereIn(
            'id',
            sql('status_change')
              .where({ entity: 'route_plan' })
              .whereNotNull('from_status')
              .where('observed_at', '>=', since.turnedAt)
              .select('entity_id'),
          ),
      )
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

/** A period whose plans were read together. */
export interface PlanReading {
  scope: string;
  beginAt: string;
  endAt: string;
  /** When the period was read. */
  at: string;
}

/** The reads of the job under scopes that match this pattern (LIKE). */
export async function planReadings(reader: Reader, job: string, scopes: string): Promise<PlanReading[]> {
  return reader.read((sql) =>
    sql('sync_coverage')
      .where({ job })
      .whereLike('scope', scopes)
      .select('scope', 'begin_at as beginAt', 'end_at as endAt', 'covered_at as at'),
  );
}
