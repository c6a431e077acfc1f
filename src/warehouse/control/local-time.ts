// The configured time zone for views: its UTC offsets, because SQLite has no time zones and both engines should give the same
// result, and its days with their bounds in UTC. A join on the bounds finds the rows of a local day by index, also on days
// of 23 or 25 hours. Both are filled at start; see load/local-days.ts.

import { isDeepStrictEqual } from 'node:util';
import type { Knex } from 'knex';
import { Temporal } from 'temporal-polyfill';
import { chunks } from '../../core/chunks.ts';
import { isoInstant } from '../../core/time/clock.ts';
import { DAY_MS } from '../../core/time/durations.ts';
import type { Engine } from '../engine.ts';
import { boolean, controlTable, date, instant, integer, quote, type RowOf, real, text } from '../schema/table.ts';

const needed = { required: true } as const;

export const timeZoneOffset = controlTable({
  name: 'time_zone_offset',
  meaning: 'UTC offsets of the configured time zone, one row per period.',
  key: ['from_at'],
  columns: {
    from_at: instant('Start of the period.'),
    to_at: instant('End of the period, exclusive.', needed),
    offset_seconds: integer('Seconds to add to UTC.', needed),
    zone: text('The configured time zone.', needed),
  },
});

export const localDay = controlTable({
  name: 'local_day',
  meaning: 'Days of the configured time zone, each with its bounds in UTC.',
  key: ['day'],
  columns: {
    day: date('Local date.'),
    begin_at: instant('First instant of the day.', needed),
    end_at: instant('First instant of the next day.', needed),
    number: integer('Days since 1 January 1970.', needed),
    hours: real('Length of the day in hours: 24, or usually 23 or 25 when the clock changes.', needed),
    year: integer('Year.', needed),
    quarter: integer('Quarter of the year, 1 to 4.', needed),
    month: integer('Month of the year, 1 to 12.', needed),
    month_start: date('First day of the month.', needed),
    week: integer('ISO week, 1 to 53.', needed),
    week_start: date('Monday of the week.', needed),
    weekday: integer('Day of the week, 1 Monday to 7 Sunday.', needed),
    weekday_name: text('Day of the week in words.', needed),
    is_weekend: boolean('True on Saturday and Sunday.', needed),
    zone: text('The configured time zone.', needed),
  },
  indexes: [['begin_at']],
});

/** Records may be older than the first computed offset and newer than the last. */
const EVER_BEFORE = '0001-01-01T00:00:00.000Z';
const EVER_AFTER = '9999-12-31T23:59:59.999Z';
const FIRST_OFFSET_YEAR = 2000;
const OFFSET_YEARS_AHEAD = 10;
const DAY_YEARS_BACK = 10;
const DAY_YEARS_AHEAD = 2;
const ROWS_AT_ONCE = 400;
const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];

/** An offset of the time zone, and from when to when it applies. */
export type Offset = RowOf<typeof timeZoneOffset>;

/** What the tables are filled with. */
export interface LocalTime {
  zone: string;
  rules: string | undefined;
  year: number;
}

export const localTimeAt = (nowMs: number, zone: string): LocalTime => ({
  zone,
  rules: process.versions.tz,
  year: Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO(zone).year,
});

export const storedOffsets = (sql: Knex): Promise<Offset[]> => sql(timeZoneOffset.name).orderBy('from_at');

/** Whether the stored offsets are the same, as far as both lists go. To give every row its day again would take long. */
export async function hasSameOffsets(engine: Engine, known: LocalTime, wanted: LocalTime): Promise<boolean> {
  const stored: Offset[] = await engine.read(storedOffsets);
  const end = `${Math.min(known.year, wanted.year) + OFFSET_YEARS_AHEAD}-12-31`;
  const compared = (list: readonly Offset[]) =>
    list.filter(({ from_at }) => from_at < end).map(({ from_at, offset_seconds }) => [from_at, offset_seconds]);
  return isDeepStrictEqual(compared(stored), compared(offsetsOf(wanted.zone, wanted.year)));
}

/** In the transaction of `sql`, so that a reader never sees a partial state. */
export async function writeLocalTime(sql: Knex, { zone, year }: LocalTime): Promise<void> {
  const offsets = offsetsOf(zone, year);
  for (const [table, rows] of [
    [timeZoneOffset.name, offsets],
    [localDay.name, daysOf(offsets, year)],
  ] as const) {
    await sql(table).delete();
    for (const some of chunks<object>(rows, ROWS_AT_ONCE)) await sql.raw(insertion(table, some));
  }
}

/** With literals: to bind the 70,000 values of the days would take most of the time of a first start. */
function insertion(table: string, rows: readonly object[]): string {
  const columns = Object.keys(rows[0] ?? {}).map(quote);
  const literal = (value: unknown) => (typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : value);
  const literals = (row: object) => Object.values(row).map(literal);
  return `insert into ${quote(table)} (${columns.join(', ')}) values ${rows.map((row) => `(${literals(row).join(', ')})`).join(', ')}`;
}

/** The offsets since FIRST_OFFSET_YEAR. The first also covers all time before, the last all time after. */
function offsetsOf(zone: string, year: number): Offset[] {
  const end = new Temporal.PlainDate(year + OFFSET_YEARS_AHEAD, 12, 31).toZonedDateTime(zone);
  let at = new Temporal.PlainDate(FIRST_OFFSET_YEAR, 1, 1).toZonedDateTime(zone);
  const changes = [{ from_at: EVER_BEFORE, seconds: at.offsetNanoseconds / 1e9 }];
  for (;;) {
    const next = at.getTimeZoneTransition('next');
    if (next === null || Temporal.ZonedDateTime.compare(next, end) > 0) break;
    at = next;
    changes.push({ from_at: isoInstant(at.epochMilliseconds), seconds: at.offsetNanoseconds / 1e9 });
  }
  return changes.map(({ from_at, seconds }, index) => ({
    from_at,
    to_at: changes[index + 1]?.from_at ?? EVER_AFTER,
    offset_seconds: seconds,
    zone,
  }));
}

/** The days of the full years around `year`, computed from the offsets: Temporal would take a hundred times as long. */
function daysOf(offsets: readonly Offset[], year: number): object[] {
  const first = dayNumber(year - DAY_YEARS_BACK, 0);
  const last = dayNumber(year + DAY_YEARS_AHEAD + 1, 0);
  const known = offsets.map(({ from_at, to_at, offset_seconds }) => ({
    fromMs: Date.parse(from_at),
    toMs: Date.parse(to_at),
    offsetMs: offset_seconds * 1_000,
  }));
  const begins = Array.from({ length: last - first + 1 }, (_, index) => beginOf(first + index, known));
  return begins.slice(0, -1).map((begin, index) => {
    const end = begins[index + 1] ?? begin;
    return {
      ...calendarOf(first + index),
      begin_at: isoInstant(begin),
      end_at: isoInstant(end),
      hours: (end - begin) / 3_600_000,
      zone: offsets[0]?.zone,
    };
  });
}

/** The first instant of the local day: midnight, or later if the clock skips midnight. */
function beginOf(day: number, offsets: readonly { fromMs: number; toMs: number; offsetMs: number }[]): number {
  for (const { fromMs, toMs, offsetMs } of offsets) {
    const begin = Math.max(fromMs, day * DAY_MS - offsetMs);
    if (begin < toMs) return begin;
  }
  throw new RangeError('the day is after the last offset');
}

/** Days since 1970 of the first day of a month; `month` counts from 0. */
const dayNumber = (year: number, month: number): number => Date.UTC(year, month) / DAY_MS;
const dateText = (day: number): string => isoInstant(day * DAY_MS).slice(0, 10);

function calendarOf(day: number): object {
  const date = new Date(day * DAY_MS);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  // 1 January 1970 was a Thursday; an ISO week belongs to the year of its Thursday.
  const weekday = ((day + 3) % 7) + 1;
  const thursday = day - weekday + 4;
  const weekYear = new Date(thursday * DAY_MS).getUTCFullYear();
  return {
    day: dateText(day),
    number: day,
    year,
    quarter: Math.floor(month / 3) + 1,
    month: month + 1,
    month_start: dateText(dayNumber(year, month)),
    week: Math.floor((thursday - dayNumber(weekYear, 0)) / 7) + 1,
    week_start: dateText(day - weekday + 1),
    weekday,
    weekday_name: WEEKDAYS[weekday - 1],
    is_weekend: weekday > 5,
  };
}
