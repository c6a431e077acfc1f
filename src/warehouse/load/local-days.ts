// The local day of each row, which a load stores in `_day`.

import type { Knex } from 'knex';
import { isoInstant } from '../../core/time/clock.ts';
import { DAY_MS } from '../../core/time/durations.ts';
import { factIn } from '../control/learned-facts.ts';
import type { DayOf, EncodedRows, Row, Scalar } from '../engine.ts';
import { type RowOf, recordColumns, type Table } from '../schema/table.ts';
import type { timeZoneOffset } from '../tables/time-zone-offset.ts';

/** Before the time zone is known. The days are filled in with the zone; see maintenance/local-time.ts. */
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
export const LOCAL_TIME = 'local-time';

/** Instants outside, from wrong clocks, have no day: an engine could not store it in some zones. */
export const OLDEST_DAY = '0001-01-03T00:00:00.000Z';
export const NEWEST_DAY = '9999-12-29T00:00:00.000Z';

/** An offset of the time zone, and from when to when it applies. */
export type Offset = RowOf<typeof timeZoneOffset>;

/**
 * The local days by the time zone that the warehouse has, not by the configuration of this process: another process may
 * already have changed both the zone and the stored days.
 */
export function storedDays() {
  let known: { fact: string | undefined; dayOf: DayOf } = { fact: undefined, dayOf: noDay };
  async function refresh(sql: Knex): Promise<DayOf> {
    const fact = JSON.stringify(await factIn(sql, LOCAL_TIME));
    if (fact === known.fact) return known.dayOf;
    const offsets: Offset[] = await sql('time_zone_offset').orderBy('from_at');
    known = { fact, dayOf: dayIn(offsets) };
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
