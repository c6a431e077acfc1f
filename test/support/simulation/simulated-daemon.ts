// A scheduler on a clock that the test moves, with its runs kept in memory in order: years of schedule in seconds. The
// test runs the control watch where a real daemon would have run it within a second.
import { createLog } from '../../../src/core/log.ts';
import { createRedactor } from '../../../src/core/text/redaction.ts';
import { createManualClock, type ManualClock } from '../../../src/core/time/manual-clock.ts';
import type { DueRun } from '../../../src/schedule/decision.ts';
import { createScheduler, type ScheduledJob, type Scheduler } from '../../../src/schedule/scheduler.ts';
import { createControlWatch } from '../../../src/schedule/watch.ts';
import type { JobControl } from '../../../src/warehouse/control/job-controls.ts';

/** The ticks of a job whose runs all succeeded. */
export const NEVER_FAILED = { unfinishedMs: undefined, tickMs: undefined, retryMs: undefined, attempt: 1 };

export interface SimulatedRun extends DueRun {
  job: string;
  /** By the clock. */
  startedMs: number;
  /** Time that had passed, however the clock was set. */
  elapsedMs: number;
}

export interface SimulatedDaemon {
  clock: ManualClock;
  scheduler: Scheduler;
  runs: SimulatedRun[];
  /** How often the warehouse was asked. */
  ticksRead(): number;
  controls: Map<string, JobControl>;
  watchOnce(): Promise<void>;
  stop(): Promise<void>;
}

export interface SimulationOptions {
  startAt: number;
  jobs: readonly ScheduledJob[];
  /** Jobs that have run already, and when. */
  lastMs?: number;
  /** Throws where a run cannot be opened. */
  open?: () => void;
  /** The work of a run; by default it takes no time. */
  work?: (job: string, clock: ManualClock) => Promise<void>;
}

export function simulateDaemon({ startAt, jobs, lastMs, open, work }: SimulationOptions): SimulatedDaemon {
  const clock = createManualClock(startAt);
  const log = createLog({ level: 'silent', redactor: createRedactor() });
  const runs: SimulatedRun[] = [];
  const lasts = new Map<string, { id: string; ms: number }>();
  if (lastMs !== undefined) for (const { name } of jobs) lasts.set(name, { id: 'before', ms: lastMs });
  const controls = new Map<string, JobControl>();
  let reads = 0;

  const scheduler = createScheduler(jobs, {
    clock,
    log,
    async readTicks(job) {
      reads++;
      const last = lasts.get(job);
      const paused = controls.get(job)?.paused ?? false;
      return { paused, lastRunId: last?.id ?? null, lastMs: last?.ms, ...NEVER_FAILED };
    },
    async run(job, due) {
      open?.();
      const startedMs = clock.now();
      runs.push({ ...due, job, startedMs, elapsedMs: clock.monotonic() });
      if (due.requested !== true) {
        lasts.set(job, { id: String(runs.length), ms: Math.max(startedMs, due.tickAt ?? 0) });
      } else controls.delete(job);
      await work?.(job, clock);
    },
  });
  const watch = createControlWatch({
    clock,
    log,
    scheduler,
    controls: async () => controls,
    freedLeases: async () => [],
  });
  scheduler.start();
  return {
    clock,
    scheduler,
    runs,
    ticksRead: () => reads,
    controls,
    watchOnce: watch.runOnce,
    stop: () => scheduler.stop(0),
  };
}
