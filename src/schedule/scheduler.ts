// Runs each job at its ticks. A job never overlaps itself. Ticks missed while the daemon was down or the job was paused
// are caught up with one run. Each decision first reads the past runs from the warehouse, so that several daemons agree.
// All waits use the injected clock; stop is idempotent, safe before start, and drains.
import { once } from 'node:events';
import { RoadbookError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { Clock } from '../core/time/clock.ts';
import { type DueRun, decide, type JobState, scheduleOf, type TickState } from './decision.ts';
import { changeSchedule, firstEra } from './due.ts';
import type { Schedule } from './ticks.ts';

export interface ScheduledJob extends Schedule {
  name: string;
}

export interface SchedulerDependencies {
  clock: Clock;
  log: Log;
  readTicks(job: string): Promise<TickState>;
  /** Throws `tick_taken` if another daemon has already run the tick. */
  run(job: string, due: DueRun, stops: StopSignals): Promise<void>;
}

/** `draining` asks a run to start no new work, `signal` to stop at once. */
export interface StopSignals {
  draining: AbortSignal;
  signal: AbortSignal;
}

export type Scheduler = ReturnType<typeof createScheduler>;

/** Wait of a job after a run that could not start. */
const BACKOFF_MS = 30_000;
/** Another process has run the tick or taken the run over, or the daemon is stopping. */
const NOT_RUN_HERE: readonly string[] = ['tick_taken', 'lease_lost', 'stopped'];

interface Entry extends JobState {
  /** Aborted when the job is no longer in the configuration. */
  removed: AbortController;
  /** Ends the current wait. */
  wakeUp: AbortController;
}

export function createScheduler(jobs: readonly ScheduledJob[], dependencies: SchedulerDependencies) {
  const { clock, log } = dependencies;
  const stopping = new AbortController();
  const aborting = new AbortController();
  const entries = new Map<string, Entry>();
  const loops = new Set<Promise<void>>();
  let isStarted = false;
  /** Runs cannot start, because the warehouse is away; all jobs fail in the same way. */
  let cannotStart = false;

  function add({ name, cron, timezone }: ScheduledJob): void {
    const removed = new AbortController();
    const eras = firstEra({ cron, timezone });
    const wakeUp = new AbortController();
    const entry: Entry = { name, eras, isRequested: false, clockSetBack: undefined, removed, wakeUp };
    entries.set(name, entry);
    if (isStarted) begin(entry);
  }

  function begin(entry: Entry): void {
    const running = loop(entry).finally(() => loops.delete(running));
    loops.add(running);
  }

  async function loop(entry: Entry): Promise<void> {
    const ended = AbortSignal.any([stopping.signal, entry.removed.signal]);
    while (!ended.aborted) {
      // Created before the read, so that a wake-up during the read is not lost.
      entry.wakeUp = new AbortController();
      const wokenUp = entry.wakeUp.signal;
      try {
        const decision = decide(entry, await dependencies.readTicks(entry.name), clock.now());
        if (ended.aborted) return;
        if ('isNeverDue' in decision) log.warn({ job: entry.name }, 'schedule is never due');
        if (cannotStart) log.info('runs start again');
        cannotStart = false;
        if ('run' in decision) await runOnce(entry, decision.run);
        else await sleep(decision.waitMs, AbortSignal.any([ended, wokenUp]));
      } catch (error) {
        log[cannotStart ? 'debug' : 'error']({ job: entry.name, err: error }, 'run could not start');
        cannotStart = true;
        await sleep(BACKOFF_MS, ended);
      }
    }
  }

  async function runOnce(entry: Entry, due: DueRun): Promise<void> {
    entry.isRequested = false;
    try {
      await dependencies.run(entry.name, due, { draining: stopping.signal, signal: aborting.signal });
    } catch (error) {
      if (!(error instanceof RoadbookError) || !NOT_RUN_HERE.includes(error.code)) throw error;
      log.info({ job: entry.name, code: error.code }, 'run skipped: made elsewhere, or stopping');
    }
  }

  /** Waits for `ms` (default: without end). Resolves early when the signal aborts. */
  async function sleep(ms: number | undefined, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const waiting = ms === undefined ? once(signal, 'abort') : clock.sleep(ms, signal);
    await waiting.catch(() => undefined);
  }

  for (const job of jobs) add(job);

  return {
    start(): void {
      isStarted = true;
      for (const entry of entries.values()) begin(entry);
    },
    /** Replaces the set of jobs. A running job finishes; ticks that are already due stay due. */
    update(changed: readonly ScheduledJob[]): void {
      const names = new Set(changed.map(({ name }) => name));
      for (const [name, entry] of entries) {
        if (names.has(name)) continue;
        entry.removed.abort();
        entries.delete(name);
      }
      for (const job of changed) {
        const entry = entries.get(job.name);
        if (entry === undefined) add(job);
        else if (!isSame(scheduleOf(entry), job)) {
          const { cron, timezone } = job;
          entry.eras = changeSchedule(entry.eras, { cron, timezone }, clock.now());
          entry.wakeUp.abort();
        }
      }
    },
    /** Decides again for one job (default: all), because it was paused or freed, or the clock was set. */
    wake(job?: string): void {
      for (const entry of job === undefined ? entries.values() : [entries.get(job)]) entry?.wakeUp.abort();
    },
    /** Runs a job as soon as possible, regardless of its schedule. */
    runNow(job: string): void {
      const entry = entries.get(job);
      if (entry === undefined) return;
      entry.isRequested = true;
      entry.wakeUp.abort();
    },
    /** Starts no more runs; resolves when the running jobs have ended. Aborts them after `graceMs`. */
    async stop(graceMs: number): Promise<void> {
      stopping.abort();
      const drained = new AbortController();
      const grace = clock.sleep(graceMs, drained.signal).then(
        () => aborting.abort(),
        () => undefined,
      );
      await Promise.all(loops);
      drained.abort();
      await grace;
    },
  };
}

const isSame = (a: Schedule, b: Schedule): boolean => a.cron === b.cron && a.timezone === b.timezone;
