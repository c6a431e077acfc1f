// One row per table of the service's records: its size and its freshness. A table is as fresh as its stalest scope, never
// as its newest row. A scope is as fresh as its last read or the end of the period that was read, whichever is earlier.
// `roadbook status` uses the same rule.
import { IS_UNREAD_BY_FILLER } from '../queries/table-freshness.ts';
import { baseTables } from '../schema/catalog.ts';
import { instant, integer, text, view } from '../schema/view.ts';

/** The minimum of `reached` over the scopes of the table. */
const stalest = (reached: string): string => `(
    select min(scope.reached) from (
      select ${reached} as reached from sync_coverage as covered
      join table_job as filler on filler.job = covered.job and covered.scope like filler.scopes
      where filler.table_name = counted.table_name group by covered.job, covered.scope) as scope)`;

/** Since when the first vehicle is known that was not read yet, or whose drivers were not read yet. */
const UNREAD_SINCE = `(
    select min(vehicle._first_seen_at) from table_job as filler
    join vehicle on ${IS_UNREAD_BY_FILLER}
    where filler.table_name = counted.table_name)`;

/** Null until every scope has been read. */
const ifAllIsRead = (reached: string): string => `case when ${UNREAD_SINCE} is null then ${stalest(reached)} end`;

const LAST_READ = 'max(covered.covered_at)';
const LAST_END = 'max(covered.end_at)';
const FRESH = `case when ${LAST_READ} < ${LAST_END} then ${LAST_READ} else ${LAST_END} end`;

const counts = baseTables.map(
  ({ name }) => `select '${name}' as table_name, (select count(*) from "${name}") as row_count`,
);

export const biFreshness = view({
  name: 'bi_freshness',
  meaning: 'One row per table: rows, last change, last read, and until when the table is complete.',
  key: ['table_name'],
  tables: {},
  columns: {
    table_name: text('Name of the table.', 'counted.table_name'),
    row_count: integer('Number of rows.', 'counted.row_count'),
    last_change_at: instant(
      'End of the last run that changed a table of the job that fills this one, UTC.',
      `(select run.finished_at from sync_run as run
      where run.job in (select filler.job from table_job as filler where filler.table_name = counted.table_name)
      and run.inserted + run.updated > 0 order by run.started_at desc limit 1)`,
    ),
    last_read_at: instant(
      'When the stalest scope was last read, UTC; null while a scope, such as a new vehicle, has never been read.',
      ifAllIsRead(LAST_READ),
    ),
    // The end of the first period without a gap: reading beyond a gap does not close it.
    covered_until: instant(
      'Until when the table is complete, UTC; null while a scope has never been read.',
      ifAllIsRead('min(covered.end_at)'),
    ),
    freshness_seconds: integer(
      'Seconds since the stalest scope was up to date: since its last read or the end of the period read, or since a vehicle that has not been read became known.',
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
