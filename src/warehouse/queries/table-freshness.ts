// The freshness of a table is that of its stalest scope, never that of its newest row. A scope is as fresh as its last
// read or the end of the period that was read, whichever is earlier: reading old data today makes nothing fresh. A vehicle
// that was never read is as fresh as the moment it became known.
import type { Knex } from 'knex';
import type { Engine } from '../engine.ts';

export interface Filler {
  job: string;
  /** True for the scopes that the job reads now. Scopes of former settings do not count. */
  tracks(scope: string): boolean;
  /** The scopes that each vehicle must have, `%` for its id; absent if the job does not read by vehicle. */
  partScopes?: readonly string[];
}

export interface TableFreshness {
  /** When a run last changed the table. */
  lastChangeAt: string | null;
  /** Until when the stalest scope is up to date; null if nothing was read yet. */
  freshAt: string | null;
}

export const tableFreshness = (engine: Pick<Engine, 'read'>, fillers: readonly Filler[]): Promise<TableFreshness> =>
  engine.read(async (sql) => {
    const jobs = fillers.map(({ job }) => job);
    const scopes: { job: string; scope: string; read: string; reached: string }[] = await sql('sync_coverage')
      .whereIn('job', jobs)
      .groupBy('job', 'scope')
      .select('job', 'scope', sql.raw('max(covered_at) as read, max(end_at) as reached'));
    const tracked = scopes.filter(({ job, scope }) =>
      fillers.some((filler) => filler.job === job && filler.tracks(scope)),
    );
    const changed = await sql('sync_run')
      .whereIn('job', jobs)
      .whereRaw('inserted + updated > 0')
      .orderBy('started_at', 'desc')
      .first('finished_at');
    const reached = tracked.flatMap(({ read, reached }) => [read, reached]);
    for (const { job, partScopes = [] } of reached.length === 0 ? [] : fillers)
      for (const scope of partScopes) {
        const since = await unreadSince(sql, job, scope);
        if (since !== null) reached.push(since);
      }
    return {
      lastChangeAt: changed?.finished_at ?? null,
      // Instants in the same format sort as text.
      freshAt: reached.toSorted()[0] ?? null,
    };
  });

/**
 * Condition of a query on `vehicle`: a known vehicle that a job has not read yet, because it is new or the service returns
 * no data for it. Its data is missing, although `sync_coverage` has no row that says so. Vehicles with a negative id are excluded: the service does not accept
 * them.
 */
const isUnread = (job: string, scope: string): string => `vehicle.id >= 0 and not exists (
      select 1 from sync_coverage as reading where reading.job = ${job}
      and reading.scope = replace(${scope}, '%', cast(vehicle.id as text)))`;

/** The same for the scopes of `filler`, a row of `table_job`. */
export const IS_UNREAD_BY_FILLER = ['filler.vehicle_scope', 'filler.driver_scope']
  .map((scope) => `(${scope} is not null and ${isUnread('filler.job', scope)})`)
  .join(' or ');

/** Since when the first unread vehicle is known; null if all have been read. `scope` is the scope of a vehicle, `%` for its id. */
async function unreadSince(sql: Knex, job: string, scope: string): Promise<string | null> {
  const [row] = await sql('vehicle').whereRaw(isUnread('?', '?'), [job, scope]).min({ since: '_first_seen_at' });
  return row?.since ?? null;
}
