// What a job does next, from its runs in the warehouse: run now, wait until its next tick, or wait for a request.
import type { RunCause, readTicks } from '../warehouse/control/runs.ts';
import { dueTick, type Era, firstEra, isClockSetBack, jitterOf, periodAt } from './due.ts';
import type { Schedule } from './ticks.ts';

/**
 * The state of a job's ticks, from the warehouse. `lastMs` is the start or the tick of the last run by the schedule, whichever
 * is later; `unfinishedMs` its tick if it was cut off; `tickMs` that of the newest run, on request or not.
 */
export type TickState = Awaited<ReturnType<typeof readTicks>>;

/** Why and when a run is due. */
export interface DueRun {
  cause: RunCause;
  /** The planned instant; undefined for a run on request. */
  tickAt?: number;
  /** The run starts only if this is still the last run of the schedule. */
  after?: string | null;
  /** Number of this try; default 1. */
  attempt?: number;
  /** The run starts only if the request still stands. */
  requested?: boolean;
}

/** The state that the scheduler keeps for a job. */
export interface JobState {
  name: string;
  eras: Era[];
  isRequested: boolean;
  /** When the scheduler found the clock set back to before the start of a run. */
  clockSetBack: { afterRunId: string | null; atMs: number } | undefined;
}

/** An undefined wait lasts until something changes. */
export type Decision = { run: DueRun } | { waitMs: number | undefined; isNeverDue?: boolean };

/** A run that starts later than this after its tick is a catch-up. */
const LATE_MS = 1_000;
/** A retry further away than any delay was set before the clock was set back. */
const LONGEST_RETRY_MS = 3_600_000;

export function decide(job: JobState, ticks: TickState, nowMs: number): Decision {
  const { paused, lastRunId: after, lastMs, unfinishedMs, attempt } = ticks;
  if (job.isRequested) return { run: { cause: 'manual', requested: true } };
  if (paused) return { waitMs: undefined };
  // A job that never ran is due at once. Missed ticks, however many, are caught up with one run.
  if (lastMs === undefined) return { run: { cause: 'catch-up', tickAt: nowMs, after } };
  if (unfinishedMs !== undefined) return { run: { cause: 'catch-up', tickAt: unfinishedMs, after, attempt } };
  const base = baseOf(job, after, lastMs, nowMs);
  job.eras = job.eras.filter(({ untilMs }) => untilMs > base);
  const due = dueTick(job.eras, base);
  const lateMs = due === undefined ? undefined : nowMs - due - jitterOf(job.name, periodAt(scheduleOf(job), due));
  if (lateMs !== undefined && lateMs >= 0) {
    return { run: { cause: lateMs > LATE_MS ? 'catch-up' : 'schedule', tickAt: due, after, attempt } };
  }
  const retryInMs = retryWait(ticks, nowMs);
  if (retryInMs !== undefined && retryInMs <= 0)
    return { run: { cause: 'retry', tickAt: ticks.tickMs, after, attempt } };
  if (lateMs === undefined) return { waitMs: retryInMs, isNeverDue: true };
  return { waitMs: Math.min(-lateMs, retryInMs ?? Number.POSITIVE_INFINITY) };
}

/** Time until the newest run is tried again; undefined if it is not. */
function retryWait({ retryMs }: TickState, nowMs: number): number | undefined {
  return retryMs === undefined || retryMs - nowMs > LONGEST_RETRY_MS ? undefined : retryMs - nowMs;
}

/** Ticks are counted from here: the last start, or the moment the clock was found set back to before it. */
function baseOf(job: JobState, lastRunId: string | null, lastMs: number, nowMs: number): number {
  const known = job.clockSetBack?.afterRunId === lastRunId ? job.clockSetBack.atMs : lastMs;
  if (!isClockSetBack(scheduleOf(job), known, nowMs)) return known;
  job.clockSetBack = { afterRunId: lastRunId, atMs: nowMs };
  job.eras = firstEra(scheduleOf(job));
  return nowMs;
}

/** The schedule in force. */
export const scheduleOf = ({ eras }: JobState): Schedule => (eras.at(-1) as Era).schedule;
