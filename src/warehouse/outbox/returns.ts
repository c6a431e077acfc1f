// The last notification of each stop to the ERP, so that the ERP is notified once for each change. Also reads the
// pulled stops of pushed plans.
import type { Knex } from 'knex';
import { controlTable, instant, integer, type RowOf, text } from '../schema/table.ts';
import type { OutboxEntry } from './entry.ts';

/** The row that counts the stops of a plan without a code. A query uses the index only if it repeats this word for word. */
const COUNTS_UNCODED = "point_external_code = ''";

export const pushReturn = controlTable({
  name: 'push_return',
  meaning: 'The outcome of each stop of a pushed plan, as last sent to the ERP.',
  key: ['plan_external_code', 'code_use', 'point_external_code'],
  columns: {
    plan_external_code: text('Code of the plan.'),
    code_use: integer("Which use of the plan's code this is, from 1: an ERP may use one code for several plans."),
    point_external_code: text(
      'Code of the stop; empty in the row that counts the stops with an outcome but without a code.',
    ),
    status: text('Status in the notification; if point_external_code is empty, the number of such stops.', {
      required: true,
    }),
    executed_at: instant('Time of execution in the notification; null if it had none.'),
    outcome_hash: text('Digest of the notification; empty if point_external_code is empty.', {
      required: true,
    }),
    told_at: instant('When the ERP was notified.', { required: true }),
    run_id: text('The run that notified the ERP.', { required: true }),
  },
  indexes: [{ columns: ['told_at'], where: COUNTS_UNCODED }],
});

export type NotifiedStop = RowOf<typeof pushReturn>;

export const notifiedStops = (sql: Knex, planCodes: readonly string[]): Promise<NotifiedStop[]> =>
  sql(pushReturn.name).whereIn('plan_external_code', [...planCodes]);

/** The stops without a code of all plans that had more of them since then, and when the last plan had. */
export async function uncodedStops(sql: Knex, since: string): Promise<{ n: number; newest: string | null }> {
  const [row] = await sql(pushReturn.name)
    .whereRaw(COUNTS_UNCODED)
    .where('told_at', '>=', since)
    .select(sql.raw('sum(cast(status as integer)) as n, max(told_at) as newest'));
  return { n: Number(row?.n ?? 0), newest: row?.newest ?? null };
}

const PLANS_A_PAGE = 100;

/** Confirmed plans that started by `startedBy` and end after `endedAfter`, one page in the order of their end. */
export const runningPlans = (
  sql: Knex,
  { startedBy, endedAfter }: { startedBy: string; endedAfter: string },
  after: OutboxEntry | undefined,
): Promise<OutboxEntry[]> => {
  const page = sql('push_outbox')
    .where({ kind: 'route_plans', state: 'confirmed' })
    .whereNotNull('remote_id')
    .where('period_start', '<=', startedBy)
    .where('period_end', '>', endedAfter);
  if (after !== undefined)
    page.whereRaw('(period_end, external_code, code_use) > (?, ?, ?)', [
      after.period_end,
      after.external_code,
      after.code_use,
    ]);
  return page.orderBy(['period_end', 'external_code', 'code_use']).limit(PLANS_A_PAGE);
};

/** A stop with one of its executions; the execution's columns are null if there is none. */
export interface StopRow {
  route_point_id: number;
  /** Null or empty if the ERP set none. */
  external_code: string | null;
  status: string | null;
  return_date: string | null;
  pictures: string | null;
  signature_img: string | null;
  hodometer_picture: string | null;
  route_return_reason_name: string | null;
  route_executed_reason_name: string | null;
}

type PulledRow = StopRow & { route_plan_id: number; _missing_since: string | null };

/**
 * Stops by plan. Omits plans that have not been pulled, and stops and executions that have vanished. Executions are in
 * order of time, those without a time first, so that the last execution of a stop comes last.
 */
export async function pulledStops(sql: Knex, planIds: readonly number[]): Promise<Map<number, StopRow[]>> {
  const rows: PulledRow[] = await sql('route_point as point')
    .leftJoin('route_point_execution as done', (join) =>
      join.on('done.route_point_id', 'point.id').andOnNull('done._missing_since'),
    )
    .whereIn('point.route_plan_id', [...planIds])
    .orderBy([
      { column: 'done.return_date', order: 'asc', nulls: 'first' },
      { column: 'done.id', order: 'asc' },
      { column: 'point.id', order: 'asc' },
    ])
    .select(
      'point.route_plan_id',
      'point._missing_since',
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
  const byPlan = Map.groupBy(rows, ({ route_plan_id }) => Number(route_plan_id));
  // A plan whose stops have all vanished stays in the map, with an empty list: it has been pulled.
  return new Map([...byPlan].map(([id, own]) => [id, own.filter(({ _missing_since }) => _missing_since === null)]));
}
