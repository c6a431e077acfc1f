// One row a table of the service's records: how much is in it and how far it can be trusted. A table is as fresh as
// its stalest scope, never as its newest row: as its last reading, or as the end of what was read where that lies
// further back; `roadbook status` tells the same.

import { isUnread } from '../queries/unread-vehicles.ts';
import { baseTables } from '../schema/catalog.ts';
import { instant, integer, text, view } from '../schema/view.ts';

/** The least of what the scopes of the table have reached. */
const stalest = (reached: string): string => `(
    select min(scope.reached) from (
      select ${reached} as reached from sync_coverage as covered
      join table_job as filler on filler.job = covered.job and covered.scope like filler.scopes
      where filler.table_name = counted.table_name group by covered.job, covered.scope) as scope)`;

/** Since when a vehicle is known of which nothing, or nothing of its drivers, was read yet. */
const UNREAD_SINCE = `(
    select min(vehicle._first_seen_at) from table_job as filler
    join vehicle on ${['filler.vehicle_scope', 'filler.driver_scope']
      .map((scope) => `(${scope} is not null and ${isUnread('filler.job', scope)})`)
      .join(' or ')}
    where filler.table_name = counted.table_name)`;

/** Null where it was read in no part, or where some part was not read at all. */
const whereAllIsRead = (reached: string): string =>
  `case when ${UNREAD_SINCE} is null then ${stalest(reached)} end`;

const LAST_READ = 'max(covered.covered_at)';
const LAST_END = 'max(covered.end_at)';
const FRESH = `case when ${LAST_READ} < ${LAST_END} then ${LAST_READ} else ${LAST_END} end`;

const counts = baseTables.map(
  ({ name }) => `select '${name}' as table_name, (select count(*) from "${name}") as row_count`,
);

export const biFreshness = view({
  name: 'bi_freshness',
  meaning: 'One row a table: rows, last change, when it was last read and until when it is complete.',
  key: ['table_name'],
  tables: {},
  columns: {
    table_name: text('Name of the table.', 'counted.table_name'),
    row_count: integer('Rows in it.', 'counted.row_count'),
    last_change_at: instant(
      'When a run that changed something last ended, UTC.',
      `(select run.finished_at from sync_run as run
      where run.job in (select filler.job from table_job as filler where filler.table_name = counted.table_name)
      and run.inserted + run.updated > 0 order by run.started_at desc limit 1)`,
    ),
    last_read_at: instant(
      'When the part that waits longest was last read, UTC; null while a part, such as a new vehicle, was not.',
      whereAllIsRead(LAST_READ),
    ),
    // The end of the first stretch without a hole: what was read beyond one does not fill it.
    covered_until: instant(
      'Everything that the service knew until then is in it, UTC; null while a part was not read at all.',
      whereAllIsRead('min(covered.end_at)'),
    ),
    freshness_seconds: integer(
      'Seconds since the part that waits longest was up to date: its last reading, or the end of what was read; of a vehicle that was not read yet, since it is known.',
      ({ secondsBetween, now }) => {
        const fresh = stalest(FRESH);
        const since = `case when ${UNREAD_SINCE} < ${fresh} then ${UNREAD_SINCE} else ${fresh} end`;
        const seconds = secondsBetween(since, now);
        return `case when ${seconds} < 0 then 0 else ${seconds} end`;
      },
    ),
  },
  from: `from (\n${counts.join('\nunion all ')}) as counted`,
});
