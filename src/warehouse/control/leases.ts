// The leases: which process runs a job. The token grows with every change of hands, and every write of a run checks it in
// its transaction, so a process that was replaced writes nothing. A lease lives as long as the process that holds it
// (processes.ts). It changes hands only in a `write`, which no load runs beside, so a check holds to the end of its transaction.
import type { Knex } from 'knex';
import { Fatal } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { type Clock, isoInstant } from '../../core/time/clock.ts';
import type { Engine } from '../engine.ts';
import { controlTable, instant, integer, text } from '../schema/table.ts';
import {
  createObserver,
  DEAD_MS,
  HEARTBEAT_MS,
  type Heartbeat,
  liveProcesses,
  markDead,
  type SeenProcess,
  syncDaemon,
} from './processes.ts';
import { isCertainlyDead } from './this-process.ts';

export const syncLease = controlTable({
  name: 'sync_lease',
  meaning: 'Which process runs a job, so that several daemons share one warehouse.',
  key: ['name'],
  columns: {
    name: text('Name of the job; `backfill <job>` for a period that was asked for.'),
    holder: text('The process that runs it, as in `sync_daemon`; null while it is free.'),
    token: integer('Grows with every change of hands; checked inside every write of the holder.', {
      required: true,
    }),
    taken_at: instant('When the holder took it, by its own clock.'),
  },
});

const TABLE = syncLease.name;
/** A write that begins sooner did not have to wait for a long one. */
const MOST_WAIT_MS = 1_000;

export interface Lease {
  name: string;
  token: number;
}

export interface LeaseRow extends Lease {
  holder: string | null;
  taken_at: string | null;
  /** Of the holder; null where the lease is free, or its holder has no row. */
  host: string | null;
  pid: number | null;
  place: string | null;
  beat: number | null;
  heartbeat_at: string | null;
}

export interface HeldLease extends Lease {
  /** Refuses every write once the lease is lost. */
  engine: Engine;
  /** Aborts when the loss is noticed. */
  lost: AbortSignal;
  /** Throws where the lease may have been lost, from the own clocks alone: for what no transaction can guard. */
  check(): void;
  release(): Promise<void>;
}

export interface LeaseManager {
  /** The lease, or who has it. */
  take(name: string): Promise<HeldLease | { heldBy: LeaseRow }>;
  /** Frees the leases of dead processes; gives the names of those that became free since the last call. */
  freeDead(): Promise<string[]>;
}

const leaseRows = (sql: Knex): Promise<LeaseRow[]> =>
  sql(`${TABLE} as lease`)
    .leftJoin(`${syncDaemon.name} as process`, 'process.id', 'lease.holder')
    .orderBy('lease.name')
    .select(
      'lease.*',
      ...['host', 'pid', 'place', 'beat', 'heartbeat_at'].map((column) => `process.${column}`),
    );

export const readLeases = (engine: Engine): Promise<LeaseRow[]> => engine.read(leaseRows);

/** Whether anybody, or this process, holds it under the token. Inside a writing transaction the answer holds to its end. */
export const isHeld = async (sql: Knex, { name, token }: Lease, holder?: string): Promise<boolean> => {
  const row = await sql(TABLE).where({ name, token }).whereNotNull('holder').first('holder');
  return row !== undefined && (holder === undefined || row.holder === holder);
};

/** For the holder, and for whoever works on its behalf in this process or another. */
export const fencedEngine = (engine: Engine, lease: Lease, onLost?: () => void): Engine => ({
  ...engine,
  base: engine.base ?? engine,
  write: (work, how) =>
    engine.write(async (tx) => {
      if (await isHeld(tx.sql, lease)) return work(tx);
      onLost?.();
      throw leaseLost(lease.name);
    }, how),
});

const leaseLost = (name: string): Fatal =>
  new Fatal(`Another process took ${name} over while this one showed no life; nothing more was written`, {
    code: 'lease_lost',
    hint: 'Nothing is lost: a scheduled job is made again, a backfill goes on where it was when it is given again. A machine that stands still for 20 s is overloaded or was suspended.',
  });

/** Undefined where another process has it. */
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

/** Gives the names of the leases that are free now; undefined where the process moved since it was seen. */
export async function freeProcess(sql: Knex, dead: SeenProcess, at: string): Promise<string[] | undefined> {
  if (!(await markDead(sql, dead))) return undefined;
  const leases: Lease[] = await sql(TABLE).where({ holder: dead.id }).select('name');
  const names = leases.map(({ name }) => name);
  // The token grows here already, so that a process that only slept is refused at its next write.
  await sql(TABLE)
    .whereIn('name', names)
    .update({ holder: null, token: sql.raw('token + 1') });
  await abandonRuns(sql, names, at);
  return names;
}

/** Only the holder runs under a lease, so a run that is still open under it is cut off. */
const abandonRuns = (sql: Knex, leases: readonly string[], at: string): Promise<number> =>
  sql('sync_run')
    .whereIn('lease', leases)
    .where({ status: 'running' })
    .update({ status: 'abandoned', finished_at: at });

export function createLeaseManager(
  heartbeat: Heartbeat,
  { engine, clock, log }: { engine: Engine; clock: Clock; log: Log },
): LeaseManager {
  const own = heartbeat.process.holder;
  const observer = createObserver(clock, HEARTBEAT_MS);
  /** The names of what this process holds or is about to take. */
  const holdings = new Map<() => void, string>();
  /** The token under which each lease was last seen free. */
  const free = new Map<string, number>();
  const at = (): string => isoInstant(clock.now());
  const release = ({ name, token }: Lease): Promise<number> =>
    engine.write(({ sql }) => sql(TABLE).where({ name, token }).update({ holder: null }));

  async function freeIfDead(row: SeenProcess): Promise<boolean> {
    const isGone = isCertainlyDead(row);
    if (!isGone && observer.stillMs(row.id) < DEAD_MS) return false;
    const askedAt = clock.monotonic();
    // Whatever comes of it, a process that is not gone gets the time again.
    observer.forget(row.id);
    const leases = await engine.write(async ({ sql }) => {
      // If this write had to wait, the heartbeat of the process may be waiting too.
      if (!isGone && clock.monotonic() - askedAt > MOST_WAIT_MS) return undefined;
      return freeProcess(sql, row, at());
    });
    if (leases !== undefined) log.warn({ holder: row.id, leases }, 'leases of a dead process freed');
    return leases !== undefined;
  }

  /** Frees what should be free; gives the leases as they are then. */
  async function sweep(): Promise<LeaseRow[]> {
    const [leases, live] = await engine.read(async (sql) => [await leaseRows(sql), await liveProcesses(sql)]);
    const holders = leases.flatMap(({ holder, ...row }) => (holder === null ? [] : [{ ...row, id: holder }]));
    const others = new Map([...holders, ...live].map((row): [string, SeenProcess] => [row.id, row]));
    others.delete(own);
    // All of them at once: freeing one may have to wait.
    observer.observe([...others.values()]);
    let isChanged = false;
    for (const row of others.values()) isChanged = (await freeIfDead(row)) || isChanged;
    // A lease of this process that no run in it has: its release failed, or its taking failed after the commit.
    const lying = holders.filter(({ id, name }) => id === own && ![...holdings.values()].includes(name));
    for (const lease of lying) isChanged = (await release(lease)) > 0 || isChanged;
    return isChanged ? readLeases(engine) : leases;
  }

  async function take(name: string): ReturnType<LeaseManager['take']> {
    const heldBy = (await sweep()).find((lease) => lease.name === name && lease.holder !== null);
    if (heldBy !== undefined) return { heldBy };
    const loss = new AbortController();
    function lose(): void {
      if (loss.signal.aborted) return;
      log.warn({ lease: name }, 'lease lost');
      loss.abort(leaseLost(name));
    }
    function letGo(): Promise<void> {
      holdings.delete(lose);
      return heartbeat.leave(lose);
    }
    holdings.set(lose, name);
    let lease: Lease | undefined;
    try {
      await heartbeat.join(lose);
      lease = await engine.write(({ sql }) => takeLease(sql, name, own, at()));
    } finally {
      if (lease === undefined) await letGo();
    }
    // Another process was faster.
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
        await release(taken).finally(letGo);
      },
    };
  }

  return {
    take,
    async freeDead() {
      const letGo = (await sweep()).filter(
        ({ name, token, holder }) => holder === null && free.get(name) !== token,
      );
      for (const { name, token } of letGo) free.set(name, token);
      return letGo.map(({ name }) => name);
    },
  };
}
