// Fills the tables that views use for the configured time zone: its UTC offsets and its days, and the local day of every
// stored row. The tables are written when the zone, its rules or the year have changed, the days of rows when the offsets have,
// in one transaction, so that a reader never sees a partial state.

import { isDeepStrictEqual } from 'node:util';
import type { Knex } from 'knex';
import { Temporal } from 'temporal-polyfill';
import { chunks } from '../../core/chunks.ts';
import { isoInstant } from '../../core/time/clock.ts';
import { DAY_MS } from '../../core/time/durations.ts';
import { readFact, writeFact } from '../control/learned-facts.ts';
import type { Engine } from '../engine.ts';
import { ALL_DAYS, hasDayFigures, writeEventDays } from '../load/event-days.ts';
import { LOCAL_TIME, NEWEST_DAY, type Offset, OLDEST_DAY } from '../load/local-days.ts';
import { baseTables } from '../schema/catalog.ts';
import { quote, type Table } from '../schema/table.ts';
import { offsetAt } from '../views/shared/local-columns.ts';

/** Records may be older than the first computed offset and newer than the last. */
const EVER_BEFORE = '0001-01-01T00:00:00.000Z';
const EVER_AFTER = '9999-12-31T23:59:59.999Z';
const FIRST_OFFSET_YEAR = 2000;
const OFFSET_YEARS_AHEAD = 10;
const DAY_YEARS_BACK = 10;
const DAY_YEARS_AHEAD = 2;
const ROWS_AT_ONCE = 400;
const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];

export async function fillLocalTime(engine: Engine, zone: string, nowMs: number): Promise<void> {
  const { year } = Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO(zone);
  const wanted = { zone, rules: process.versions.tz, year };
  const known = await readFact<LocalTime>(engine, LOCAL_TIME);
  const isKnown = isDeepStrictEqual(known, wanted);
  const hasDays = isKnown || (known !== undefined && (await hasSameOffsets(engine, known, wanted)));
  const undated = hasDays ? await tablesWithoutDays(engine) : datedTables;
  if (!isKnown || undated.length > 0) await fill(engine, undated, wanted, nowMs);
  await engine.useStoredDays();
}

/** Whether the stored offsets are the same, as far as both lists go. To give every row its day again would take long. */
async function hasSameOffsets(engine: Engine, known: LocalTime, wanted: LocalTime): Promise<boolean> {
  const stored: Offset[] = await engine.read((sql) => sql('time_zone_offset').orderBy('from_at'));
  const end = `${Math.min(known.year, wanted.year) + OFFSET_YEARS_AHEAD}-12-31`;
  const compared = (list: readonly Offset[]) =>
    list.filter(({ from_at }) => from_at < end).map(({ from_at, offset_seconds }) => [from_at, offset_seconds]);
  return isDeepStrictEqual(compared(stored), compared(offsetsOf(wanted.zone, wanted.year)));
}

async function fill(engine: Engine, undated: readonly Table[], wanted: LocalTime, nowMs: number): Promise<void> {
  const offsets = offsetsOf(wanted.zone, wanted.year);
  const filled = { time_zone_offset: offsets, local_day: daysOf(offsets, wanted.year) };
  await engine.write(async (tx) => {
    for (const [table, rows] of Object.entries(filled)) {
      await tx.sql(table).delete();
      for (const some of chunks<object>(rows, ROWS_AT_ONCE)) await tx.sql.raw(insertion(table, some));
    }
    for (const table of undated) await fillDays(engine, tx.sql, table);
    if (undated.some(hasDayFigures)) await writeEventDays(tx.sql, engine.dialect, ALL_DAYS);
    await writeFact(tx, LOCAL_TIME, wanted, nowMs);
  });
}

interface LocalTime {
  zone: string;
  rules: string | undefined;
  year: number;
}

/** With literals: to bind the 70,000 values of the days would take most of the time of a first start. */
function insertion(table: string, rows: readonly object[]): string {
  const columns = Object.keys(rows[0] ?? {}).map(quote);
  const literal = (value: unknown) => (typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : value);
  const literals = (row: object) => Object.values(row).map(literal);
  return `insert into ${quote(table)} (${columns.join(', ')}) values ${rows.map((row) => `(${literals(row).join(', ')})`).join(', ')}`;
}

const datedTables = baseTables.filter(({ dayOf }) => dayOf.length > 0);

const instantOf = ({ dayOf }: Table): string => `coalesce(${dayOf.map(quote).join(', ')}, null)`;

/** The tables with rows that a version without `_day` has loaded. */
const tablesWithoutDays = (engine: Engine): Promise<Table[]> =>
  engine.read(async (sql) => {
    const found: Table[] = [];
    for (const table of datedTables) {
      const row = await sql(table.name)
        .whereNull('_day')
        .whereRaw(`${instantOf(table)} between '${OLDEST_DAY}' and '${NEWEST_DAY}'`)
        .first(table.key[0] ?? '');
      if (row !== undefined) found.push(table);
    }
    return found;
  });

/** A changed time zone is no change of the row, so `_changed_at` stays. */
async function fillDays({ dialect }: Engine, sql: Knex, table: Table): Promise<void> {
  const at = instantOf(table);
  const day = `case when ${at} between '${OLDEST_DAY}' and '${NEWEST_DAY}' then ${dialect.localDay(at, offsetAt(at))} end`;
  await sql.raw(`update ${quote(table.name)} set _day = ${day} where _day is distinct from ${day}`);
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
