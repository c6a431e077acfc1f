// Which tick of a job is due, from its last start and the schedules that were in force. Pure. A schedule that is
// edited leaves the ticks that were due by then owed, and has ticks of its own only from the edit on.
import { nextTick, type Schedule } from './ticks.ts';

/** A schedule and the time in which it was in force. */
export interface Era {
  schedule: Schedule;
  fromMs: number;
  untilMs: number;
}

export const firstEra = (schedule: Schedule): Era[] => [
  { schedule, fromMs: Number.NEGATIVE_INFINITY, untilMs: Number.POSITIVE_INFINITY },
];

/** Ticks of the earlier schedules that are due by then stay due. */
export function changeSchedule(eras: readonly Era[], schedule: Schedule, atMs: number): Era[] {
  const past = eras.map((era) => ({ ...era, untilMs: Math.min(era.untilMs, atMs) }));
  return [...past, { schedule, fromMs: atMs, untilMs: Number.POSITIVE_INFINITY }];
}

/** The first tick after the last start; undefined where none will ever come. */
export function dueTick(eras: readonly Era[], lastMs: number): number | undefined {
  for (const { schedule, fromMs, untilMs } of eras) {
    const tick = nextTick(schedule, Math.max(lastMs, fromMs));
    if (tick !== undefined && tick <= untilMs) return tick;
  }
  return undefined;
}

/** How far the clocks of two daemons may be apart without a tick being run by both. */
const SKEW_MS = 900_000;

/**
 * A last start in the future means that the clock was set back, or that another daemon's is ahead. A tick that is
 * done is then left out, unless the job would be silent for more than one and a half of its periods.
 */
export function isSetBack(schedule: Schedule, lastMs: number, nowMs: number): boolean {
  if (lastMs <= nowMs) return false;
  const next = nextTick(schedule, lastMs);
  return next !== undefined && next - nowMs > periodAt(schedule, next) * 1.5 + SKEW_MS;
}

/** From a tick to the one after it. */
export const periodAt = (schedule: Schedule, tickMs: number): number =>
  (nextTick(schedule, tickMs) ?? tickMs) - tickMs;

/** The longest wait behind a tick, and the share of the period that it never exceeds. */
const JITTER = { mostMs: 10_000, share: 0.02 };

/** How long after its ticks a job starts: always the same for a job, so that not all start at once. */
export function jitterOf(job: string, periodMs: number): number {
  let hash = 2_166_136_261;
  for (const character of job) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 16_777_619);
  return Math.floor(((hash >>> 0) / 2 ** 32) * Math.min(JITTER.mostMs, periodMs * JITTER.share));
}
