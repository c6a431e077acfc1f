// What a job does next, from what the warehouse knows of it: run now, wait until its tick, or wait for an order.
import type { RunCause } from '../warehouse/control/runs.ts';
import { dueTick, type Era, firstEra, isSetBack, jitterOf, periodAt } from './due.ts';
import type { Schedule } from './ticks.ts';

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
export interface DueRun {
  cause: RunCause;
  /** The planned instant; undefined for a run on request. */
  tickAt?: number;
  /** The run is made only while this is still the last one of the schedule. */
  after?: string | null;
  /** The run is made only while it is still requested. */
  requested?: boolean;
}

/** What the scheduler remembers of a job. */
export interface JobPlan {
  name: string;
  eras: Era[];
  isRequested: boolean;
  /** When the clock was found set back to before the start of a run. */
  setBack: { afterRunId: string | null; atMs: number } | undefined;
}

/** A wait that is undefined lasts until something changes. */
export type Decision = { order: DueRun } | { waitMs: number | undefined; isNeverDue?: boolean };

/** A start that is later than this behind its tick is a catch-up. */
const LATE_MS = 1_000;

export function decide(plan: JobPlan, outlook: Outlook, nowMs: number): Decision {
  const { paused, lastRunId: after, lastMs, unfinishedMs } = outlook;
  if (plan.isRequested) return { order: { cause: 'manual', requested: true } };
  if (paused) return { waitMs: undefined };
  // A job that never ran is due at once; one that missed ticks, however many, is caught up once.
  if (lastMs === undefined) return { order: { cause: 'catch-up', tickAt: nowMs, after } };
  if (unfinishedMs !== undefined) return { order: { cause: 'catch-up', tickAt: unfinishedMs, after } };
  const base = baseOf(plan, after, lastMs, nowMs);
  plan.eras = plan.eras.filter(({ untilMs }) => untilMs > base);
  const due = dueTick(plan.eras, base);
  if (due === undefined) return { waitMs: undefined, isNeverDue: true };
  const lateMs = nowMs - due - jitterOf(plan.name, periodAt(scheduleOf(plan), due));
  if (lateMs < 0) return { waitMs: -lateMs };
  return { order: { cause: lateMs > LATE_MS ? 'catch-up' : 'schedule', tickAt: due, after } };
}

/** What ticks are counted from: the last start, or when the clock was found set back to before it. */
function baseOf(plan: JobPlan, lastRunId: string | null, lastMs: number, nowMs: number): number {
  const known = plan.setBack?.afterRunId === lastRunId ? plan.setBack.atMs : lastMs;
  if (!isSetBack(scheduleOf(plan), known, nowMs)) return known;
  plan.setBack = { afterRunId: lastRunId, atMs: nowMs };
  plan.eras = firstEra(scheduleOf(plan));
  return nowMs;
}

/** The schedule in force. */
export const scheduleOf = ({ eras }: JobPlan): Schedule => (eras.at(-1) as Era).schedule;
