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

/** No schedule that can ever be due waits longer than this: a 29 February on a given weekday. */
const HORIZON_DAYS = 366 * 41;

/** Instants of the schedule after `afterMs`, in order, for ever. */
export function* ticksAfter({ cron, timezone }: Schedule, afterMs: number): Generator<number> {
  const { fields, calendar } = readCron(cron);
  const everyHour = fields.hour.length === 24;
  let day = Temporal.Instant.fromEpochMilliseconds(afterMs).toZonedDateTimeISO(timezone).toPlainDate();
  // A slot moved out of a gap before midnight can fall on the day after its own.
  day = day.subtract({ days: 1 });
  let last = afterMs;
  for (let idle = 0; idle < HORIZON_DAYS; idle++, day = day.add({ days: 1 })) {
    if (!matchesDay(calendar, fields, day)) continue;
    for (const tick of slotsOf(day, fields, timezone, everyHour)) {
      if (tick <= last) continue;
      last = tick;
      idle = 0;
      yield tick;
    }
  }
}

/** The first instant after `afterMs`, or undefined for a schedule that is never due. */
export const nextTick = (schedule: Schedule, afterMs: number): number | undefined =>
  ticksAfter(schedule, afterMs).next().value as number | undefined;

type Fields = ReturnType<typeof parse>;

/** node-cron keeps every task it makes, so each expression is read once. */
const read = new Map<string, { fields: Fields; calendar: ScheduledTask }>();

function readCron(cron: string): { fields: Fields; calendar: ScheduledTask } {
  const known = read.get(cron);
  if (known !== undefined) return known;
  const made = { fields: parse(cron), calendar: createTask(cron, () => undefined, { timezone: 'UTC' }) };
  read.set(cron, made);
  return made;
}

/** Asks node-cron about the wall time as though it were UTC: the day's rules need no zone. */
function matchesDay(
  calendar: ScheduledTask,
  { hour, minute, second }: Fields,
  day: Temporal.PlainDate,
): boolean {
  const wall = Date.UTC(day.year, day.month - 1, day.day, hour[0], minute[0], second[0]);
  return calendar.match(new Date(wall));
}

/** The slots of a local day in order. */
function slotsOf(day: Temporal.PlainDate, fields: Fields, timezone: string, everyHour: boolean): number[] {
  const start = day.toZonedDateTime(timezone);
  const times = wallTimes(fields);
  // On a day of 24 hours a wall time is so long after its start; only the others need the zone's rules.
  if (start.hoursInDay === 24) return times.map((seconds) => start.epochMilliseconds + seconds * 1_000);
  const slots = times.flatMap((seconds) => {
    const wall = day.toPlainDateTime().add({ seconds });
    return instantsOf(wall, timezone, everyHour);
  });
  return [...new Set(slots)].toSorted((a, b) => a - b);
}

/** Wall times of a day in seconds since midnight, in order. */
function wallTimes({ hour, minute, second }: Fields): number[] {
  const times = hour.flatMap((h) => minute.flatMap((m) => second.map((s) => h * 3_600 + m * 60 + s)));
  return times.toSorted((a, b) => a - b);
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
