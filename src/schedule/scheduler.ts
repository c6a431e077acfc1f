// Runs each job at its ticks. Nothing overlaps itself; what was missed while the daemon was down is caught up
// once. Waiting is done on the injected clock; stop is idempotent, safe before start, and drains.
import type { Clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import type { RunCause } from '../warehouse/run-log.ts';
import { nextTick, type Schedule } from './ticks.ts';

export interface ScheduledJob extends Schedule {
  name: string;
}

export interface SchedulerParts {
  clock: Clock;
  log: Log;
  /** Start of the job's last run in ms, or undefined where it never ran. */
  lastStart(job: string): Promise<number | undefined>;
  run(job: string, cause: RunCause, tickAt: number, stops: Stops): Promise<void>;
}

/** How a run is told to end: first to begin nothing new, then to end where it stands. */
export interface Stops {
  draining: AbortSignal;
  signal: AbortSignal;
}

export interface Scheduler {
  start(): void;
  /** No further tick; resolves when running jobs have ended. After `graceMs` they are told to stop. */
  stop(graceMs: number): Promise<void>;
}

export function createScheduler(jobs: readonly ScheduledJob[], parts: SchedulerParts): Scheduler {
  const { clock, log } = parts;
  const stopping = new AbortController();
  const cutting = new AbortController();
  let loops: Promise<void>[] = [];

  async function loop(job: ScheduledJob): Promise<void> {
    let lastStart = await parts.lastStart(job.name);
    while (!stopping.signal.aborted) {
      const now = clock.now();
      // A job that never ran is due at once; one that missed ticks, however many, is caught up once.
      const due = lastStart === undefined ? now : nextTick(job, lastStart);
      if (due === undefined) return log.warn({ job: job.name, cron: job.cron }, 'schedule is never due');
      if (due > now) await clock.sleep(due - now, stopping.signal);
      lastStart = Math.max(due, clock.now());
      await runOnce(job, due > now ? 'schedule' : 'catch-up', due);
    }
  }

  /** A run that throws must not end the schedule: the next tick tries again. */
  async function runOnce(job: ScheduledJob, cause: RunCause, due: number): Promise<void> {
    try {
      await parts.run(job.name, cause, due, { draining: stopping.signal, signal: cutting.signal });
    } catch (error) {
      log.error({ job: job.name, err: error }, 'run could not be made');
    }
  }

  const guarded = async (job: ScheduledJob): Promise<void> => {
    try {
      await loop(job);
    } catch (error) {
      if (!stopping.signal.aborted) log.error({ job: job.name, err: error }, 'schedule stopped');
    }
  };

  return {
    start() {
      loops = jobs.map(guarded);
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
