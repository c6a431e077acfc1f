// When a schedule is due: pure arithmetic on cron fields, a zone and an instant, so that any period can be
// asked for. node-cron reads the expression and judges the day; the wall clock of the zone is Temporal's.
//
// Daylight saving: a schedule with fixed hours has each local slot once. A slot in a gap is moved to after it,
// the second pass of an overlap is not a slot again. A schedule for every hour follows elapsed time instead, so
// that it neither pauses nor doubles.
import { createTask, parse, type ScheduledTask } from 'node-cron';
import { Temporal } from 'temporal-polyfill';

export interface Schedule {
  /** Five cron fields, or six with seconds first. */
  cron: string;
  /** IANA zone. */
  timezone: string;
}

const DAY_MS = 86_400_000;

/** No schedule that can ever be due waits longer than this: a 29 February on a given weekday. */
const HORIZON_DAYS = 366 * 41;

/** Instants of the schedule after `afterMs`, in order, for ever. */
export function* ticksAfter({ cron, timezone }: Schedule, afterMs: number): Generator<number> {
  const schedule = readCron(cron);
  // A local date is at most one day off that of UTC, and a slot moved out of a gap before midnight one more.
  let day = Math.floor(afterMs / DAY_MS) - 2;
  let last = afterMs;
  for (let idle = 0; idle < HORIZON_DAYS; idle++, day++) {
    if (!matchesDay(schedule, day)) continue;
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

interface CronSchedule {
  /** Judges a day; node-cron keeps every task it makes, so each expression is read once. */
  calendar: ScheduledTask;
  /** What it said of days. */
  days: Map<number, boolean>;
  /** The slots of days on which the clock changes: dear to find, and asked for again for days. */
  changes: Map<string, readonly number[]>;
  /** Wall times of a day in seconds since midnight, in order. */
  times: readonly number[];
  everyHour: boolean;
}

const known = new Map<string, CronSchedule>();

function readCron(cron: string): CronSchedule {
  const made = known.get(cron);
  if (made !== undefined) return made;
  const { hour, minute, second } = parse(cron);
  const times = hour.flatMap((h) => minute.flatMap((m) => second.map((s) => h * 3_600 + m * 60 + s)));
  const schedule = {
    calendar: createTask(cron, () => undefined, { timezone: 'UTC' }),
    days: new Map<number, boolean>(),
    changes: new Map<string, readonly number[]>(),
    times: times.toSorted((a, b) => a - b),
    everyHour: hour.length === 24,
  };
  known.set(cron, schedule);
  return schedule;
}

/** Asks node-cron about the wall time as though it were UTC: the day's rules need no zone. */
const matchesDay = ({ calendar, times, days }: CronSchedule, day: number): boolean =>
  remembered(days, day, () => calendar.match(new Date(day * DAY_MS + (times[0] ?? 0) * 1_000)));

/** The days around now are asked for again and again. */
const MOST_DAYS = 1_000;

function remembered<K, V>(memory: Map<K, V>, key: K, find: () => V): V {
  const known = memory.get(key);
  if (known !== undefined) return known;
  const found = find();
  if (memory.size >= MOST_DAYS) memory.clear();
  memory.set(key, found);
  return found;
}

interface LocalDay {
  date: Temporal.PlainDate;
  startMs: number;
  isWhole: boolean;
}

const localDays = new Map<string, LocalDay>();

/** `day` counts the dates since 1970-01-01. */
const localDay = (day: number, timezone: string): LocalDay =>
  remembered(localDays, `${day} ${timezone}`, () => {
    const date = Temporal.PlainDate.from('1970-01-01').add({ days: day });
    const start = date.toZonedDateTime(timezone);
    return { date, startMs: start.epochMilliseconds, isWhole: start.hoursInDay === 24 };
  });

/** The slots of a local day after an instant, in order. */
function* slotsAfter(
  { times, everyHour, changes }: CronSchedule,
  day: number,
  timezone: string,
  afterMs: number,
): Generator<number> {
  const { date, startMs: midnight, isWhole } = localDay(day, timezone);
  // On a day of 24 hours a wall time is so long after its start; only the others need the zone's rules.
  if (isWhole) {
    for (let index = firstAfter(times, (afterMs - midnight) / 1_000); index < times.length; index++) {
      yield midnight + (times[index] ?? 0) * 1_000;
    }
    return;
  }
  const slots = remembered(changes, `${day} ${timezone}`, () => {
    const all = times.flatMap((seconds) =>
      instantsOf(date.toPlainDateTime().add({ seconds }), timezone, everyHour),
    );
    return [...new Set(all)].toSorted((a, b) => a - b);
  });
  for (let index = firstAfter(slots, afterMs); index < slots.length; index++) yield slots[index] ?? 0;
}

/** Index of the first number greater than `value`, by halving: a schedule may have a slot every second. */
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

/** True where the zone's offset changes within the local day of `instantMs`. */
export function isClockChangeDay(timezone: string, instantMs: number): boolean {
  const day = Temporal.Instant.fromEpochMilliseconds(instantMs).toZonedDateTimeISO(timezone).startOfDay();
  return day.hoursInDay !== 24;
}
