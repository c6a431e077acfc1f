// Local days and their periods of instants.
import { Temporal } from 'temporal-polyfill';
import { isoInstant } from '../../core/time/clock.ts';

export const localDayOf = (ms: number, timezone: string): string =>
  Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timezone).toPlainDate().toString();

/** From the first instant of the day to that of the next; 23 or 25 hours on a day of a clock change. */
export function periodOf(day: string, timezone: string): { from: string; to: string } {
  const date = Temporal.PlainDate.from(day);
  const startOf = (each: Temporal.PlainDate): string => isoInstant(each.toZonedDateTime(timezone).epochMilliseconds);
  return { from: startOf(date), to: startOf(date.add({ days: 1 })) };
}
