// The next due tick of a job, from its last start and the schedules in force since then. Pure. When a schedule is
// edited, ticks of the old schedule that are already due stay due; the new schedule has ticks only after the edit.
import { nextTick, type Schedule } from './ticks.ts';

/** A schedule and the period in which it was in force. */
export interface Era {
  schedule: Schedule;
  fromMs: number;
  untilMs: number;
}

export const firstEra = (schedule: Schedule): Era[] => [
  { schedule, fromMs: Number.NEGATIVE_INFINITY, untilMs: Number.POSITIVE_INFINITY },
];

/** Ticks of the earlier schedules up to `atMs` stay due. */
export function changeSchedule(eras: readonly Era[], schedule: Schedule, atMs: number): Era[] {
  const past = eras.map((era) => ({ ...era, untilMs: Math.min(era.untilMs, atMs) }));
  return [...past, { schedule, fromMs: atMs, untilMs: Number.POSITIVE_INFINITY }];
}

/** The first tick after the last start; undefined if the schedule is never due again. */
export function dueTick(eras: readonly Era[], lastMs: number): number | undefined {
  for (const { schedule, fromMs, untilMs } of eras) {
    const tick = nextTick(schedule, Math.max(lastMs, fromMs));
    if (tick !== undefined && tick <= untilMs) return tick;
  }
  return undefined;
}

/** Clocks of two daemons may differ by this much without both running the same tick. */
const SKEW_MS = 900_000;

/**
 * A last start in the future means that this clock was set back, or that another daemon's clock is ahead. A tick that
 * has run is not repeated, unless the job would otherwise stay idle for more than one and a half periods.
 */
export function isClockSetBack(schedule: Schedule, lastMs: number, nowMs: number): boolean {
  if (lastMs <= nowMs) return false;
  const next = nextTick(schedule, lastMs);
  return next !== undefined && next - nowMs > periodAt(schedule, next) * 1.5 + SKEW_MS;
}

/** Time from a tick to the next one. */
export const periodAt = (schedule: Schedule, tickMs: number): number => (nextTick(schedule, tickMs) ?? tickMs) - tickMs;

/** The longest delay after a tick, in ms and as a share of the period; the smaller one applies. */
const JITTER = { mostMs: 10_000, share: 0.02 };

/** Delay of a job after its ticks, so that jobs do not all start at once. Constant for each job. */
export function jitterOf(job: string, periodMs: number): number {
  let hash = 2_166_136_261;
  for (const character of job) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 16_777_619);
  return Math.floor(((hash >>> 0) / 2 ** 32) * Math.min(JITTER.mostMs, periodMs * JITTER.share));
}
