// Known vehicles that a job has not read yet: a new vehicle, or one that the service does not return data for. Their data
// is missing, although `sync_coverage` has no row that says so.
import type { Knex } from 'knex';

/** Condition of a query on `vehicle`. Vehicles with a negative id are excluded: the service does not accept them. */
const isUnread = (job: string, scope: string): string => `vehicle.id >= 0 and not exists (
      select 1 from sync_coverage as reading where reading.job = ${job}
      and reading.scope = replace(${scope}, '%', cast(vehicle.id as text)))`;

/** The same for the scopes of `filler`, a row of `table_job`. */
export const IS_UNREAD_BY_FILLER = ['filler.vehicle_scope', 'filler.driver_scope']
  .map((scope) => `(${scope} is not null and ${isUnread('filler.job', scope)})`)
  .join(' or ');

/** Since when the first unread vehicle is known; null if all have been read. `scope` is the scope of a vehicle, `%` for its id. */
export async function unreadSince(sql: Knex, job: string, scope: string): Promise<string | null> {
  const [row] = await sql('vehicle').whereRaw(isUnread('?', '?'), [job, scope]).min({ since: '_first_seen_at' });
  return row?.since ?? null;
}
