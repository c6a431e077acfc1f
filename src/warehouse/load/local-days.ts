// The local day of each row, which a load stores in `_day`. The time zone is filled in at start: the tables of the zone are
// written when the zone, its rules or the year have changed, the days of stored rows when the offsets have, in one
// transaction, so that a reader never sees a partial state.

import { isDeepStrictEqual } from 'node:util';
import type { Knex } from 'knex';
import { isoInstant } from '../../core/time/clock.ts';
import { DAY_MS } from '../../core/time/durations.ts';
import { ALL_DAYS, hasDayFigures, writeEventDays } from '../control/event-days.ts';
import { factIn, readFact, writeFact } from '../control/learned-facts.ts';
import {
  hasSameOffsets,
  type LocalTime,
  localTimeAt,
  type Offset,
  storedOffsets,
  writeLocalTime,
} from '../control/local-time.ts';
import type { DayOf, EncodedRows, Engine, Row, Scalar } from '../engine.ts';
import { baseTables } from '../schema/catalog.ts';
import { quote, recordColumns, type Table } from '../schema/table.ts';
import { offsetAt } from '../views/shared/local-columns.ts';

/** Before the time zone is known. The days are filled in with the zone; see fillLocalTime. */
const noDay: DayOf = () => null;

/** The day of each row; undefined if the table has no days. */
export function daysOf(table: Table, rows: readonly Row[], dayOf: DayOf): Scalar[] | undefined {
  if (table.dayOf.length === 0) return undefined;
  const names = recordColumns(table).map(({ name }) => name);
  const positions = table.dayOf.map((name) => names.indexOf(name));
  return rows.map((row) => {
    const position = positions.find((at) => row[at] !== null);
    return position === undefined ? null : dayOf(row[position] as string);
  });
}

/** The fact that says which time zone the stored days are of. */
const LOCAL_TIME = 'local-time';

/** Instants outside, from wrong clocks, have no day: an engine could not store it in some zones. */
const OLDEST_DAY = '0001-01-03T00:00:00.000Z';
const NEWEST_DAY = '9999-12-29T00:00:00.000Z';

/**
 * The local days by the time zone that the warehouse has, not by the configuration of this process: another process may
 * already have changed both the zone and the stored days.
 */
export function storedDays() {
  let known: { fact: string | undefined; dayOf: DayOf } = { fact: undefined, dayOf: noDay };
  async function refresh(sql: Knex): Promise<DayOf> {
    const fact = JSON.stringify(await factIn(sql, LOCAL_TIME));
    if (fact === known.fact) return known.dayOf;
    known = { fact, dayOf: dayIn(await storedOffsets(sql)) };
    return known.dayOf;
  }
  return {
    dayOf: (): DayOf => known.dayOf,
    refresh,
    /** Encodes rows again whose days are of another time zone. `sql` is the transaction that loads them. */
    async ofNow<Rows extends EncodedRows>(
      sql: Knex,
      table: Table,
      encoded: readonly Rows[],
      encode: (table: Table, rows: readonly Row[], dayOf: DayOf) => Rows,
    ): Promise<readonly Rows[]> {
      if (table.dayOf.length === 0) return encoded;
      const dayOf = await refresh(sql);
      return encoded.map((each) => (each.dayOf === dayOf ? each : encode(table, each.rows(), dayOf)));
    },
  };
}

export type StoredDays = ReturnType<typeof storedDays>;

/** The local day of an instant. Instants of few days usually come together, so the bounds of the last days are kept. */
function dayIn(offsets: readonly Offset[]): DayOf {
  let known: Bounds[] = [];
  return (instant) => {
    for (const { from, to, day } of known) if (instant >= from && instant < to) return day;
    if (instant < OLDEST_DAY || instant > NEWEST_DAY) return null;
    const offset = offsets.findLast(({ from_at }) => from_at <= instant);
    if (offset === undefined) return null;
    const found = boundsOf(instant, offset);
    known = [found, ...known.slice(0, MOST_KNOWN - 1)];
    return found.day;
  };
}

const MOST_KNOWN = 3;

interface Bounds {
  from: string;
  to: string;
  day: string;
}

/** The part of the local day of an instant in which the offset applies. */
function boundsOf(instant: string, { from_at, to_at, offset_seconds }: Offset): Bounds {
  const number = Math.floor((Date.parse(instant) + offset_seconds * 1_000) / DAY_MS);
  const begin = number * DAY_MS - offset_seconds * 1_000;
  const [from, to] = [isoInstant(begin), isoInstant(begin + DAY_MS)];
  return {
    from: from > from_at ? from : from_at,
    to: to < to_at ? to : to_at,
    day: isoInstant(number * DAY_MS).slice(0, 10),
  };
}

export async function fillLocalTime(engine: Engine, zone: string, nowMs: number): Promise<void> {
  const wanted = localTimeAt(nowMs, zone);
  const known = await readFact<LocalTime>(engine, LOCAL_TIME);
  const isKnown = isDeepStrictEqual(known, wanted);
  const hasDays = isKnown || (known !== undefined && (await hasSameOffsets(engine, known, wanted)));
  const undated = hasDays ? await tablesWithoutDays(engine) : datedTables;
  if (!isKnown || undated.length > 0) await fill(engine, undated, wanted, nowMs);
  await engine.useStoredDays();
}

async function fill(engine: Engine, undated: readonly Table[], wanted: LocalTime, nowMs: number): Promise<void> {
  await engine.write(async (tx) => {
    await writeLocalTime(tx.sql, wanted);
    for (const table of undated) await fillDays(engine, tx.sql, table);
    if (undated.some(hasDayFigures)) await writeEventDays(tx.sql, engine.dialect, ALL_DAYS);
    await writeFact(tx, LOCAL_TIME, wanted, nowMs);
  });
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
