// Runs each job at its ticks. Nothing overlaps itself; what was missed while the daemon was down, or the job was
// paused, is caught up once. What has run is asked of the warehouse before each decision, so that several daemons
// agree. Waiting is done on the injected clock; stop is idempotent, safe before start, and drains.

import { RoadbookError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { Clock } from '../core/time/clock.ts';
import { type DueRun, decide, type JobPlan, type Outlook, scheduleOf } from './decision.ts';
import { changeSchedule, firstEra } from './due.ts';
import type { Schedule } from './ticks.ts';

export interface ScheduledJob extends Schedule {
  name: string;
}

export interface SchedulerDependencies {
  clock: Clock;
  log: Log;
  look(job: string): Promise<Outlook>;
  /** Throws `tick_taken` where another daemon has made the run. */
  run(job: string, order: DueRun, stops: Stops): Promise<void>;
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
/** Another process has made the run, or has taken it over, or there is no time left to begin it. */
const NOT_MADE_HERE: readonly string[] = ['tick_taken', 'lease_lost', 'stopped'];

interface Entry extends JobPlan {
  /** Not in the configuration any more. */
  gone: AbortController;
  /** Ends the wait that is under way. */
  bell: AbortController;
}

export function createScheduler(
  jobs: readonly ScheduledJob[],
  dependencies: SchedulerDependencies,
): Scheduler {
  const { clock, log } = dependencies;
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
        const decision = decide(entry, await dependencies.look(entry.name), clock.now());
        if (over.aborted) return;
        if ('isNeverDue' in decision) log.warn({ job: entry.name }, 'schedule is never due');
        if ('order' in decision) await runOnce(entry, decision.order);
        else await rest(decision.waitMs, AbortSignal.any([over, rung]));
      } catch (error) {
        log.error({ job: entry.name, err: error }, 'run could not be made');
        await rest(BACK_OFF_MS, over);
      }
    }
  }

  async function runOnce(entry: Entry, order: DueRun): Promise<void> {
    entry.isRequested = false;
    try {
      await dependencies.run(entry.name, order, { draining: stopping.signal, signal: cutting.signal });
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

const isSame = (a: Schedule, b: Schedule): boolean => a.cron === b.cron && a.timezone === b.timezone;

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
