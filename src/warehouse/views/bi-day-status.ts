// One row per local day and fact table: whether the day has been read, and whether it will be read again. It says nothing
// about rows: a day that was read and has none is as final as any other.
import { FINAL_PLAN_STATUSES, MISSED_MS } from '../queries/route-plan-facts.ts';
import { IS_UNREAD_BY_FILLER } from '../queries/table-freshness.ts';
import { baseTables } from '../schema/catalog.ts';
import type { Dialect } from '../schema/dialect.ts';
import { boolean, date, instant, text, view } from '../schema/view.ts';

/** The tables whose records belong to a day. Tables of their parts, such as route_point, are read with them. */
export const FACT_TABLES = baseTables.filter(({ retentionBy }) => retentionBy !== null).map(({ name }) => name);
const DAYS = 400;

/** Since when a vehicle is known that was not read yet, or whose drivers were not read yet. */
const UNREAD_SINCE = `(select min(vehicle._first_seen_at) from vehicle
      where ${IS_UNREAD_BY_FILLER})`;

/** The ranges between the final statuses: an index of the status finds the few plans in them. */
const OPEN_STATUSES = [
  'status is null',
  ...[undefined, ...FINAL_PLAN_STATUSES.toSorted()].map((low, index, all) => {
    const high = all[index + 1];
    return [low && `status > '${low}'`, high && `status < '${high}'`].filter(Boolean).join(' and ');
  }),
];

/**
 * The days of plans, and of their stops, that are read by id although the search no longer reaches them: open ones, and those
 * whose status changed or that went missing lately. `union all` and `cross join` keep SQLite from reading all plans and
 * stops in the order of an index.
 */
function daysOfOpenPlans({ now, addSeconds }: Dialect): string {
  const ago = (seconds: string): string => addSeconds(now, seconds);
  const reread = "(select -max(reread_seconds) from table_job where table_name = 'route_plan')";
  const plans = [
    ...OPEN_STATUSES.map((condition) => `select id from route_plan where ${condition}`),
    `select case when entity = 'route_plan' and from_status is not null then entity_id end
      from status_change where observed_at >= ${ago(reread)}`,
  ];
  const watched = `(${plans.join('\n      union all ')}) as watched cross join route_plan as plan`;
  const isWatched = `plan.id = watched.id and plan.date_time_start < ${ago(reread)}
      and (plan._missing_since is null or plan._missing_since >= ${ago(String(-MISSED_MS / 1_000))})`;
  return `select 'route_plan' as table_name, plan._day as day, plan.id
      from ${watched} where ${isWatched}
    union all select 'route_plan', point._day, plan.id from ${watched} cross join route_point as point
      where ${isWatched} and point.route_plan_id = plan.id`;
}

/** The days on which itineraries began that the next run reads by id, because they end in its search period or later. */
function daysOfOpenItineraries({ addSeconds }: Dialect): string {
  const begin = `(select ${addSeconds('max(covered.end_at)', '-max(filler.reread_seconds)')}
      from table_job as filler join sync_coverage as covered on covered.job = filler.job
      where filler.table_name = 'itinerary')`;
  return [`date_time_end >= ${begin}`, 'date_time_end is null']
    .map(
      (isOpen) => `select 'itinerary', (select local.day from local_day as local
        where local.begin_at <= itinerary.date_time_start order by local.begin_at desc limit 1), id
      from itinerary where ${isOpen} and date_time_start < ${begin} and date_excluded is null and _missing_since is null`,
    )
    .join('\n    union all ');
}

/** The days of records that are read by id however old they are, and the ids of those records. */
export const openDays = (dialect: Dialect): string =>
  `(${daysOfOpenPlans(dialect)}
    union all ${daysOfOpenItineraries(dialect)}) as dated`;

/**
 * `expected`: the scopes whose reading began by that day; `covered`: those of them that have read its first instant;
 * `reached`: until when all of these have read without a gap; `gaps`: those that have read on after a gap in the day.
 */
const from = (dialect: Dialect): string => `
from (
  select calendar.day, calendar.begin_at, calendar.end_at, filler.table_name, filler.unread_since, filler.reread,
    count(history.scope) as expected, count(read.scope) as covered,
    min(read.end_at) as reached, min(read.covered_at) as read_at,
    count(case when read.end_at < calendar.end_at and history.until > read.end_at then 1 end) as gaps
  from local_day as calendar
  cross join (
    select filler.table_name, filler.job, filler.scopes, ${UNREAD_SINCE} as unread_since,
      coalesce(filler.reread_seconds, 0) as reread
    from table_job as filler where filler.table_name in (${FACT_TABLES.map((name) => `'${name}'`).join(', ')})
    group by filler.table_name, filler.job, filler.scopes, filler.vehicle_scope, filler.driver_scope,
      filler.reread_seconds) as filler
  left join (
    select covered.job, covered.scope, min(covered.begin_at) as since, max(covered.end_at) as until
    from sync_coverage as covered group by covered.job, covered.scope) as history
    on history.job = filler.job and history.scope like filler.scopes and history.since <= calendar.begin_at
  left join sync_coverage as read on read.job = history.job and read.scope = history.scope
    and read.begin_at <= calendar.begin_at and read.end_at > calendar.begin_at
  left join sync_retention as kept on kept.table_name = filler.table_name
  where calendar.begin_at <= ${dialect.now}
    and (kept.deleted_before is null or calendar.begin_at >= kept.deleted_before)
    and calendar.end_at > ${dialect.addSeconds(dialect.now, String(-DAYS * 86_400))}
  group by calendar.day, calendar.begin_at, calendar.end_at, filler.table_name, filler.unread_since, filler.reread) as reading
left join (select distinct dated.table_name, dated.day from ${openDays(dialect)}) as still_open
  on still_open.day = reading.day and still_open.table_name = reading.table_name`;

const IS_READ = `(reading.covered > 0 and reading.covered = reading.expected
      and (reading.unread_since is null or reading.unread_since >= reading.end_at))`;
const isFinal = ({ addSeconds }: Dialect): string =>
  `(${IS_READ} and reading.gaps = 0 and still_open.day is null
      and reading.reached >= ${addSeconds('reading.end_at', 'reading.reread')})`;
const isHole = ({ now }: Dialect): string =>
  `(reading.end_at <= ${now} and not ${IS_READ} or reading.covered > 0 and reading.gaps > 0)`;

export const biDayStatus = view({
  name: 'bi_day_status',
  meaning:
    'One row per local day of the last 400 and fact table: final, provisional or a hole. Independent of whether the day has rows; without the days that retention has deleted.',
  key: ['day', 'table_name'],
  tables: {},
  columns: {
    day: date('Local day.', 'reading.day'),
    table_name: text(
      `One of ${FACT_TABLES.join(', ')}; tables of their parts are read with them.`,
      'reading.table_name',
    ),
    status: text(
      'final: read completely, and no scheduled run reads the day, or a plan or itinerary of it, again; provisional: still being read; hole: the day is over, and not all of it was read.',
      (dialect) =>
        `case when ${isHole(dialect)} then 'hole' when ${isFinal(dialect)} then 'final' else 'provisional' end`,
    ),
    is_final: boolean('True if status is final.', (dialect) => `(${isFinal(dialect)} and not ${isHole(dialect)})`),
    read_until: instant(
      'Until when the day has been read without a gap, UTC; its end if all of it has been; null if a part, such as a vehicle, has not been read at all.',
      `case when ${IS_READ} then case when reading.reached < reading.end_at then reading.reached else reading.end_at end end`,
    ),
    last_read_at: instant(
      'When the part of the table that was read longest ago was read, UTC; null if read_until is null.',
      `case when ${IS_READ} then reading.read_at end`,
    ),
    expected_final_at: instant(
      'When the day becomes final if the runs keep up, UTC; null if it is final or a hole, or waits for an open plan or itinerary.',
      (dialect) =>
        `case when still_open.day is null and not ${isFinal(dialect)} and not ${isHole(dialect)} then ${dialect.addSeconds('reading.end_at', 'reading.reread')} end`,
    ),
  },
  from,
});
