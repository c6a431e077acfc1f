// Vehicles that are known and of which a job has read nothing yet: a new one, or one that the service refuses to tell of.
// What it should have brought is missing, though no row of `sync_coverage` speaks of it.
import type { Knex } from 'knex';

/** As the condition of a query on `vehicle`; the service cannot be asked for one with a negative id. */
export const isUnread = (job: string, scope: string): string => `vehicle.id >= 0 and not exists (
      select 1 from sync_coverage as reading where reading.job = ${job}
      and reading.scope = replace(${scope}, '%', cast(vehicle.id as text)))`;

/** Since when the first of them is known; null where all have been read. `scope` is that of a vehicle, `%` for its id. */
export async function unreadSince(sql: Knex, job: string, scope: string): Promise<string | null> {
  const [row] = await sql('vehicle')
    .whereRaw(isUnread('?', '?'), [job, scope])
    .min({ since: '_first_seen_at' });
  return row?.since ?? null;
}
