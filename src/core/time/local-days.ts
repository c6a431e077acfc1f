// Local days of a zone as spans of time; a day is 23, 24 or 25 hours long.
import { Temporal } from 'temporal-polyfill';
import { isoInstant } from './clock.ts';

/** In ms since the epoch; `end` is exclusive. */
export interface LocalDay {
  /** YYYY-MM-DD. */
  date: string;
  begin: number;
  end: number;
}

/** YYYY-MM-DD of an instant. */
export const localDate = (ms: number, timezone: string): string =>
  Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timezone).toPlainDate().toString();

/** From the first instant of the day to that of the next. */
export function periodOf(day: string, timezone: string): { from: string; to: string } {
  const date = Temporal.PlainDate.from(day);
  const startOf = (each: Temporal.PlainDate): string => isoInstant(each.toZonedDateTime(timezone).epochMilliseconds);
  return { from: startOf(date), to: startOf(date.add({ days: 1 })) };
}

/** The local days that overlap any of the spans, each once, in order. */
export function localDays(spans: readonly Pick<LocalDay, 'begin' | 'end'>[], timezone: string): LocalDay[] {
  const days = new Map<string, LocalDay>();
  for (const { begin, end } of spans) {
    let day = Temporal.Instant.fromEpochMilliseconds(begin).toZonedDateTimeISO(timezone).startOfDay();
    while (day.epochMilliseconds < end) {
      const next = day.add({ days: 1 }).startOfDay();
      const date = day.toPlainDate().toString();
      days.set(date, { date, begin: day.epochMilliseconds, end: next.epochMilliseconds });
      day = next;
    }
  }
  return [...days.values()].sort((a, b) => a.begin - b.begin);
}
