// The locks of writing transactions, over all processes on a schema. A load takes the lock of each table that it fills,
// and shares the lock of the schema; any other write has the lock of the schema alone. Both end with the transaction.
//
// A process may stop in the middle of a COPY and keep its locks: the server waits for the rest and counts that as
// work, so no limit of its own ends it. A transaction that waits for a lock therefore looks twice at the sessions that
// hold the schema's, and ends those that have not moved in between, by the server's clock; nothing of them is stored.
import type { Knex } from 'knex';
import { arrayText } from './statement.ts';

export interface Locked {
  schema: string;
  /** Those of a load; undefined for any other write. */
  tables?: readonly string[];
}

const ALONE = "select pg_advisory_xact_lock(hashtext('roadbook'), hashtext(?))";
const SHARED = "select pg_advisory_xact_lock_shared(hashtext('roadbook'), hashtext(?))";
const TABLES =
  "select pg_advisory_xact_lock(hashtext('roadbook ' || ?), hashtext(name)) from unnest(?::text[]) as name";

/**
 * The tables first, in the same order everywhere: a load that waits for a table must not hold the schema, or a heartbeat
 * would wait for both.
 */
export async function lockForWrite(sql: Knex, { schema, tables }: Locked): Promise<void> {
  if (tables !== undefined) await sql.raw(TABLES, [schema, arrayText(tables.toSorted())]);
  await sql.raw(tables === undefined ? ALONE : SHARED, [schema]);
}

/** The sessions that hold the lock of the schema and are waited for by the server, and how far they are. Binds the schema. */
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

/** Binds the schema, what was seen before, and for how many milliseconds it has to have stood still. */
const END_IF_STILL = `
  select pg_terminate_backend(pid) from (${WAITED_FOR}) as holder
  where pid = ? and at = ? and seen - ?::timestamptz >= ? * interval '1 millisecond'`;

interface Holder {
  pid: number;
  at: string;
  seen: string;
}

export interface HolderWatch {
  /** Ends the holders that have not moved since the first look; false if there was none. */
  endIfStill(): Promise<boolean>;
  /** The lock is held, or not wanted any more. */
  rest(): void;
}

interface WatchTimes {
  /** When the first look is; most locks are free long before. */
  afterMs: number;
  stalledMs: number;
}

export function watchHolders(aside: Knex, schema: string, { afterMs, stalledMs }: WatchTimes): HolderWatch {
  const rowsOf = (statement: string, bindings: readonly (string | number)[]): Promise<Holder[]> =>
    aside.raw(statement, bindings).then(
      ({ rows }) => rows,
      () => [],
    );
  let seen: Promise<Holder[]> = Promise.resolve([]);
  const timer = setTimeout(() => {
    seen = rowsOf(WAITED_FOR, [schema]);
  }, afterMs);
  return {
    async endIfStill() {
      let ended = 0;
      for (const before of await seen) {
        const found = await rowsOf(END_IF_STILL, [schema, before.pid, before.at, before.seen, stalledMs]);
        ended += found.length;
      }
      return ended > 0;
    },
    rest: () => clearTimeout(timer),
  };
}
