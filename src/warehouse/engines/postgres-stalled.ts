// The lock of the one writer, and who keeps it without end: a process that stood still, or lost its way, in the middle
// of what it sends. The server waits for the rest and counts that as work, so no limit of its own ends it. Whoever waits
// for the lock looks twice at who has it, and ends a session of which nothing has moved in between, by the server's
// clock; nothing of it is stored.
import type { Knex } from 'knex';

/** Every writing transaction of every process on this schema takes it. */
export const ONE_WRITER = "select pg_advisory_xact_lock(hashtext('roadbook'), hashtext(?))";

/** Who has the lock and is waited for by the server, and how far it is. Binds the schema. */
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

interface Sight {
  pid: number;
  at: string;
  seen: string;
}

export interface HolderWatch {
  /** Whether who has the lock has not moved since the first look, and has it no more. */
  endIfStill(): Promise<boolean>;
  /** The lock was had, or is not wanted any more. */
  rest(): void;
}

interface WatchTimes {
  /** When the first look is; most locks are had long before. */
  afterMs: number;
  stalledMs: number;
}

export function watchHolder(aside: Knex, schema: string, { afterMs, stalledMs }: WatchTimes): HolderWatch {
  const look = (): Promise<Sight | undefined> =>
    aside.raw(WAITED_FOR, [schema]).then(
      ({ rows }) => rows[0],
      () => undefined,
    );
  let seen: Promise<Sight | undefined> = Promise.resolve(undefined);
  const timer = setTimeout(() => {
    seen = look();
  }, afterMs);
  return {
    async endIfStill() {
      const before = await seen;
      if (before === undefined) return false;
      return aside.raw(END_IF_STILL, [schema, before.pid, before.at, before.seen, stalledMs]).then(
        ({ rows }) => rows.length > 0,
        () => false,
      );
    },
    rest: () => clearTimeout(timer),
  };
}
