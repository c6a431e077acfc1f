// The processes that run jobs on this warehouse, daemons and commands alike: one row each, with one heartbeat. A process
// is dead when its `beat` has not changed for 20 s, by the observer's monotonic clock. The clock of another machine is
// never trusted for that: `heartbeat_at` is only for people.
import type { Knex } from 'knex';
import { asRoadbookError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { type Clock, isoInstant } from '../../core/time/clock.ts';
import { createLoop, type Loop, type LoopOptions } from '../../core/time/loop.ts';
import type { Engine } from '../engine.ts';
import { controlTable, instant, integer, type RowOf, text } from '../schema/table.ts';
import { databaseTime, gapReporter, measureGap } from './server-clock.ts';
import { type ProcessIdentity, thisProcess } from './this-process.ts';

export const HEARTBEAT_MS = 5_000;
/** A process without a heartbeat for this long is dead. A live one may miss three heartbeats. */
export const DEAD_MS = 20_000;
/** How long the row of a dead process stays at least, so that the status shows the daemon as silent. */
const SHOWN_MS = 600_000;
/** How long that of a dead daemon stays if no daemon has started since. */
const MISSED_MS = 86_400_000;

export const syncDaemon = controlTable({
  name: 'sync_daemon',
  meaning: 'The processes that run jobs on this warehouse, each with its last heartbeat.',
  key: ['id'],
  columns: {
    id: text('Identifier of the process; never reused.'),
    host: text('Machine of the process.', { required: true }),
    pid: integer('Process id on that machine.', { required: true }),
    version: text('Version of Roadbook.', { required: true }),
    started_at: instant('When the process began.', { required: true }),
    heartbeat_at: instant('Last heartbeat, made every 5 s; by the clock of the database server if there is one.', {
      required: true,
    }),
    slices_done: integer('Slices that the process has loaded since it began.', { required: true }),
    slices_per_minute: integer('Slices that the process loaded in the minute before its last heartbeat.', {
      required: true,
    }),
    place: text('Boot and process namespace in which the process id is unique.'),
    kind: text(
      '`daemon`, or `command` for a run started from the command line; null for a daemon of an earlier version.',
    ),
    beat: integer(
      'Increases with each heartbeat. A process whose value does not change for 20 s is dead: its leases are freed, and the value becomes null.',
    ),
  },
});

const TABLE = syncDaemon.name;

export type ProcessRow = RowOf<typeof syncDaemon>;

/** A process as an observer reads it; `beat` is null if the process was marked dead or has no row. */
export type SeenProcess = Pick<ProcessRow, 'id' | 'beat'> & { pid: number | null; place: string | null };

export const liveProcesses = (sql: Knex): Promise<SeenProcess[]> => sql(TABLE).whereNotNull('beat');

/** Every daemon, oldest first. */
export async function readDaemons(engine: Engine, clock: Clock): Promise<(ProcessRow & { isSilent: boolean })[]> {
  const nowMs = await databaseTime(engine, clock);
  const rows: ProcessRow[] = await engine.read((sql) =>
    sql(TABLE).whereRaw("kind is distinct from 'command'").orderBy(['started_at', 'id']),
  );
  return rows.map((row) => ({ ...row, isSilent: nowMs - Date.parse(row.heartbeat_at) > DEAD_MS }));
}

/**
 * Returns false if the process made a heartbeat since it was read. Without a `beat` it was marked dead before, or has no row:
 * then only a heartbeat since counts. A process that is marked dead learns of it at its next heartbeat.
 */
export async function markDead(sql: Knex, { id, beat }: SeenProcess): Promise<boolean> {
  if (beat === null) return (await sql(TABLE).where({ id }).whereNotNull('beat').first('id')) === undefined;
  return (await sql(TABLE).where({ id, beat }).update({ beat: null })) > 0;
}

/**
 * Measures how long each process has made no heartbeat. The time between two observations counts for at most `mostMs`
 * (default: no limit): if the observer could not read the database, the process may have been unable to write to it.
 */
export function createObserver(clock: Clock, mostMs = Number.POSITIVE_INFINITY) {
  let seen = new Map<string, { beat: number | null; stillMs: number; atMs: number }>();
  return {
    observe(processes: readonly Pick<ProcessRow, 'id' | 'beat'>[]): void {
      const atMs = clock.monotonic();
      const observed = processes.map(({ id, beat }) => {
        const last = seen.get(id);
        const stillMs = last?.beat === beat ? last.stillMs + Math.min(atMs - last.atMs, mostMs) : 0;
        return [id, { beat, stillMs, atMs }] as const;
      });
      seen = new Map(observed);
    },
    stillMs: (id: string): number => seen.get(id)?.stillMs ?? 0,
    /** The next observation starts from zero. */
    forget: (id: string): void => void seen.delete(id),
  };
}

export type SliceMeter = ReturnType<typeof createSliceMeter>;

const MINUTE_MS = 60_000;

/** Counts the loaded slices, in total and in the last minute. */
export function createSliceMeter(clock: Clock) {
  let done = 0;
  let recent: number[] = [];
  return {
    count(): void {
      done++;
      recent.push(clock.monotonic());
    },
    done: (): number => done,
    perMinute(): number {
      recent = recent.filter((at) => at > clock.monotonic() - MINUTE_MS);
      return recent.length;
    },
  };
}

export interface HeartbeatDependencies {
  engine: Engine;
  clock: Clock;
  log: Log;
  version: string;
  slices: SliceMeter;
  /** Default: this process. */
  process?: ProcessIdentity;
}

/** An instant on both clocks: either may stop or jump while the machine sleeps. */
interface Moment {
  monotonicMs: number;
  wallMs: number;
}

export type Heartbeat = ReturnType<typeof createHeartbeat>;

export function createHeartbeat(dependencies: HeartbeatDependencies) {
  const { engine, clock, log, version, slices, process = thisProcess } = dependencies;
  const id = process.holder;
  const members = new Set<() => void>();
  let loop: Loop | undefined;
  let kind = 'command';
  let startedAt: string | undefined;
  let beat = 0;
  /** When the last committed heartbeat began. Observers see it later, so their count starts later. */
  let lastHeartbeat: Moment | undefined;
  let isFailing = false;
  const reportGap = gapReporter(log);

  /** In parallel with the writer if the engine can, so that a process is not marked dead during a long load. */
  const shortWrite = <T>(work: (sql: Knex, now: () => Promise<number>) => Promise<T>): Promise<T> =>
    engine.shortTransaction?.(work) ?? engine.write(({ sql }) => work(sql, async () => clock.now()));

  /** Returns when the heartbeat began. */
  async function writeRow(sql: Knex, now: () => Promise<number>): Promise<Moment> {
    const began = { monotonicMs: clock.monotonic(), wallMs: clock.now() };
    const gap = await measureGap(clock, now);
    reportGap(gap);
    const at = isoInstant(gap.serverMs);
    startedAt ??= at;
    beat++;
    const { host, pid, place } = process;
    const changing = { slices_done: slices.done(), slices_per_minute: slices.perMinute() };
    const row = { host, pid, place, kind, version, beat, heartbeat_at: at, ...changing };
    await sql(TABLE)
      .whereNull('beat')
      .where('heartbeat_at', '<', isoInstant(gap.serverMs - SHOWN_MS))
      .where((or) =>
        or
          .where({ kind: 'command' })
          .orWhere('heartbeat_at', '<', isoInstant(gap.serverMs - MISSED_MS))
          .orWhere('heartbeat_at', '<', sql(TABLE).where({ kind: 'daemon' }).max('started_at')),
      )
      .del();
    if ((await sql(TABLE).where({ id }).whereNotNull('beat').update(row)) > 0) return began;
    await sql(TABLE)
      .insert({ id, started_at: startedAt, ...row })
      .onConflict('id')
      .merge(row);
    if (lastHeartbeat !== undefined) for (const onDead of members) onDead();
    return began;
  }

  async function makeHeartbeat(): Promise<void> {
    lastHeartbeat = await shortWrite(writeRow);
  }

  /** Makes one heartbeat; the loop makes one every 5 s. Never throws. */
  async function runOnce(): Promise<void> {
    try {
      await makeHeartbeat();
      isFailing = false;
    } catch (thrown) {
      if (!isFailing) log.warn({ err: asRoadbookError(thrown) }, 'the heartbeat of this process failed');
      isFailing = true;
    }
  }

  function enter(onDead: () => void, options?: LoopOptions): void {
    members.add(onDead);
    loop ??= createLoop(clock, HEARTBEAT_MS, runOnce, options);
    loop.start();
  }

  /** The last member to leave deletes the row. Idempotent and safe before join. */
  async function leave(onDead: () => void): Promise<void> {
    if (!members.delete(onDead) || members.size > 0) return;
    const ending = loop;
    loop = undefined;
    await ending?.stop();
    if (members.size > 0) return;
    lastHeartbeat = undefined;
    // Delete only this value of `beat`: a member that joins meanwhile writes another. If the delete fails, other processes
    // mark the row dead.
    const last = beat;
    await shortWrite((sql) => sql(TABLE).where({ id, beat: last }).del()).catch(() => undefined);
  }

  const daemon = () => undefined;
  return {
    process,
    /** Makes heartbeats until `stop`, with the kind `daemon`. */
    start(): void {
      kind = 'daemon';
      enter(daemon);
    },
    runOnce,
    /** Idempotent and safe before start. */
    stop: () => leave(daemon),
    /** Makes heartbeats until `leave`. Calls `onDead` when other processes have marked this one dead. */
    async join(onDead: () => void): Promise<void> {
      enter(onDead, { restFirst: true });
      if (lastHeartbeat === undefined) await makeHeartbeat();
    },
    leave,
    /** True if the last heartbeat is so recent that no process can have marked this one dead. */
    isRecent(): boolean {
      if (lastHeartbeat === undefined) return false;
      return Math.max(clock.monotonic() - lastHeartbeat.monotonicMs, clock.now() - lastHeartbeat.wallMs) < DEAD_MS;
    },
  };
}
