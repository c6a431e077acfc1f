// One word for each job, from its own cadence, so that a job that silently stopped is seen.
import { nextTick, type Schedule } from '../schedule/ticks.ts';

export type Health = 'ok' | 'late' | 'failing' | 'paused' | 'never ran';

/** How far past its tick a job may be before it counts as late, beside half of its period. */
const GRACE_MS = 60_000;

export interface JobFacts extends Schedule {
  enabled: boolean;
  /** By order, until it is resumed. */
  paused: boolean;
  lastStatus: string | undefined;
  /** Start of the last run in ms. */
  lastStartMs: number | undefined;
  nowMs: number;
}

export function healthOf(facts: JobFacts): Health {
  if (!facts.enabled || facts.paused) return 'paused';
  if (facts.lastStartMs === undefined) return 'never ran';
  if (facts.lastStatus === 'failed' || facts.lastStatus === 'abandoned') return 'failing';
  const due = nextTick(facts, facts.lastStartMs);
  if (due === undefined) return 'ok';
  const after = nextTick(facts, due) ?? due;
  return facts.nowMs > due + GRACE_MS + (after - due) / 2 ? 'late' : 'ok';
}

/** How long a push may wait for its reading back before somebody should look. */
const UNKNOWN_GRACE_MS = 600_000;

/** A push whose outcome nobody knows is something late, whatever the jobs say. */
export const outboxHealth = (unknownSince: string | null, nowMs: number): Health =>
  unknownSince !== null && nowMs - Date.parse(unknownSince) > UNKNOWN_GRACE_MS ? 'late' : 'ok';

const WORST_FIRST: readonly Health[] = ['failing', 'late', 'never ran', 'ok', 'paused'];

/** The word for all: the worst of the jobs. */
export const overallHealth = (words: readonly Health[]): Health =>
  WORST_FIRST.find((word) => words.includes(word)) ?? 'ok';
