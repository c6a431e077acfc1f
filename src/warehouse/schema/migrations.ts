// The ordered list of changes that a declaration cannot express: renames, splits, backfills. A new table, column or index
// needs no migration: it is added from its declaration. A released migration is never edited. Long migrations have files
// of their own.
import { syncLease } from '../control/leases.ts';
import { pushReturn } from '../outbox/returns.ts';
import { routePoint } from '../tables/route-point.ts';
import { keyAgentDigests } from './migrations/key-agent-digests.ts';
import type { Migration } from './migrations/migration.ts';
import { rebuildTable } from './migrations/rebuild-table.ts';
import { smallOutbox } from './migrations/small-outbox.ts';

const EXECUTED_AT = `(
  select max(done.return_date) from push_outbox as plan
  join route_point as point on point.route_plan_id = plan.remote_id
  join route_point_execution as done on done.route_point_id = point.id
  where plan.kind = 'route_plans' and plan.external_code = plan_external_code
    and point.external_code = point_external_code)`;

/**
 * Adds the use of a plan's code to the key of `push_return`, and the execution time that each notification had. That was
 * the time of the stop's last execution, even if the execution has vanished since.
 */
const returnKey: Migration = {
  name: '2026-11-16 key returns by the use of the code',
  up: (sql, engine) => rebuildTable(sql, engine, pushReturn, { code_use: '1', executed_at: EXECUTED_AT }),
};

const UNUSED = [
  'checklist_user_id_date_executed',
  'checklist_checklist_form_id',
  'checklist_answer_checklist_form_field_id',
  'checklist_answer_picture',
  'checklist_answer_risk_level',
  'driver_cpf',
  'driver_company_registry',
  'driver_cost_center_id',
  'driver_department_id',
  'image_sha256',
  'itinerary_vehicle_id_date_time_start',
  'itinerary_driver_id',
  'itinerary_external_id',
  'point_of_interest_title',
  'point_of_interest_point_of_interest_category_id',
  'route_plan_status',
  'route_plan_vehicle_id_date_time_start',
  'route_point_external_code',
  'route_point_status',
  'route_point_execution_return_date',
  'vehicle_plate',
  'vehicle_status',
];

/** Drops indexes that no query uses: each one slowed down the loads of its table. */
const unusedIndexes: Migration = {
  name: '2026-11-17 drop unused indexes',
  async up(sql) {
    for (const name of UNUSED) await sql.raw(`drop index if exists "idx_${name}"`);
  },
};

/** sync_rate has other columns. Its content is short-lived, so the table is dropped and created from its declaration. */
const newRateTable = (name: string): Migration => ({
  name,
  async up(sql) {
    await sql.raw('drop table if exists sync_rate');
  },
});

export const rateAsValue = newRateTable('2026-11-19 the rate as one value');

/**
 * A lease lives as long as its process, so it no longer has its own heartbeat. The old columns are dropped: a daemon of an
 * earlier version would see their values unchanged and free the leases of live processes.
 */
const processHeartbeat: Migration = {
  name: '2026-11-18 one heartbeat for each process',
  async up(sql, engine) {
    await rebuildTable(sql, engine, syncLease);
    // A run of an earlier version may have no lease, and then no later holder would mark it.
    await sql('sync_run').where({ status: 'running' }).update({ status: 'abandoned' });
  },
};

/** A point without a scheduled time belongs to the day on which its plan starts. */
const planStart: Migration = {
  name: '2026-11-20 the start of the plan for points without a time',
  async up(sql, engine) {
    const columns = await engine.columnsOf(sql, routePoint.name);
    if (columns === undefined || columns.includes('plan_start')) return;
    const column = routePoint.columns.find(({ name }) => name === 'plan_start');
    if (column === undefined) return;
    await sql.raw(`alter table route_point add column ${engine.columnDefinition(column, routePoint)}`);
    await sql.raw(`update route_point set plan_start = (
      select date_time_start from route_plan where route_plan.id = route_point.route_plan_id) where time_scheduled is null`);
    // Replaced by an index on the local day.
    await sql.raw('drop index if exists "idx_event_event_category_begin_date"');
  },
};

/** Periods of events are found by their local day. */
const eventsByDay: Migration = {
  name: '2026-11-21 no index on the begin of events',
  async up(sql) {
    await sql.raw('drop index if exists "idx_event_begin_date"');
  },
};

export const migrations: readonly Migration[] = [
  keyAgentDigests,
  returnKey,
  smallOutbox,
  unusedIndexes,
  newRateTable('2026-11-17 new columns of the rate'),
  processHeartbeat,
  rateAsValue,
  planStart,
  eventsByDay,
  // The stored rate has no claims any more: builds from before would fail at it, so they must not start.
  newRateTable('2026-11-22 the rate without claims'),
];
