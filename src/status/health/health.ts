// The health of each job as one word. It is measured against the job's own schedule, so that a job that silently
// stopped is noticed.
import { nextTick, type Schedule, ticksAfter } from '../../schedule/ticks.ts';

/** `warning`: nothing is late, but a person should look at something. */
export type Health = 'ok' | 'late' | 'failing' | 'paused' | 'never ran' | 'warning';

/** A part of the last run failed; the run under way takes too long; a scheduled run is missing. */
export type LateCause = 'incomplete' | 'stuck' | 'overdue';

export interface JobHealth {
  health: Health;
  /** Null unless the job is late. */
  late_because: LateCause | null;
}

const word = (health: Health): JobHealth => ({ health, late_because: null });
const late = (late_because: LateCause): JobHealth => ({ health: 'late', late_because });

/** A job counts as late this long after its tick, plus half of its period up to LONGEST_GRACE_MS. */
const GRACE_MS = 60_000;
const LONGEST_GRACE_MS = 15 * 60_000;

/** A run counts as stuck if it lasts longer than both this many ticks of its job and this time. */
const TICKS_OF_A_LONG_RUN = 3;
const LONG_RUN_MS = 15 * 60_000;

export interface JobFacts extends Schedule {
  enabled: boolean;
  /** A person paused the job. */
  paused: boolean;
  lastStatus: string | undefined;
  /** The end of the last finished run. */
  ended?: RunEnd | undefined;
  lastStartMs: number | undefined;
  /** End of the last run in ms; undefined while it runs. */
  lastEndMs?: number | undefined;
  /** When a daemon started to use this schedule, in ms. Ticks before an edit of the schedule are not due. */
  scheduledSinceMs?: number | undefined;
  nowMs: number;
}

export interface RunEnd {
  status: string;
  /** The run ended with an error, so a part of its data is missing. */
  hadError: boolean;
  /** The run was stopped or lost its lease. A later run makes up for the rest, so this is not a failure. */
  wasCutOff: boolean;
  /** The error is about single items, such as a rejected plan: the run did all its work. */
  isAboutItems: boolean;
}

/** Undefined if the run ended well. */
function healthAfter({ status, hadError, wasCutOff, isAboutItems }: RunEnd): JobHealth | undefined {
  if (status === 'abandoned' || (status === 'failed' && !wasCutOff)) return word('failing');
  return status === 'partial' && hadError && !wasCutOff && !isAboutItems ? late('incomplete') : undefined;
}

export function healthOf(facts: JobFacts): JobHealth {
  const { enabled, paused, lastStatus, ended, lastStartMs, scheduledSinceMs } = facts;
  if (!enabled || paused) return word('paused');
  // A run under way says nothing about health yet. Until it ends, the run before it counts.
  const wrong = ended === undefined ? undefined : healthAfter(ended);
  if (wrong?.health === 'failing') return wrong;
  if (lastStatus === 'running' && lastStartMs !== undefined)
    return isStuck(facts, lastStartMs) ? late('stuck') : (wrong ?? word('ok'));
  if (wrong !== undefined) return wrong;
  // Ticks that passed during a run are not due; the first tick after its end is.
  const lastMs = facts.lastEndMs ?? lastStartMs;
  const known = [lastMs, scheduledSinceMs].filter((ms) => ms !== undefined);
  if (known.length > 0 && isOverdue(facts, Math.max(...known))) return late('overdue');
  return word(lastMs === undefined ? 'never ran' : 'ok');
}

/** Whether the first tick after `fromMs`, or the given one after it, and its grace period have passed. */
export function isOverdue(facts: Schedule & Pick<JobFacts, 'nowMs'>, fromMs: number, tick = 1): boolean {
  const due = [...ticksAfter(facts, fromMs).take(tick)][tick - 1];
  if (due === undefined) return false;
  const period = (nextTick(facts, due) ?? due) - due;
  return facts.nowMs > due + GRACE_MS + Math.min(period / 2, LONGEST_GRACE_MS);
}

function isStuck(facts: JobFacts, startMs: number): boolean {
  const last = [...ticksAfter(facts, startMs).take(TICKS_OF_A_LONG_RUN)].at(-1);
  return last !== undefined && facts.nowMs > Math.max(last, startMs + LONG_RUN_MS) + GRACE_MS;
}

const WORST_FIRST: readonly Health[] = ['failing', 'late', 'warning', 'never ran', 'ok', 'paused'];

export const overallHealth = (words: readonly Health[]): Health =>
  WORST_FIRST.find((word) => words.includes(word)) ?? 'ok';
