// The lock of the one writer, and who keeps it without end: a process that stood still, or lost its way, in the middle
// of a COPY. The server waits for the rest of the rows and counts that as work, so no limit of its own ends it. Whoever
// has waited in vain for the lock ends such a session; nothing of it is stored.
import type { Knex } from 'knex';

/** Every writing transaction of every process on this schema takes it. */
export const ONE_WRITER = "select pg_advisory_xact_lock(hashtext('roadbook'), hashtext(?))";

const LOCK_NOT_AVAILABLE = '55P03';

/** Binds the schema and for how many milliseconds it has stood still. A batch is sent in one go, so it takes moments. */
const END_STALLED = `
  select pg_terminate_backend(session.pid) from pg_locks as lock join pg_stat_activity as session using (pid)
  where lock.locktype = 'advisory' and lock.granted and lock.objsubid = 2
    and lock.database = (select oid from pg_database where datname = current_database())
    and lock.classid::bigint = hashtext('roadbook')::bigint & 4294967295
    and lock.objid::bigint = hashtext(?)::bigint & 4294967295
    and session.state = 'active' and session.wait_event = 'ClientRead' and session.query ilike 'copy %'
    and session.query_start < clock_timestamp() - ? * interval '1 millisecond'`;

/** Whether the lock was waited for in vain, and somebody who stood still had it and has it no more. */
export async function endStalledWriter(
  thrown: unknown,
  aside: Knex,
  { schema, stalledMs }: { schema: string; stalledMs: number },
): Promise<boolean> {
  if ((thrown as { code?: unknown } | null)?.code !== LOCK_NOT_AVAILABLE) return false;
  const ended = await aside.raw(END_STALLED, [schema, stalledMs]).catch(() => undefined);
  return ended !== undefined && ended.rows.length > 0;
}
