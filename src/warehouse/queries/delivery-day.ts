// The deliveries of a local day for the page: the plans that start on that day, their stops with outcomes, the events and
// the distances of the vehicles. Instants are compared as stored.
import type { Knex } from 'knex';
import { readInChunks } from '../../core/chunks.ts';
import type { Engine } from '../engine.ts';
import type { OutboxEntry } from '../outbox/entry.ts';
import { isCustomerStop, isLatestExecution } from '../views/shared/stops.ts';

type Reader = Pick<Engine, 'read'>;

/** ISO instants; `from` is inclusive, `to` exclusive. */
export interface DayPeriod {
  from: string;
  to: string;
}

export interface DayPlan {
  id: number;
  external_code: string | null;
  status: string | null;
  vehicle_plate: string | null;
  user_name: string | null;
  date_time_start: string;
}

export interface DayStop {
  id: number;
  route_plan_id: number;
  name: string | null;
  status: string | null;
  time_scheduled: string | null;
  /** Time of the last execution; null if there is none. */
  executed_at: string | null;
  changed_at: string;
}

const plansOf = (sql: Knex, { from, to }: DayPeriod): Knex.QueryBuilder =>
  sql('route_plan').where('date_time_start', '>=', from).where('date_time_start', '<', to).whereNull('_missing_since');

export const dayPlans = (engine: Reader, day: DayPeriod): Promise<DayPlan[]> =>
  engine.read((sql) =>
    plansOf(sql, day)
      .orderBy('date_time_start')
      .orderBy('id')
      .select('id', 'external_code', 'status', 'vehicle_plate', 'user_name', 'date_time_start'),
  );

const stopsOf = async (sql: Knex, plans: Knex.QueryBuilder | readonly number[]): Promise<DayStop[]> =>
  sql('route_point as point')
    .whereIn('route_plan_id', plans as Knex.QueryBuilder)
    .whereNull('_missing_since')
    .whereRaw(isCustomerStop('point'))
    .select(
      'id',
      'route_plan_id',
      'name',
      'status',
      'time_scheduled',
      sql.raw('_changed_at as changed_at'),
      sql.raw(
        `(select max(return_date) from route_point_execution as done
          where done.route_point_id = point.id and done._missing_since is null) as executed_at`,
      ),
    );

export const dayStops = (engine: Reader, day: DayPeriod): Promise<DayStop[]> =>
  engine.read((sql) => stopsOf(sql, plansOf(sql, day).select('id')));

const ENTRY_COLUMNS = [
  ...(['kind', 'external_code', 'code_use', 'state', 'attention', 'message', 'reasons', 'remote_id'] as const),
  ...(['origin', 'attempts', 'period_start', 'created_at', 'sent_at', 'confirmed_at', 'updated_at'] as const),
  ...(['told_at', 'payload', 'period_end', 'unknown_since', 'content_hash', 'sent_hash'] as const),
] as const;

export interface EntryOfDay extends Pick<OutboxEntry, (typeof ENTRY_COLUMNS)[number]> {
  /** The run that last sent the item or read it back; null if none did. */
  run_id: string | null;
  /** The licence plates that the ERP named last. */
  plates: string | null;
}

export interface PlanOfDay extends DayPlan {
  vehicle_id: number | null;
  date_time_end: string | null;
  changed_at: string;
  run_id: string;
  missing_since: string | null;
}

const LAST_RUN = `(select attempt.run_id from push_attempt as attempt where attempt.kind = entry.kind
  and attempt.external_code = entry.external_code and attempt.code_use = entry.code_use
  and attempt.run_id is not null order by attempt.number desc limit 1) as run_id`;

const PLATES = `(select content.plates from push_content as content where content.kind = entry.kind
  and content.external_code = entry.external_code and content.code_use = entry.code_use) as plates`;

const IDS_AT_ONCE = 500;

/** The plans of a day on both sides: offered by the ERP, at the service, or both. Each side also by what the other refers to. */
export const plansOnBothSides = (engine: Reader, { from, to }: DayPeriod) =>
  engine.read(async (sql) => {
    const entries = (): Knex.QueryBuilder =>
      sql('push_outbox as entry')
        .where({ kind: 'route_plans' })
        .select(...ENTRY_COLUMNS, sql.raw(LAST_RUN), sql.raw(PLATES));
    const plans = (): Knex.QueryBuilder =>
      sql('route_plan as plan').select(
        ...['id', 'external_code', 'status', 'vehicle_id', 'vehicle_plate', 'user_name'],
        ...['date_time_start', 'date_time_end'],
        sql.raw('_changed_at as changed_at, _run_id as run_id, _missing_since as missing_since'),
      );
    const offered: EntryOfDay[] = await entries().where('period_start', '>=', from).where('period_start', '<', to);
    const listed: PlanOfDay[] = await plans()
      .where('date_time_start', '>=', from)
      .where('date_time_start', '<', to)
      .whereNull('_missing_since');
    const known = new Set(listed.map(({ id }) => id));
    const elsewhere = offered.flatMap(({ remote_id: id }) => (id === null || known.has(id) ? [] : [id]));
    const owned = new Set(offered.map(({ remote_id }) => remote_id));
    const unowned = listed.map(({ id }) => id).filter((id) => !owned.has(id));
    const inChunks = <Row>(all: readonly number[], read: (ids: number[]) => Promise<Row[]>): Promise<Row[]> =>
      readInChunks(all, IDS_AT_ONCE, read);
    offered.push(...(await inChunks<EntryOfDay>(unowned, (ids) => entries().whereIn('remote_id', ids))));
    listed.push(...(await inChunks<PlanOfDay>(elsewhere, (ids) => plans().whereIn('id', ids))));
    const ids = listed.map(({ id }) => id);
    const stops = await inChunks(ids, (some) => stopsOf(sql, some));
    return { entries: offered, plans: listed, stops };
  });

export const dayEvents = (engine: Reader, day: string): Promise<{ event_category: number; n: number }[]> =>
  engine.read(async (sql) => {
    const rows: { event_category: number; n: number }[] = await sql('event_day')
      .where({ day })
      .where('events', '>', 0)
      .groupBy('event_category')
      .select('event_category', sql.raw('sum(events) as n'));
    return rows.map(({ event_category, n }) => ({ event_category, n: Number(n) }));
  });

export interface VehicleDay {
  title: string;
  total_distance: number | null;
  count_travel: number | null;
}

/** The vehicles with the longest distances. */
export const vehicleDays = (engine: Reader, day: string, limit: number): Promise<VehicleDay[]> =>
  engine.read((sql) =>
    sql('daily_summary')
      .where({ day, subject: 'vehicle' })
      .whereNull('_missing_since')
      .orderByRaw('coalesce(total_distance, 0) desc')
      .orderBy('title')
      .limit(limit)
      .select('title', 'total_distance', 'count_travel'),
  );

/** The last local day with a daily summary; null if there is none. */
export const lastSummaryDay = (engine: Reader): Promise<string | null> =>
  engine.read(async (sql) => (await sql('daily_summary').max({ day: 'day' }))[0]?.day ?? null);

export interface MapPoint {
  id: number;
  name: string | null;
  type: string | null;
  status: string | null;
  planned_order: number | null;
  latitude: number | null;
  longitude: number | null;
  time_scheduled: string | null;
  executed_at: string | null;
  executed_latitude: number | null;
  executed_longitude: number | null;
  reason: string | null;
}

/** The points of a plan in planned order, each with its last execution. */
export const planPoints = (engine: Reader, planId: number): Promise<MapPoint[]> =>
  engine.read(async (sql) => {
    const points = await sql('route_point as point')
      .joinRaw(`left join route_point_execution as done on ${isLatestExecution('point.id')}`)
      .where('point.route_plan_id', planId)
      .whereNull('point._missing_since')
      .orderByRaw('coalesce(point.optimized_order, point."order")')
      .orderBy('point.id')
      .limit(MOST_POINTS)
      .select(
        'point.id',
        'point.name',
        'point.type',
        'point.status',
        sql.raw('coalesce(point.optimized_order, point."order") as planned_order'),
        'point.latitude',
        'point.longitude',
        'point.time_scheduled',
        sql.raw('done.return_date as executed_at'),
        sql.raw('done.latitude as executed_latitude'),
        sql.raw('done.longitude as executed_longitude'),
        sql.raw('coalesce(done.route_return_reason_name, done.route_executed_reason_name) as reason'),
      );
    return points as MapPoint[];
  });

const MOST_POINTS = 1_000;
