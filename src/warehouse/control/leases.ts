// The leases: which process runs a job. The token increases when a process takes the lease, and when others free it from a
// dead process; a release only clears the holder. Every write of a run checks holder and token in its transaction, so a
// process that lost its lease writes nothing. A lease lives as long as its holder (processes.ts). The holder changes only in
// a `write` that runs alone, so a check stays valid until its transaction ends.
import type { Knex } from 'knex';
import { Fatal } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { type Clock, isoInstant } from '../../core/time/clock.ts';
import type { Engine } from '../engine.ts';
import { controlTable, instant, integer, type RowOf, text } from '../schema/table.ts';
import {
  createObserver,
  DEAD_MS,
  HEARTBEAT_MS,
  type Heartbeat,
  liveProcesses,
  markDead,
  type ProcessRow,
  type SeenProcess,
  syncDaemon,
} from './processes.ts';
import { isCertainlyDead } from './this-process.ts';

export const syncLease = controlTable({
  name: 'sync_lease',
  meaning: 'Which process runs a job or exports, so that several processes share one warehouse.',
  key: ['name'],
  columns: {
    name: text('Name of the job; `backfill <job>` for a requested period, `export to files` for exports.'),
    holder: text('The process that runs the job, as in `sync_daemon`; null while the lease is free.'),
    token: integer(
      'Increases when a process takes the lease or it is freed from a dead one; checked inside every write of the holder.',
      {
        required: true,
      },
    ),
    taken_at: instant('When the holder took the lease, by its own clock.'),
  },
});

const TABLE = syncLease.name;
/** A write that begins within this time did not wait for a long write. SQLite has one writer for all processes. */
const MOST_WAIT_MS = 1_000;

export interface Lease {
  name: string;
  token: number;
}

/** Columns of the holder; null if the lease is free or its holder has no row. */
const HOLDER_COLUMNS = ['host', 'pid', 'place', 'beat', 'heartbeat_at'] as const;
type HolderColumns = { [Name in (typeof HOLDER_COLUMNS)[number]]: ProcessRow[Name] | null };

export type LeaseRow = RowOf<typeof syncLease> & HolderColumns;

export interface HeldLease extends Lease {
  /** Rejects every write once the lease is lost. */
  engine: Engine;
  /** Aborts when this process notices the loss. */
  lost: AbortSignal;
  /** Throws if the lease may be lost, judged by this machine's clocks alone: for work that no transaction protects. */
  check(): void;
  release(): Promise<void>;
}

const leaseRows = (sql: Knex): Promise<LeaseRow[]> =>
  sql(`${TABLE} as lease`)
    .leftJoin(`${syncDaemon.name} as process`, 'process.id', 'lease.holder')
    .orderBy('lease.name')
    .select('lease.*', ...HOLDER_COLUMNS.map((column) => `process.${column}`));

export const readLeases = (engine: Engine): Promise<LeaseRow[]> => engine.read(leaseRows);

/** True if the lease is held under the token, by `holder` if given. Inside a write the answer stays valid until its end. */
export const isHeld = async (sql: Knex, { name, token }: Lease, holder?: string): Promise<boolean> => {
  const row = await sql(TABLE).where({ name, token }).whereNotNull('holder').first('holder');
  return row !== undefined && (holder === undefined || row.holder === holder);
};

/** Checks the lease in every write. For the holder, and for workers on its behalf in any process. */
export const fencedEngine = (engine: Engine, lease: Lease, onLost?: () => void): Engine => ({
  ...engine,
  write: (work, how) =>
    engine.write(async (tx) => {
      if (await isHeld(tx.sql, lease)) return work(tx);
      onLost?.();
      throw leaseLost(lease.name);
    }, how),
});

/** Another process may have the lease, or nobody: the clocks of this machine alone can also say so. */
const leaseLost = (name: string): Fatal =>
  new Fatal(
    `Another process may have taken over ${name}: this process sent no heartbeat for 20 s, or the clock of this machine jumped; no further writes were made`,
    {
      code: 'lease_lost',
      hint: 'Nothing is lost: a scheduled job runs again, and a backfill or an export continues where it stopped when you repeat the command. A machine that pauses for 20 s is overloaded or was suspended.',
    },
  );

/** Undefined if another process holds the lease. */
async function takeLease(sql: Knex, name: string, holder: string, at: string): Promise<Lease | undefined> {
  await sql(TABLE).insert({ name, token: 0 }).onConflict('name').ignore();
  const taken = await sql(TABLE)
    .where({ name })
    .whereNull('holder')
    .update({ holder, taken_at: at, token: sql.raw('token + 1') });
  if (taken === 0) return undefined;
  await abandonRuns(sql, [name], at);
  const { token } = await sql(TABLE).where({ name }).first('token');
  return { name, token: Number(token) };
}

/** Frees the leases of a dead process and returns their names; undefined if the process made a heartbeat since `dead` was read. */
export async function freeProcess(sql: Knex, dead: SeenProcess, at: string): Promise<string[] | undefined> {
  if (!(await markDead(sql, dead))) return undefined;
  const names: string[] = await sql(TABLE).where({ holder: dead.id }).pluck('name');
  // The token increases here already, so that the next write of a process that was only suspended is rejected.
  await sql(TABLE)
    .whereIn('name', names)
    .update({ holder: null, token: sql.raw('token + 1') });
  await abandonRuns(sql, names, at);
  return names;
}

/** Only the holder runs under a lease, so after a change of holder every open run under it is abandoned. */
const abandonRuns = (sql: Knex, leases: readonly string[], at: string): Promise<number> =>
  sql('sync_run')
    .whereIn('lease', leases)
    .where({ status: 'running' })
    .update({ status: 'abandoned', finished_at: at });

export type LeaseManager = ReturnType<typeof createLeaseManager>;

/** How often to try again while another process holds the lease. */
const RETRY_MS = 1_000;

interface Waiting {
  clock: Clock;
  /** Ends the wait. */
  ending?: AbortSignal;
  /** Called once with the holder, if the lease has to be waited for. */
  onWait?: (holder: string) => void;
}

/** Waits for as long as another process holds the lease, then takes it. */
export async function takeWhenFree(
  leases: LeaseManager,
  name: string,
  { clock, ending, onWait }: Waiting,
): Promise<HeldLease> {
  for (let isReported = false; ; isReported = true) {
    const result = await leases.take(name);
    if (!('heldBy' in result)) return result;
    const { host, pid, taken_at } = result.heldBy;
    if (!isReported) onWait?.(`process ${pid} on ${host}, since ${taken_at}`);
    await clock.sleep(RETRY_MS, ending).catch(() => {
      throw new Fatal(`Stopped while another process held ${name}`, { code: 'stopped' });
    });
  }
}

export function createLeaseManager(
  heartbeat: Heartbeat,
  { engine, clock, log }: { engine: Engine; clock: Clock; log: Log },
) {
  const own = heartbeat.process.holder;
  const observer = createObserver(clock, HEARTBEAT_MS);
  /** The leases that this process holds or is about to take: their names, by the callback of their loss. */
  const holdings = new Map<() => void, string>();
  /** The token under which each lease was last seen free. */
  const free = new Map<string, number>();
  const at = (): string => isoInstant(clock.now());
  const release = ({ name, token }: Lease): Promise<number> =>
    engine.write(({ sql }) => sql(TABLE).where({ name, token }).update({ holder: null }));

  async function freeIfDead(row: SeenProcess): Promise<void> {
    const isGone = isCertainlyDead(row);
    if (!isGone && observer.stillMs(row.id) < DEAD_MS) return;
    const askedAt = clock.monotonic();
    // Restart the count: a process that turns out to be alive gets the full time again.
    observer.forget(row.id);
    const leases = await engine.write(async ({ sql }) => {
      // If this write had to wait, the heartbeat of that process may have been waiting too.
      if (!isGone && clock.monotonic() - askedAt > MOST_WAIT_MS) return undefined;
      return freeProcess(sql, row, at());
    });
    if (leases !== undefined) log.warn({ holder: row.id, leases }, 'freed the leases of a dead process');
  }

  /** Frees the leases of dead processes and orphaned leases of this one. Returns the leases afterwards. */
  async function sweep(): Promise<LeaseRow[]> {
    const [leases, live] = await engine.read(async (sql) => [await leaseRows(sql), await liveProcesses(sql)]);
    const holders = leases.flatMap(({ holder, ...row }) => (holder === null ? [] : [{ ...row, id: holder }]));
    const others = new Map([...holders, ...live].map((row): [string, SeenProcess] => [row.id, row]));
    others.delete(own);
    // Observe all of them first: freeing one may have to wait.
    observer.observe([...others.values()]);
    for (const row of others.values()) await freeIfDead(row);
    // Leases of this process that none of its runs uses: the release failed, or `take` failed after its commit.
    const orphaned = holders.filter(({ id, name }) => id === own && ![...holdings.values()].includes(name));
    for (const lease of orphaned) await release(lease);
    return readLeases(engine);
  }

  /** Returns the lease, or its current holder. */
  async function take(name: string): Promise<HeldLease | { heldBy: LeaseRow }> {
    const heldBy = (await sweep()).find((lease) => lease.name === name && lease.holder !== null);
    if (heldBy !== undefined) return { heldBy };
    const loss = new AbortController();
    function lose(): void {
      if (loss.signal.aborted) return;
      log.warn({ lease: name }, 'lease lost');
      loss.abort(leaseLost(name));
    }
    function leave(): Promise<void> {
      holdings.delete(lose);
      return heartbeat.leave(lose);
    }
    holdings.set(lose, name);
    let lease: Lease | undefined;
    try {
      await heartbeat.join(lose);
      lease = await engine.write(({ sql }) => takeLease(sql, name, own, at()));
    } finally {
      if (lease === undefined) await leave();
    }
    // Another process took the lease first, and the next call finds it as the holder.
    if (lease === undefined) return take(name);
    const taken = lease;
    return {
      ...taken,
      engine: fencedEngine(engine, taken, lose),
      lost: loss.signal,
      check() {
        if (loss.signal.aborted || !heartbeat.isRecent()) throw leaseLost(name);
      },
      async release() {
        await release(taken).finally(leave);
      },
    };
  }

  return {
    take,
    /** Frees the leases of dead processes. Returns the leases that became free since the last call, for whatever reason. */
    async freeDead(): Promise<string[]> {
      const freed = (await sweep()).filter(({ name, token, holder }) => holder === null && free.get(name) !== token);
      for (const { name, token } of freed) free.set(name, token);
      return freed.map(({ name }) => name);
    },
  };
}
