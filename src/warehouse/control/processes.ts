// The processes that run jobs on this warehouse, daemons and commands alike: one row each, with one heartbeat. A process
// is dead when its `beat` has stood still for 20 s on the monotonic clock of the observer. No clock of another machine is
// trusted for that: `heartbeat_at` is only for people.
import type { Knex } from 'knex';
import { asRoadbookError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { type Clock, isoInstant } from '../../core/time/clock.ts';
import { createLoop, type Loop, type LoopOptions } from '../../core/time/loop.ts';
import type { Engine } from '../engine.ts';
import { controlTable, instant, integer, text } from '../schema/table.ts';
import { databaseTime, gapReporter, measureGap } from './server-clock.ts';
import { type ProcessIdentity, thisProcess } from './this-process.ts';

export const HEARTBEAT_MS = 5_000;
/** A process whose heartbeat stands still for so long is dead; a live one may miss three heartbeats. */
export const DEAD_MS = 20_000;
/** How long the row of a dead process stays, so that a daemon is shown as silent. */
const SHOWN_MS = 600_000;

export const syncDaemon = controlTable({
  name: 'sync_daemon',
  meaning: 'The processes that run jobs on this warehouse, each with its last heartbeat.',
  key: ['id'],
  columns: {
    id: text('The process, unique for ever.'),
    host: text('Its machine.', { required: true }),
    pid: integer('Its process number there.', { required: true }),
    version: text('The version of Roadbook that it runs.', { required: true }),
    started_at: instant('When it began.', { required: true }),
    heartbeat_at: instant(
      'Its last heartbeat, every 5 s; by the clock of the database where that is a server.',
      { required: true },
    ),
    slices_done: integer('Slices that it has loaded since it began.', { required: true }),
    slices_per_minute: integer('Slices that it loaded in the minute before its last heartbeat.', {
      required: true,
    }),
    place: text('Where the process number means something: boot and process namespace.'),
    kind: text(
      '`daemon`, or `command` for a run that somebody started; null for a daemon of an earlier version.',
    ),
    beat: integer(
      'Grows with each heartbeat. A process whose value stands still for 20 s is dead: its leases are freed, and the value becomes null.',
    ),
  },
});

const TABLE = syncDaemon.name;

export interface ProcessRow {
  id: string;
  host: string;
  pid: number;
  version: string;
  started_at: string;
  heartbeat_at: string;
  slices_per_minute: number;
  place: string | null;
  beat: number | null;
}

/** What an observer sees of a process; `beat` is null where it was found dead, or has no row. */
export type SeenProcess = Pick<ProcessRow, 'id' | 'beat'> & { pid: number | null; place: string | null };

export const liveProcesses = (sql: Knex): Promise<SeenProcess[]> => sql(TABLE).whereNotNull('beat');

/** Every daemon, the oldest first, and whether it is silent. */
export async function readDaemons(
  engine: Engine,
  clock: Clock,
): Promise<(ProcessRow & { isSilent: boolean })[]> {
  const nowMs = await databaseTime(engine, clock);
  const rows: ProcessRow[] = await engine.read((sql) =>
    sql(TABLE).whereRaw("kind is distinct from 'command'").orderBy(['started_at', 'id']),
  );
  return rows.map((row) => ({ ...row, isSilent: nowMs - Date.parse(row.heartbeat_at) > DEAD_MS }));
}

/** False where the process has moved since it was seen. It finds out at its next heartbeat. */
export async function markDead(sql: Knex, { id, beat }: SeenProcess): Promise<boolean> {
  if (beat === null) return (await sql(TABLE).where({ id }).whereNotNull('beat').first('id')) === undefined;
  return (await sql(TABLE).where({ id, beat }).update({ beat: null })) > 0;
}

/**
 * Counts how long the heartbeat of each process has stood still. Of a time between two observations `mostMs` count at most
 * (default: all): if nobody could observe, the process may have been unable to write its heartbeat as well.
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
    /** The next observation counts from zero. */
    forget: (id: string): void => void seen.delete(id),
  };
}

export type SliceMeter = ReturnType<typeof createSliceMeter>;

const MINUTE_MS = 60_000;

/** Counts the slices that were loaded, in all and in the last minute. */
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

export interface Heartbeat {
  readonly process: ProcessIdentity;
  /** Keeps the heartbeat going until `stop`, as a daemon's. */
  start(): void;
  /** One heartbeat; the loop makes one every 5 s. Never throws. */
  runOnce(): Promise<void>;
  /** Idempotent and safe before start. */
  stop(): Promise<void>;
  /** Keeps the heartbeat going until `leave`. `onDead` is called when other processes took this one for dead. */
  join(onDead: () => void): Promise<void>;
  /** The last one to leave takes the row away. Idempotent and safe before join. */
  leave(onDead: () => void): Promise<void>;
  /** Whether the last heartbeat is so recent that nobody can have taken this process for dead. */
  isRecent(): boolean;
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

/** On both clocks: either may stop or leap while the machine sleeps. */
interface Moment {
  monotonicMs: number;
  wallMs: number;
}

export function createHeartbeat(dependencies: HeartbeatDependencies): Heartbeat {
  const { engine, clock, log, version, slices, process = thisProcess } = dependencies;
  const id = process.holder;
  const members = new Set<() => void>();
  let loop: Loop | undefined;
  let kind = 'command';
  let startedAt: string | undefined;
  let beat = 0;
  /** When the last committed heartbeat began. Others see it later than that, so they count from later on. */
  let proven: Moment | undefined;
  let isFailing = false;
  const reportGap = gapReporter(log);

  /** Beside the writer where the engine can, so that a long load makes nobody look dead. */
  const turn = <T>(work: (sql: Knex, now: () => Promise<number>) => Promise<T>): Promise<T> =>
    engine.beside?.(work) ?? engine.write(({ sql }) => work(sql, async () => clock.now()));

  /** Gives when it began. */
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
      .del();
    if ((await sql(TABLE).where({ id }).whereNotNull('beat').update(row)) > 0) return began;
    await sql(TABLE)
      .insert({ id, started_at: startedAt, ...row })
      .onConflict('id')
      .merge(row);
    if (proven !== undefined) for (const onDead of members) onDead();
    return began;
  }

  async function beatOnce(): Promise<void> {
    proven = await turn(writeRow);
  }

  async function runOnce(): Promise<void> {
    try {
      await beatOnce();
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

  async function leave(onDead: () => void): Promise<void> {
    if (!members.delete(onDead) || members.size > 0) return;
    const ending = loop;
    loop = undefined;
    await ending?.stop();
    if (members.size > 0) return;
    proven = undefined;
    // By the value: whoever joins meanwhile writes another one. A row that stays is found dead by others.
    const last = beat;
    await turn((sql) => sql(TABLE).where({ id, beat: last }).del()).catch(() => undefined);
  }

  const daemon = () => undefined;
  return {
    process,
    start() {
      kind = 'daemon';
      enter(daemon);
    },
    runOnce,
    stop: () => leave(daemon),
    async join(onDead) {
      enter(onDead, { restFirst: true });
      if (proven === undefined) await beatOnce();
    },
    leave,
    isRecent() {
      if (proven === undefined) return false;
      return Math.max(clock.monotonic() - proven.monotonicMs, clock.now() - proven.wallMs) < DEAD_MS;
    },
  };
}
