// Columns shared by the views of vehicle days and driver days: the figures of a daily summary under business names, and
// whether the day is final. The service still changes a day after its end. How long is measured on days whose rows were
// first read before they ended. A day is final once it was read that long after its end.
import type { Dialect } from '../../schema/dialect.ts';
import { boolean, instant, integer, real, type ViewColumnDraft } from '../../schema/view.ts';

const DAY_S = 86_400;
/** With fewer measured rows than this, UNMEASURED_LAG_S applies. */
const LEAST_MEASURED = 30;
const UNMEASURED_LAG_S = 3 * DAY_S;
/** A day is measured only once no more changes are expected, and only for a limited time. */
const MATURE_AFTER_S = 3 * DAY_S;
const MEASURED_FOR_S = 90 * DAY_S;

/** When the daily summaries of the matching scopes were last read. A rewrite for privacy does not count as a read. */
const lastRead = (scope: string): string => `(
    select max(read.covered_at) from sync_coverage as read
    join table_job as filler on filler.job = read.job and filler.table_name = 'daily_summary'
    where ${scope})`;

/** Seconds after the end of a day within which 99 of 100 rows had their last change. */
function arrivalLag(subject: string, { secondsBetween, addSeconds }: Dialect): string {
  const latest = lastRead('true');
  const late = secondsBetween('watched_day.end_at', 'watched._changed_at');
  // The bound on the day is for the index; the ends of the days decide.
  const measured = (what: string): string => `
      select ${what} from daily_summary as watched
      join local_day as watched_day on watched_day.day = watched.day
      where watched.subject = '${subject}' and watched._first_seen_at < watched_day.end_at
      and watched._run_id <> 'privacy'
      and watched.day >= (select oldest.day from local_day as oldest
        where oldest.begin_at <= ${addSeconds(latest, String(-MEASURED_FOR_S - DAY_S))} order by oldest.begin_at desc limit 1)
      and watched_day.end_at > ${addSeconds(latest, String(-MEASURED_FOR_S))}
      and watched_day.end_at <= ${addSeconds(latest, String(-MATURE_AFTER_S))}`;
  return `(case when (${measured('count(*)')}) < ${LEAST_MEASURED} then ${UNMEASURED_LAG_S} else (
      ${measured(`case when ${late} > 0 then ${late} else 0 end as lag`)}
      order by lag limit 1 offset (${measured('(count(*) * 99 - 1) / 100')})) end)`;
}

/** A single covered interval contains the full day. */
const WHOLE_DAY = 'read.begin_at <= calendar.begin_at and read.end_at >= calendar.end_at';

/** When the full day was last read. `scope` is a condition on `read.scope` that selects the coverage of the row. */
export const fullDayRead = (scope = 'true'): string => lastRead(`${scope} and ${WHOLE_DAY}`);

/** The query of a view of days, with the table of the subject under its name. */
export const dayRows = (subject: 'vehicle' | 'driver'): string => `
from daily_summary as summary
left join ${subject} on ${subject}.id = summary.${subject}_id
left join local_day as calendar on calendar.day = summary.day
where summary.subject = '${subject}' and summary._missing_since is null`;

export const dayFigures = (subject: 'vehicle' | 'driver', reading: string): Record<string, ViewColumnDraft> => ({
  trips: real('Trips.', 'summary.count_travel'),
  distance: real('Distance travelled; unit not stated by the service.', 'summary.total_distance'),
  distance_out_of_hours: real(
    'Distance travelled out of working hours; unit not stated by the service.',
    'summary.total_distance_out_of_work',
  ),
  moving_time: real('Time in movement; unit not stated by the service.', 'summary.total_time_in_moviment'),
  ignition_on_time: real(
    'Time with the ignition on; unit not stated by the service.',
    'summary.total_time_in_ignition_on',
  ),
  ignition_off_time: real(
    'Time with the ignition off; unit not stated by the service.',
    'summary.total_time_in_ignition_off',
  ),
  idle_time: real('Time with the ignition on and no movement; unit not stated by the service.', IDLE),
  utilisation: real(
    'Share of the day in movement, 0 to 1: moving_time of ignition_on_time and ignition_off_time.',
    `summary.total_time_in_moviment
      / nullif(summary.total_time_in_ignition_on + summary.total_time_in_ignition_off, 0)`,
  ),
  idle_share: real(
    'Share of the time with the ignition on that was idle, 0 to 1.',
    `(${IDLE}) / nullif(summary.total_time_in_ignition_on, 0)`,
  ),
  speeding_count: real('Times above the speed limit.', 'summary.count_high_speed'),
  speeding_time: real(
    'Time above the speed limit; unit not stated by the service.',
    'summary.total_time_in_high_speed',
  ),
  out_of_hours_count: real('Times out of working hours.', 'summary.count_out_of_work'),
  out_of_hours_time: real(
    'Time out of working hours; unit not stated by the service.',
    'summary.total_time_out_of_work',
  ),
  high_rpm_time: real('Time at high engine speed; unit not stated by the service.', 'summary.total_time_rpm_high'),
  top_speed: real('Highest speed; unit not stated by the service.', 'summary.speed_max'),
  average_speed: real('Average speed; unit not stated by the service.', 'summary.speed_average'),
  recalculations: integer(
    'Number of figures of the day that the service changed after the first read.',
    `(select count(*) from daily_summary_revision as revision
    where revision.day = summary.day and revision.subject = summary.subject and revision.title = summary.title)`,
  ),
  changed_at: instant('When a figure of the day last changed, UTC.', 'summary._changed_at'),
  arrival_lag_seconds: integer(
    'Seconds after its end in which a day still changes, measured as the 99th percentile of observed days; three days until enough are measured.',
    (dialect) => arrivalLag(subject, dialect),
  ),
  is_final: boolean(
    'True once the day was read at least arrival_lag_seconds after its end; false while its figures are provisional.',
    (dialect) =>
      `coalesce(${reading}
      >= ${dialect.addSeconds('calendar.end_at', arrivalLag(subject, dialect))}, false)`,
  ),
});

const IDLE = `case when summary.total_time_in_ignition_on >= summary.total_time_in_moviment
      then summary.total_time_in_ignition_on - summary.total_time_in_moviment end`;
