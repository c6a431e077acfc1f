// Which searches cover the periods of many entries: overlapping ones are joined up to a longest span, so that a
// thousand plans of one day cost one search. Each is padded on both sides, for zones and for edges.
import { isoInstant } from '../../core/clock.ts';
import type { Period } from './push-kind.ts';

export interface SearchWindow {
  /** Entries whose period lies in this one are covered, where they are as long as it is made for. */
  covers: Period;
  /** What is asked for. */
  search: Period;
  isLong: boolean;
}

const DAY_MS = 86_400_000;
const LONGEST_MS = 3 * DAY_MS;

const spanMs = ({ start, end }: Period): number => Date.parse(end) - Date.parse(start);
/** A service may not answer for it. */
export const isLong = (period: Period): boolean => spanMs(period) > LONGEST_MS;

/** Long periods are searched apart, and last: a service may not answer for them, and others must not wait for that. */
export function searchWindows(periods: readonly Period[], padMs = DAY_MS): SearchWindow[] {
  const windows = (covered: Period[], isLong: boolean): SearchWindow[] =>
    covered.map((covers) => ({
      covers,
      search: {
        start: isoInstant(Date.parse(covers.start) - padMs),
        end: isoInstant(Date.parse(covers.end) + padMs),
      },
      isLong,
    }));
  const short = periods.filter((period) => !isLong(period));
  return [...windows(joined(short, canJoin), false), ...windows(joined(periods.filter(isLong), holds), true)];
}

/** Whether an entry is searched for in the window that covers it. */
export const isOf = (
  window: SearchWindow,
  { period_start, period_end }: { period_start: string | null; period_end: string | null },
): boolean => isLong({ start: period_start ?? '', end: period_end ?? '' }) === window.isLong;

function joined(periods: readonly Period[], mayJoin: (last: Period, next: Period) => boolean): Period[] {
  const joined: Period[] = [];
  for (const period of periods.toSorted(byStart)) {
    const last = joined.at(-1);
    if (last !== undefined && mayJoin(last, period)) last.end = later(last.end, period.end);
    else joined.push({ ...period });
  }
  return joined;
}

/** Of two with one start the longer one comes first. */
const byStart = (a: Period, b: Period): number =>
  Date.parse(a.start) - Date.parse(b.start) || Date.parse(b.end) - Date.parse(a.end);

const holds = (last: Period, { end }: Period): boolean => end <= last.end;

const canJoin = (last: Period, { start, end }: Period): boolean =>
  Date.parse(start) - Date.parse(last.end) <= DAY_MS &&
  spanMs({ start: last.start, end: later(last.end, end) }) <= LONGEST_MS;

const later = (a: string, b: string): string => (a > b ? a : b);

/** The period that holds both. */
export const joinPeriods = (a: Period, b: Period): Period => ({
  start: later(a.start, b.start) === a.start ? b.start : a.start,
  end: later(a.end, b.end),
});
