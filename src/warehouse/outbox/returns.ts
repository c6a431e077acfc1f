// What the ERP was last notified of each stop, so that it is notified once for each change; and the stops of pushed
// plans as the warehouse holds them.
import type { Knex } from 'knex';
import { pieces } from '../../core/pieces.ts';
import { controlTable, instant, integer, text } from '../table.ts';

export const pushReturn = controlTable({
  name: 'push_return',
  meaning: 'The outcome of each stop of a pushed plan as the ERP was last notified of it.',
  key: ['plan_external_code', 'code_use', 'point_external_code'],
  columns: {
    plan_external_code: text('Code of the plan.'),
    code_use: integer("Which use of the plan's code, from 1: an ERP may give one code to several plans."),
    point_external_code: text('Code of the stop.'),
    status: text('Status in the notification.', { required: true }),
    executed_at: instant('Time of execution in the notification; null where it had none.'),
    outcome_hash: text('Digest of the notification.', { required: true }),
    told_at: instant('When the ERP was notified.', { required: true }),
    run_id: text('The run that notified it.', { required: true }),
  },
});

export interface NotifiedStop {
  plan_external_code: string;
  code_use: number;
  point_external_code: string;
  status: string;
  executed_at: string | null;
  outcome_hash: string;
  told_at: string;
  run_id: string;
}

export const notifiedStops = (sql: Knex, planCodes: readonly string[]): Promise<NotifiedStop[]> =>
  sql(pushReturn.name).whereIn('plan_external_code', [...planCodes]);

/** Rows a statement: SQLite takes at most 500. */
const CHUNK = 400;

/** No key may occur twice in `stops`. */
export async function storeNotified(sql: Knex, stops: readonly NotifiedStop[]): Promise<void> {
  for (const chunk of pieces(stops, CHUNK)) {
    await sql(pushReturn.name)
      .insert(chunk)
      .onConflict([...pushReturn.key])
      .merge();
  }
}

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
