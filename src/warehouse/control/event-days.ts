// The events of a vehicle by local day and category. A transaction that changes events writes the figures of all vehicles and
// days again that it may have changed, so that a reader never sees one without the other. If it only inserts events, an engine
// may add their figures instead.

import type { Knex } from 'knex';
import { DAY_MS } from '../../core/time/durations.ts';
import type { EventDays, LoadCounts, Row, RowRange, Scalar } from '../engine.ts';
import type { Dialect } from '../schema/dialect.ts';
import { controlTable, date, instant, integer, recordColumns, type Table } from '../schema/table.ts';
import { event } from '../tables/event.ts';

const needed = { required: true };

export const eventDay = controlTable({
  name: 'event_day',
  meaning: 'Events per local day, vehicle and category, counted as they are loaded.',
  key: ['day', 'vehicle_id', 'event_category'],
  columns: {
    day: date('Local day on which the events began.'),
    vehicle_id: integer('Vehicle; 0 for events without one.'),
    event_category: integer('Category of the events; see event_category.'),
    events: integer('Number of events that the service still returns.', needed),
    duration_seconds: integer(
      'Seconds that these events lasted in total; events that have not ended count as 0.',
      needed,
    ),
    distance_metres: integer(
      'Metres travelled during these events; a distance of more than a million kilometres counts as 0.',
      needed,
    ),
    stored_events: integer('Number of rows in event, including those that the service no longer returns.', needed),
    changed_at: instant('When one of these rows last changed.', needed),
  },
  indexes: [['vehicle_id', 'day']],
});

export const hasDayFigures = (table: Table): boolean => table === event;

const VEHICLE_AT = recordColumns(event).findIndex(({ name }) => name === 'vehicle_id');
export const ALL_DAYS: EventDays = { first: '0001-01-01', last: '9999-12-31' };

/** The vehicles and days of rows that are about to be loaded; undefined if no row has a day. */
export function eventDaysOf(rows: readonly Row[], days: readonly Scalar[]): EventDays | undefined {
  const vehicles = new Set<Scalar>();
  let [first, last] = ['', ''];
  for (const [index, day] of days.entries()) {
    if (typeof day !== 'string') continue;
    vehicles.add(rows[index]?.[VEHICLE_AT] ?? null);
    if (first === '' || day < first) first = day;
    if (day > last) last = day;
  }
  return first === '' ? undefined : { vehicles, first, last };
}

/** All that any of `parts` contains, and more. */
export function unionOf(parts: readonly (EventDays | undefined)[]): EventDays | undefined {
  const known = parts.filter((part) => part !== undefined);
  if (known.length === 0) return undefined;
  const isAll = known.some(({ vehicles }) => vehicles === undefined);
  return {
    vehicles: isAll ? undefined : new Set(known.flatMap(({ vehicles }) => [...(vehicles ?? [])])),
    first: known.map(({ first }) => first).reduce((a, b) => (a < b ? a : b)),
    last: known.map(({ last }) => last).reduce((a, b) => (a > b ? a : b)),
  };
}

/** The vehicles and days of a range, in any time zone. */
export function eventDaysIn({ vehicle_id, begin_date }: RowRange): EventDays {
  const vehicles = vehicle_id !== undefined && 'in' in vehicle_id ? new Set<Scalar>(vehicle_id.in) : undefined;
  if (begin_date === undefined || !('from' in begin_date)) return { ...ALL_DAYS, vehicles };
  return { vehicles, first: shifted(begin_date.from, -1), last: shifted(begin_date.to, 1) };
}

const shifted = (day: string, days: number): string =>
  new Date(Date.parse(day.slice(0, 10)) + days * DAY_MS).toISOString().slice(0, 10);

/** The result of a load. */
export type Loaded = LoadCounts & {
  /** The days that it may have changed. */
  eventDays: EventDays | undefined;
  /** Adds the figures of the inserted rows, if the engine can and no row was updated. */
  addInserted?: (() => Promise<unknown>) | undefined;
};

/** Writes the figures in the transaction of `sql`, after a load or a mark that changed any row. */
export const dayFigures = (sql: Knex, dialect: Dialect) => ({
  async afterLoad(loading: Promise<Loaded>): Promise<LoadCounts> {
    const { eventDays, addInserted, ...counts } = await loading;
    if (eventDays === undefined || counts.inserted + counts.updated === 0) return counts;
    if (addInserted !== undefined) await addInserted();
    else await writeEventDays(sql, dialect, eventDays);
    return counts;
  },
  async afterMark(table: Table, range: RowRange, marking: Promise<number>): Promise<number> {
    const marked = await marking;
    if (marked > 0 && hasDayFigures(table)) await writeEventDays(sql, dialect, eventDaysIn(range));
    return marked;
  },
});

/** More vehicles than this are found by the day alone. */
const MOST_VEHICLES = 500;

export async function writeEventDays(sql: Knex, dialect: Dialect, days: EventDays): Promise<void> {
  const { vehicles, first, last } = days;
  const some = vehicles === undefined || vehicles.size > MOST_VEHICLES ? undefined : [...vehicles];
  const marks = (some ?? []).map(() => '?').join(', ');
  const ids = (some ?? []).map((id) => id ?? 0);
  const cells = `day between ? and ?${some === undefined ? '' : ` and vehicle_id in (${marks})`}`;
  await sql.raw(`delete from event_day where ${cells}`, [first, last, ...ids]);
  // The bounds of begin_date find the rows of some vehicles by their index; `_day` decides.
  // Events without a vehicle are counted under 0.
  const none = ids.includes(0) ? ' or vehicle_id is null' : '';
  const begin = 'coalesce((select begin_at from local_day where day = ?), ?)';
  const end = 'coalesce((select end_at from local_day where day = ?), ?)';
  const byVehicle = `(vehicle_id in (${marks})${none}) and begin_date >= ${begin} and begin_date < ${end} and _day`;
  const midnight = (day: string): string => `${day}T00:00:00.000Z`;
  const bounds =
    some === undefined ? [] : [...ids, first, midnight(shifted(first, -1)), last, midnight(shifted(last, 2))];
  const rows = `${some === undefined ? '_day' : byVehicle} between ? and ?`;
  await sql.raw(figuresStatement(dialect, rows), [...bounds, first, last]);
}

/** A service that sends the largest integer for "unknown" would make the sum too large to store. */
const PLAUSIBLE_DISTANCE = 'case when distance between -1000000000 and 1000000000 then distance end';

/** Writes the figures of the events that meet the condition. */
export const figuresStatement = (
  { secondsBetween }: Dialect,
  condition: string,
  changedAt = 'max(_changed_at)',
): string => {
  const present = (figure: string): string => `coalesce(sum(case when _missing_since is null then ${figure} end), 0)`;
  return `
    insert into event_day (day, vehicle_id, event_category, events, duration_seconds, distance_metres, stored_events, changed_at)
    select _day, coalesce(vehicle_id, 0), event_category, ${present('1')},
      ${present(secondsBetween('begin_date', 'end_date'))}, ${present(PLAUSIBLE_DISTANCE)}, count(*), ${changedAt}
    from event where ${condition} group by _day, coalesce(vehicle_id, 0), event_category`;
};
