// Runs each job at its ticks. Nothing overlaps itself; what was missed while the daemon was down, or the job was
// paused, is caught up once. What has run is asked of the warehouse before each decision, so that several daemons
// agree. Waiting is done on the injected clock; stop is idempotent, safe before start, and drains.
import type { Clock } from '../core/clock.ts';
import { RoadbookError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { RunCause } from '../warehouse/run-log.ts';
import { changeSchedule, dueTick, type Era, firstEra, isSetBack, jitterOf, periodAt } from './due.ts';
import type { Schedule } from './ticks.ts';

export interface ScheduledJob extends Schedule {
  name: string;
}

/** What the warehouse knows of a job's ticks. */
export interface Outlook {
  paused: boolean;
  /** The last run that the schedule asked for; null where there was none. */
  lastRunId: string | null;
  /** Its start or its tick in ms, whichever is later; undefined where there was none. */
  lastMs: number | undefined;
  /** The tick of that run in ms, where it was cut off and has to be made again. */
  unfinishedMs: number | undefined;
}

/** What a run is made for. */
export interface RunOrder {
  cause: RunCause;
  /** The planned instant; undefined for a run on request. */
  tickAt?: number;
  /** The run is made only while this is still the last one of the schedule. */
  after?: string | null;
  /** The run is made only while it is still requested. */
  requested?: boolean;
}

export interface SchedulerParts {
  clock: Clock;
  log: Log;
  look(job: string): Promise<Outlook>;
  /** Throws `tick_taken` where another daemon has made the run. */
  run(job: string, order: RunOrder, stops: Stops): Promise<void>;
}

/** How a run is told to end: first to begin nothing new, then to end where it stands. */
export interface Stops {
  draining: AbortSignal;
  signal: AbortSignal;
}

export interface Scheduler {
  start(): void;
  /** Takes on a changed set of jobs. A running job is let finish; ticks that are due by now stay due. */
  update(jobs: readonly ScheduledJob[]): void;
  /** Looks at a job again, at all of them unless told: it was paused or freed, or the clock was set. */
  wake(job?: string): void;
  /** Runs a job as soon as it can, whatever its schedule says. */
  runNow(job: string): void;
  /** No further tick; resolves when running jobs have ended. After `graceMs` they are told to stop. */
  stop(graceMs: number): Promise<void>;
}

/** After a run that could not even be opened, the job waits this long. */
const BACK_OFF_MS = 30_000;
/** A start that is later than this behind its tick is a catch-up. */
const LATE_MS = 1_000;

/** Another process has made the run, or has taken it over, or there is no time left to begin it. */
const NOT_MADE_HERE: readonly string[] = ['tick_taken', 'lease_lost', 'stopped'];

interface Entry {
  name: string;
  eras: Era[];
  isRequested: boolean;
  /** When the clock was found set back to before the start of a run. */
  setBack: { afterRunId: string | null; atMs: number } | undefined;
  /** Not in the configuration any more. */
  gone: AbortController;
  /** Ends the wait that is under way. */
  bell: AbortController;
}

type Decision = { order: RunOrder } | { waitMs: number | undefined };

export function createScheduler(jobs: readonly ScheduledJob[], parts: SchedulerParts): Scheduler {
  const { clock, log } = parts;
  const stopping = new AbortController();
  const cutting = new AbortController();
  const entries = new Map<string, Entry>();
  const loops = new Set<Promise<void>>();
  let isStarted = false;

  function add({ name, cron, timezone }: ScheduledJob): void {
    const gone = new AbortController();
    const eras = firstEra({ cron, timezone });
    const bell = new AbortController();
    const entry: Entry = { name, eras, isRequested: false, setBack: undefined, gone, bell };
    entries.set(name, entry);
    if (isStarted) begin(entry);
  }

  function begin(entry: Entry): void {
    const running = loop(entry).finally(() => loops.delete(running));
    loops.add(running);
  }

  async function loop(entry: Entry): Promise<void> {
    const over = AbortSignal.any([stopping.signal, entry.gone.signal]);
    while (!over.aborted) {
      // A bell that rings while the warehouse is looked at must not be missed.
      entry.bell = new AbortController();
      const rung = entry.bell.signal;
      try {
        const decision = decide(entry, await parts.look(entry.name));
        if (over.aborted) return;
        if ('order' in decision) await runOnce(entry, decision.order);
        else await rest(decision.waitMs, AbortSignal.any([over, rung]));
      } catch (error) {
        log.error({ job: entry.name, err: error }, 'run could not be made');
        await rest(BACK_OFF_MS, over);
      }
    }
  }

  function decide(entry: Entry, outlook: Outlook): Decision {
    const now = clock.now();
    const after = outlook.lastRunId;
    if (entry.isRequested) return { order: { cause: 'manual', requested: true } };
    if (outlook.paused) return { waitMs: undefined };
    // A job that never ran is due at once; one that missed ticks, however many, is caught up once.
    const { lastMs, unfinishedMs = lastMs === undefined ? now : undefined } = outlook;
    if (unfinishedMs !== undefined) return { order: { cause: 'catch-up', tickAt: unfinishedMs, after } };
    const due = dueTick(entry.eras, baseOf(entry, outlook, lastMs as number, now));
    if (due === undefined) {
      log.warn({ job: entry.name }, 'schedule is never due');
      return { waitMs: undefined };
    }
    const lateMs = now - due - jitterOf(entry.name, periodAt(scheduleOf(entry), due));
    if (lateMs < 0) return { waitMs: -lateMs };
    return { order: { cause: lateMs > LATE_MS ? 'catch-up' : 'schedule', tickAt: due, after } };
  }

  /** What ticks are counted from: the last start, or when the clock was found set back to before it. */
  function baseOf(entry: Entry, { lastRunId }: Outlook, lastMs: number, nowMs: number): number {
    const known = entry.setBack?.afterRunId === lastRunId ? entry.setBack.atMs : lastMs;
    if (!isSetBack(scheduleOf(entry), known, nowMs)) return known;
    entry.setBack = { afterRunId: lastRunId, atMs: nowMs };
    entry.eras = firstEra(scheduleOf(entry));
    return nowMs;
  }

  async function runOnce(entry: Entry, order: RunOrder): Promise<void> {
    entry.isRequested = false;
    try {
      await parts.run(entry.name, order, { draining: stopping.signal, signal: cutting.signal });
    } catch (error) {
      if (!(error instanceof RoadbookError) || !NOT_MADE_HERE.includes(error.code)) throw error;
      log.info({ job: entry.name, code: error.code }, 'run is not made here');
    }
  }

  /** For ever unless told; ends early, without a failure, when the signal aborts. */
  async function rest(ms: number | undefined, signal: AbortSignal): Promise<void> {
    const waiting = ms === undefined ? aborted(signal) : clock.sleep(ms, signal);
    await waiting.catch(() => undefined);
  }

  const wakeEntry = (entry: Entry | undefined): void => entry?.bell.abort();

  for (const job of jobs) add(job);

  return {
    start() {
      isStarted = true;
      for (const entry of entries.values()) begin(entry);
    },
    update(changed) {
      const names = new Set(changed.map(({ name }) => name));
      for (const [name, entry] of entries) {
        if (names.has(name)) continue;
        entry.gone.abort();
        entries.delete(name);
      }
      for (const job of changed) {
        const entry = entries.get(job.name);
        if (entry === undefined) add(job);
        else if (!isSame(scheduleOf(entry), job)) {
          const { cron, timezone } = job;
          entry.eras = changeSchedule(entry.eras, { cron, timezone }, clock.now());
          wakeEntry(entry);
        }
      }
    },
    wake(job) {
      if (job !== undefined) return wakeEntry(entries.get(job));
      for (const entry of entries.values()) wakeEntry(entry);
    },
    runNow(job) {
      const entry = entries.get(job);
      if (entry === undefined) return;
      entry.isRequested = true;
      wakeEntry(entry);
    },
    async stop(graceMs) {
      stopping.abort();
      const drained = new AbortController();
      const grace = clock.sleep(graceMs, drained.signal).then(
        () => cutting.abort(),
        () => undefined,
      );
      await Promise.all(loops);
      drained.abort();
      await grace;
    },
  };
}

const scheduleOf = ({ eras }: Entry): Schedule => (eras.at(-1) as Era).schedule;

const isSame = (a: Schedule, b: Schedule): boolean => a.cron === b.cron && a.timezone === b.timezone;

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
