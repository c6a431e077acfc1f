// The outcome of each stop of a plan as the warehouse holds it, and what the ERP was told of it.
import type { Knex } from 'knex';
import { controlTable, instant, text } from '../table.ts';

export const pushReturn = controlTable({
  name: 'push_return',
  meaning: 'The outcome of each stop as the ERP was last told it.',
  key: ['plan_external_code', 'point_external_code'],
  columns: {
    plan_external_code: text('Code of the plan.'),
    point_external_code: text('Code of the stop.'),
    status: text('Status told.', { required: true }),
    outcome_hash: text('Digest of all that was told.', { required: true }),
    told_at: instant('When it was told.', { required: true }),
    run_id: text('The run that told it.', { required: true }),
  },
});

/** A stop that something happened at; the latest execution counts. */
export interface StopRow {
  route_plan_id: number;
  route_point_id: number;
  /** Null or empty where the ERP gave none. */
  external_code: string | null;
  status: string;
  return_date: string | null;
  pictures: string | null;
  signature_img: string | null;
  hodometer_picture: string | null;
  route_return_reason_name: string | null;
  route_executed_reason_name: string | null;
}

/** The identifiers of those of `planIds` that have been pulled. */
export async function pulledPlans(sql: Knex, planIds: readonly number[]): Promise<Set<number>> {
  const rows = await sql('route_point')
    .distinct('route_plan_id')
    .whereIn('route_plan_id', [...planIds]);
  return new Set(rows.map(({ route_plan_id }) => Number(route_plan_id)));
}

export const stopsOf = (sql: Knex, planIds: readonly number[]): Promise<StopRow[]> =>
  sql('route_point as point')
    .leftJoin('route_point_execution as done', 'done.route_point_id', 'point.id')
    .whereIn('point.route_plan_id', [...planIds])
    // The last row of a stop counts, so an execution without a time comes first.
    .orderBy([
      { column: 'done.return_date', order: 'asc', nulls: 'first' },
      { column: 'done.id', order: 'asc' },
    ])
    .select(
      'point.route_plan_id',
      'point.id as route_point_id',
      'point.external_code',
      'point.status',
      'done.return_date',
      'done.pictures',
      'done.signature_img',
      'done.hodometer_picture',
      'done.route_return_reason_name',
      'done.route_executed_reason_name',
    );

export interface ToldStop {
  plan_external_code: string;
  point_external_code: string;
  status: string;
  outcome_hash: string;
  told_at: string;
  run_id: string;
}

export const toldStops = (sql: Knex, planCodes: readonly string[]): Promise<ToldStop[]> =>
  sql('push_return').whereIn('plan_external_code', [...planCodes]);

export async function noteTold(sql: Knex, stops: readonly ToldStop[]): Promise<void> {
  for (const stop of stops) {
    await sql('push_return').insert(stop).onConflict(['plan_external_code', 'point_external_code']).merge();
  }
}
