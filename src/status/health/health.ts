// One word for each job, from its own cadence, so that a job that silently stopped is seen.
import { nextTick, type Schedule, ticksAfter } from '../../schedule/ticks.ts';

export type Health = 'ok' | 'late' | 'failing' | 'paused' | 'never ran';

/** How far past its tick a job may start before it counts as late: this, and half of its period up to a bound. */
const GRACE_MS = 60_000;
const LONGEST_GRACE_MS = 15 * 60_000;

/** A run that goes on past so many of its job's ticks, and for so long, counts as stuck. */
const TICKS_OF_A_LONG_RUN = 3;
const LONG_RUN_MS = 15 * 60_000;

export interface JobFacts extends Schedule {
  enabled: boolean;
  /** By order, until it is resumed. */
  paused: boolean;
  lastStatus: string | undefined;
  /** How the last run that has ended went; it is the last one unless that still runs. */
  ended?: RunEnd | undefined;
  /** Start of the last run in ms. */
  lastStartMs: number | undefined;
  /** End of the last run in ms; undefined while it runs. */
  lastEndMs?: number | undefined;
  /** Since when a daemon has kept this very schedule, in ms; an edit owes nothing for the time before it. */
  scheduledSinceMs?: number | undefined;
  nowMs: number;
}

export interface RunEnd {
  status: string;
  /** It ended with an error, so that a part of what was due has not come. */
  hadError: boolean;
  /** It was told to stop; what it left is made up for, and nothing is wrong with it. */
  wasCutOff: boolean;
}

function wrongWith({ status, hadError, wasCutOff }: RunEnd): Health | undefined {
  if (status === 'abandoned' || (status === 'failed' && !wasCutOff)) return 'failing';
  return status === 'partial' && hadError && !wasCutOff ? 'late' : undefined;
}

export function healthOf(facts: JobFacts): Health {
  const { enabled, paused, lastStatus, ended, lastStartMs, scheduledSinceMs } = facts;
  if (!enabled || paused) return 'paused';
  // A run that is under way has proved nothing yet: until it ends, the one before it counts.
  const wrong = ended === undefined ? undefined : wrongWith(ended);
  if (wrong === 'failing') return wrong;
  if (lastStatus === 'running' && lastStartMs !== undefined)
    return isStuck(facts, lastStartMs) ? 'late' : (wrong ?? 'ok');
  if (wrong !== undefined) return wrong;
  // A tick that passed while a run went on is not owed twice: the next one after its end is.
  const lastMs = facts.lastEndMs ?? lastStartMs;
  const known = [lastMs, scheduledSinceMs].filter((ms) => ms !== undefined);
  if (known.length > 0 && isOverdue(facts, Math.max(...known))) return 'late';
  return lastMs === undefined ? 'never ran' : 'ok';
}

/** The first tick after `fromMs` has passed, and its grace. */
function isOverdue(facts: JobFacts, fromMs: number): boolean {
  const due = nextTick(facts, fromMs);
  if (due === undefined) return false;
  const period = (nextTick(facts, due) ?? due) - due;
  return facts.nowMs > due + GRACE_MS + Math.min(period / 2, LONGEST_GRACE_MS);
}

function isStuck(facts: JobFacts, startMs: number): boolean {
  const last = [...ticksAfter(facts, startMs).take(TICKS_OF_A_LONG_RUN)].at(-1);
  return last !== undefined && facts.nowMs > Math.max(last, startMs + LONG_RUN_MS) + GRACE_MS;
}

/** A push that needs a person is something late, whatever the jobs say. */
export const outboxHealth = (attention: readonly unknown[]): Health => (attention.length > 0 ? 'late' : 'ok');

const WORST_FIRST: readonly Health[] = ['failing', 'late', 'never ran', 'ok', 'paused'];

/** The word for all: the worst of the jobs. */
export const overallHealth = (words: readonly Health[]): Health =>
  WORST_FIRST.find((word) => words.includes(word)) ?? 'ok';
