// The locks of writing transactions, across all processes on a schema. A load takes an exclusive lock on each table that
// it fills and a shared lock on the schema. Any other write takes an exclusive lock on the schema. All locks end with the
// transaction.
//
// A process may stop in the middle of a COPY and keep its locks. The server waits for the remaining rows and counts that
// as work, so none of its timeouts applies. A transaction that waits for a lock therefore checks the holders of the schema
// lock twice, and ends the sessions that made no progress in between, by the server's clock. Their transactions roll back.
import type { Knex } from 'knex';
import { arrayText } from './driver.ts';

export interface LockScope {
  schema: string;
  /** The tables of a load; undefined for any other write. */
  tables?: readonly string[];
}

const ALONE = "select pg_advisory_xact_lock(hashtext('roadbook'), hashtext(?))";
const SHARED = "select pg_advisory_xact_lock_shared(hashtext('roadbook'), hashtext(?))";
const TABLES =
  "select pg_advisory_xact_lock(hashtext('roadbook ' || ?), hashtext(name)) from unnest(?::text[]) as name";

/**
 * Locks the tables first, always in the same order. A load that waits for a table must not hold the schema lock, or a
 * heartbeat would wait for both.
 */
export async function lockForWrite(sql: Knex, { schema, tables }: LockScope): Promise<void> {
  if (tables !== undefined) await sql.raw(TABLES, [schema, arrayText(tables.toSorted())]);
  await sql.raw(tables === undefined ? ALONE : SHARED, [schema]);
}

/** The sessions that hold the schema lock while the server waits for their input, with their progress. Binds the schema. */
const WAITED_FOR = `
  select session.pid, clock_timestamp() as seen,
    concat_ws(' ', session.backend_start, session.query_start, copy.bytes_processed) as at
  from pg_locks as lock join pg_stat_activity as session using (pid)
    left join pg_stat_progress_copy as copy using (pid)
  where lock.locktype = 'advisory' and lock.granted and lock.objsubid = 2
    and lock.database = (select oid from pg_database where datname = current_database())
    and lock.classid::bigint = hashtext('roadbook')::bigint & 4294967295
    and lock.objid::bigint = hashtext(?)::bigint & 4294967295
    and session.state = 'active' and session.wait_event = 'ClientRead'`;

/** Binds the schema, the holder as first read, and the minimum time without progress in milliseconds. */
const END_IF_STALLED = `
  select pg_terminate_backend(pid) from (${WAITED_FOR}) as holder
  where pid = ? and at = ? and seen - ?::timestamptz >= ? * interval '1 millisecond'`;

interface Holder {
  pid: number;
  at: string;
  seen: string;
}

/**
 * Checks the holders after `afterMs`: most locks are free long before. `stop` cancels that, once the lock is taken or no
 * longer wanted.
 */
export function watchHolders(
  besideWriter: Knex,
  schema: string,
  { afterMs, stalledMs }: { afterMs: number; stalledMs: number },
) {
  const rowsOf = (statement: string, bindings: readonly (string | number)[]): Promise<Holder[]> =>
    besideWriter.raw(statement, bindings).then(
      ({ rows }) => rows,
      () => [],
    );
  let seen: Promise<Holder[]> = Promise.resolve([]);
  const timer = setTimeout(() => {
    seen = rowsOf(WAITED_FOR, [schema]);
  }, afterMs);
  return {
    /** Ends the holders that made no progress since the first check. Returns false if there was none. */
    async endIfStalled(): Promise<boolean> {
      let ended = 0;
      for (const before of await seen) {
        const found = await rowsOf(END_IF_STALLED, [schema, before.pid, before.at, before.seen, stalledMs]);
        ended += found.length;
      }
      return ended > 0;
    },
    stop: (): void => clearTimeout(timer),
  };
}
