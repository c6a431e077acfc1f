// The ticks of a schedule: pure arithmetic on cron fields, a zone and an instant, for any period. node-cron parses the
// expression and matches days; Temporal converts the wall time of the zone.
//
// Daylight saving: a schedule with fixed hours has each local slot exactly once. A slot inside a gap moves to the end of
// the gap, and the second pass of an overlap adds no slot. A schedule for every hour follows elapsed time instead, so
// that it neither pauses nor doubles.

import { createTask, parse } from 'node-cron';
import { Temporal } from 'temporal-polyfill';
import { memoize } from '../core/memoize.ts';
import { DAY_MS } from '../core/time/durations.ts';

export interface Schedule {
  /** Five cron fields, or six with seconds first. */
  cron: string;
  /** IANA zone. */
  timezone: string;
}

/** The longest wait of any schedule that is ever due: a 29 February on a given weekday. */
const HORIZON_DAYS = 366 * 41;

/** Instants of the schedule after `afterMs`, in order, without end. */
export function* ticksAfter({ cron, timezone }: Schedule, afterMs: number): Generator<number> {
  const schedule = readCron(cron);
  // A local date differs from the UTC date by at most one day; a slot moved out of a gap before midnight adds one more.
  let day = Math.floor(afterMs / DAY_MS) - 2;
  let last = afterMs;
  for (let idle = 0; idle < HORIZON_DAYS; idle++, day++) {
    if (!schedule.matchesDay(day)) continue;
    for (const tick of slotsAfter(schedule, day, timezone, last)) {
      last = tick;
      idle = 0;
      yield tick;
    }
  }
}

/** The first instant after `afterMs`, or undefined for a schedule that is never due. */
export const nextTick = (schedule: Schedule, afterMs: number): number | undefined =>
  ticksAfter(schedule, afterMs).next().value as number | undefined;

/** The days around now are computed repeatedly; the limit bounds the memory of a long search. */
const MAX_MEMOIZED = 1_000;

type CronSchedule = ReturnType<typeof readCron>;

const readCron = memoize(MAX_MEMOIZED, (cron: string) => {
  const { hour, minute, second } = parse(cron);
  /** Wall times of a day in seconds since midnight, in order. */
  const times = hour.flatMap((h) => minute.flatMap((m) => second.map((s) => h * 3_600 + m * 60 + s)));
  times.sort((a, b) => a - b);
  const everyHour = hour.length === 24;
  // node-cron keeps every task it creates, so an expression is not parsed again.
  const calendar = createTask(cron, () => undefined, { timezone: 'UTC' });
  return {
    times,
    /** Passes the wall time to node-cron as if it were UTC: matching a day needs no zone. */
    matchesDay: memoize(MAX_MEMOIZED, (day: number) =>
      calendar.match(new Date(day * DAY_MS + (times[0] ?? 0) * 1_000)),
    ),
    /** Slots of a day on which the clock changes. They are expensive to compute and needed repeatedly for days. */
    changeDaySlots: memoize(MAX_MEMOIZED, (day: number, timezone: string) => {
      const { date } = localDay(day, timezone);
      const all = times.flatMap((seconds) => instantsOf(date.toPlainDateTime().add({ seconds }), timezone, everyHour));
      return [...new Set(all)].toSorted((a, b) => a - b);
    }),
  };
});

/** `day` counts the dates since 1970-01-01. */
const localDay = memoize(MAX_MEMOIZED, (day: number, timezone: string) => {
  const date = Temporal.PlainDate.from('1970-01-01').add({ days: day });
  const start = date.toZonedDateTime(timezone);
  return { date, startMs: start.epochMilliseconds, has24Hours: start.hoursInDay === 24 };
});

/** The slots of a local day after an instant, in order. */
function* slotsAfter(
  { times, changeDaySlots }: CronSchedule,
  day: number,
  timezone: string,
  afterMs: number,
): Generator<number> {
  const { startMs: midnight, has24Hours } = localDay(day, timezone);
  // On a day of 24 hours a wall time is a fixed distance from midnight; only other days need the zone's rules.
  if (has24Hours) {
    for (let index = firstAfter(times, (afterMs - midnight) / 1_000); index < times.length; index++) {
      yield midnight + (times[index] ?? 0) * 1_000;
    }
    return;
  }
  const slots = changeDaySlots(day, timezone);
  for (let index = firstAfter(slots, afterMs); index < slots.length; index++) yield slots[index] ?? 0;
}

/** Index of the first number greater than `value`. A binary search: a schedule may have a slot every second. */
function firstAfter(numbers: readonly number[], value: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) > value) high = middle;
    else low = middle + 1;
  }
  return low;
}

function instantsOf(wall: Temporal.PlainDateTime, timezone: string, everyHour: boolean): number[] {
  const earlier = wall.toZonedDateTime(timezone, { disambiguation: 'earlier' });
  const later = wall.toZonedDateTime(timezone, { disambiguation: 'later' });
  if (earlier.epochMilliseconds === later.epochMilliseconds) return [earlier.epochMilliseconds];
  const inGap = !earlier.toPlainDateTime().equals(wall);
  if (everyHour) return inGap ? [] : [earlier.epochMilliseconds, later.epochMilliseconds];
  return [inGap ? later.epochMilliseconds : earlier.epochMilliseconds];
}

/** True if the zone's offset changes within the local day of `instantMs`. */
export function isClockChangeDay(timezone: string, instantMs: number): boolean {
  const day = Temporal.Instant.fromEpochMilliseconds(instantMs).toZonedDateTimeISO(timezone).startOfDay();
  return day.hoursInDay !== 24;
}

/** A tick in the time zone of its schedule, with the offset: `2026-03-10T08:00:00-03:00`. */
export const localTick = (ms: number, timezone: string): string =>
  Temporal.Instant.fromEpochMilliseconds(ms)
    .toZonedDateTimeISO(timezone)
    .toString({ timeZoneName: 'never', smallestUnit: 'second' });

/** A tick that is known as an instant, for people; empty if there is none. */
export const shownTick = (at: string | null, timezone: string): string =>
  at === null ? '' : localTick(Date.parse(at), timezone);
