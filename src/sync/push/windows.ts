// Which listings cover the periods of many entries: periods that lie close together share one, so a thousand plans of
// one day cost one listing. Each is padded on both sides, for time zones and for edges.
import { isoInstant } from '../../core/time/clock.ts';
import type { Period } from '../../warehouse/outbox/queries.ts';

export interface Window<T> {
  /** The period to ask for; undefined where the service lists all items of the kind. */
  search: Period | undefined;
  entries: T[];
}

const DAY_MS = 86_400_000;
/** A service may not answer for much more. */
const LONGEST_MS = 3 * DAY_MS;

type Dated = { period_start: string | null; period_end: string | null };

const spanMs = ({ start, end }: Period): number => Date.parse(end) - Date.parse(start);

/** Of a kind with periods, an entry without one is in no window: nothing could show it. */
export function windowsOf<T extends Dated>(entries: readonly T[], isDated = true): Window<T>[] {
  if (!isDated) return entries.length === 0 ? [] : [{ search: undefined, entries: [...entries] }];
  const dated = entries.flatMap((entry) => {
    const { period_start: start, period_end: end } = entry;
    return start === null || end === null ? [] : [{ entry, start, end }];
  });
  const isLong = (period: Period): boolean => spanMs(period) > LONGEST_MS;
  // Long periods are listed apart and last: a service may not answer for them, and the others must not wait for that.
  return [dated.filter((each) => !isLong(each)), dated.filter(isLong)].flatMap(joined);
}

/** A window spans three days, or three more than its longest period. */
function joined<T>(dated: readonly (Period & { entry: T })[]): Window<T>[] {
  const windows: (Period & { longestMs: number; entries: T[] })[] = [];
  for (const { entry, start, end } of dated.toSorted((a, b) => (a.start < b.start ? -1 : 1))) {
    const last = windows.at(-1);
    const longestMs = Math.max(last?.longestMs ?? 0, spanMs({ start, end }));
    const mostMs = longestMs > LONGEST_MS ? longestMs + LONGEST_MS : LONGEST_MS;
    const latest = last === undefined || end > last.end ? end : last.end;
    if (
      last !== undefined &&
      isWithinADay(last, start) &&
      spanMs({ start: last.start, end: latest }) <= mostMs
    ) {
      Object.assign(last, { end: latest, longestMs });
      last.entries.push(entry);
    } else windows.push({ start, end, longestMs: spanMs({ start, end }), entries: [entry] });
  }
  return windows.map(({ entries, start, end }) => ({ search: padded({ start, end }), entries }));
}

const isWithinADay = ({ end }: Period, start: string): boolean =>
  Date.parse(start) - Date.parse(end) <= DAY_MS;

/** A later instant has no form that a service reads. */
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');

export const padded = ({ start, end }: Period, byMs = DAY_MS): Period => ({
  start: isoInstant(Date.parse(start) - byMs),
  end: isoInstant(Math.min(Date.parse(end) + byMs, LAST_MS)),
});

export const overlaps = (a: Period, b: Period): boolean => a.start <= b.end && b.start <= a.end;
