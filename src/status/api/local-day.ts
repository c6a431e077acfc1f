// A local day as a period of instants.
import { Temporal } from 'temporal-polyfill';
import { isoInstant } from '../../core/time/clock.ts';

export const localDayOf = (ms: number, timezone: string): string =>
  Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timezone).toPlainDate().toString();

/** From its first instant to that of the next day; 23 or 25 hours where the clock changes. */
export function periodOf(day: string, timezone: string): { from: string; to: string } {
  const date = Temporal.PlainDate.from(day);
  const startOf = (each: Temporal.PlainDate): string =>
    isoInstant(each.toZonedDateTime(timezone).epochMilliseconds);
  return { from: startOf(date), to: startOf(date.add({ days: 1 })) };
}
