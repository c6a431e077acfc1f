// Groups the periods of many entries into windows, one listing each: periods close together share a window, so a thousand
// plans of one day cost one listing. Each window is padded on both sides, because of time zones and edges.

import { isoInstant } from '../../core/time/clock.ts';
import { DAY_MS } from '../../core/time/durations.ts';
import type { Period } from '../../warehouse/outbox/queries.ts';

export interface Window<T> {
  /** The period to list; undefined if the service lists all items of the kind. */
  search: Period | undefined;
  entries: T[];
}

/** Longest usual window; a service may fail to list a much longer period. */
const LONGEST_MS = 3 * DAY_MS;

type Dated = { period_start: string | null; period_end: string | null };

const spanMs = ({ start, end }: Period): number => Date.parse(end) - Date.parse(start);

/** If the kind has periods, an entry without one is in no window: no listing could show it. */
export function windowsOf<T extends Dated>(entries: readonly T[], isDated = true): Window<T>[] {
  if (!isDated) return entries.length === 0 ? [] : [{ search: undefined, entries: [...entries] }];
  const dated = entries.flatMap((entry) => {
    const { period_start: start, period_end: end } = entry;
    return start === null || end === null ? [] : [{ entry, start, end }];
  });
  const isLong = (period: Period): boolean => spanMs(period) > LONGEST_MS;
  // Long periods come last and in windows of their own: the service may fail to list them, and the others must not wait.
  return [dated.filter((each) => !isLong(each)), dated.filter(isLong)].flatMap(joined);
}

/** Before it is padded, a window spans at most three days, or three days more than its longest period if that is long. */
function joined<T>(dated: readonly (Period & { entry: T })[]): Window<T>[] {
  const windows: (Period & { longestMs: number; entries: T[] })[] = [];
  for (const { entry, start, end } of dated.toSorted((a, b) => (a.start < b.start ? -1 : 1))) {
    const last = windows.at(-1);
    const longestMs = Math.max(last?.longestMs ?? 0, spanMs({ start, end }));
    const mostMs = longestMs > LONGEST_MS ? longestMs + LONGEST_MS : LONGEST_MS;
    const latest = last === undefined || end > last.end ? end : last.end;
    if (last !== undefined && isWithinADay(last, start) && spanMs({ start: last.start, end: latest }) <= mostMs) {
      Object.assign(last, { end: latest, longestMs });
      last.entries.push(entry);
    } else windows.push({ start, end, longestMs: spanMs({ start, end }), entries: [entry] });
  }
  return windows.map(({ entries, start, end }) => ({ search: padded({ start, end }), entries }));
}

const isWithinADay = ({ end }: Period, start: string): boolean => Date.parse(start) - Date.parse(end) <= DAY_MS;

/** The last instant with a four-digit year; services do not read later ones. */
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');

export const padded = ({ start, end }: Period, byMs = DAY_MS): Period => ({
  start: isoInstant(Date.parse(start) - byMs),
  end: isoInstant(Math.min(Date.parse(end) + byMs, LAST_MS)),
});

export const overlaps = (a: Period, b: Period): boolean => a.start <= b.end && b.start <= a.end;
