// Which searches cover the periods of many entries: overlapping ones are joined up to a longest span, so that a
// thousand plans of one day cost one search. Each is padded on both sides, for zones and for edges.
import { isoInstant } from '../../core/clock.ts';
import type { Period } from './push-kind.ts';

export interface SearchWindow {
  /** Entries whose period lies in this one are covered. */
  covers: Period;
  /** What is asked for. */
  search: Period;
}

const DAY_MS = 86_400_000;
const LONGEST_MS = 3 * DAY_MS;

export function searchWindows(periods: readonly Period[], padMs = DAY_MS): SearchWindow[] {
  const joined: Period[] = [];
  const ordered = periods.toSorted((a, b) => (a.start < b.start ? -1 : 1));
  for (const period of ordered) {
    const last = joined.at(-1);
    if (last !== undefined && canJoin(last, period)) last.end = later(last.end, period.end);
    else joined.push({ ...period });
  }
  return joined.map((covers) => ({
    covers,
    search: {
      start: isoInstant(Date.parse(covers.start) - padMs),
      end: isoInstant(Date.parse(covers.end) + padMs),
    },
  }));
}

function canJoin(last: Period, { start, end }: Period): boolean {
  const spanMs = Date.parse(later(last.end, end)) - Date.parse(last.start);
  const gapMs = Date.parse(start) - Date.parse(last.end);
  return gapMs <= DAY_MS && spanMs <= LONGEST_MS;
}

const later = (a: string, b: string): string => (a > b ? a : b);

/** The period that holds both. */
export const joinPeriods = (a: Period, b: Period): Period => ({
  start: later(a.start, b.start) === a.start ? b.start : a.start,
  end: later(a.end, b.end),
});
