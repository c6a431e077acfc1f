// Turns the stops of a day into its charts: stops by state at each half hour, planned against done, and late stops. Pure.
import type { DayStop } from '../../warehouse/queries/delivery-day.ts';

const BIN_MS = 1_800_000;
const MOST_LATE = 100;

/** As is_done of bi_delivery. */
export const isDone = ({ status }: DayStop): boolean => ['R', 'E', 'M'].includes(status ?? 'P');
export const isReturned = ({ status }: DayStop): boolean => status === 'D';
const isOpen = ({ status }: Pick<DayStop, 'status'>): boolean => status === null || status === 'P';

/**
 * When a stop left the state `open`, in ms; undefined while it is open. Without an execution time, the time at which the
 * change was read is used. That may be days later, so it is limited to the end of the day.
 */
function closedAt(stop: DayStop, toMs: number): number | undefined {
  if (isOpen(stop)) return undefined;
  return stop.executed_at === null ? Math.min(Date.parse(stop.changed_at), toMs) : Date.parse(stop.executed_at);
}

type Timed = Pick<DayStop, 'status' | 'time_scheduled' | 'executed_at'>;

/** When stops are judged, and how long after its planned time a stop is late. */
export interface LateRule {
  nowMs: number;
  lateAfterMs: number;
}

export function dayChart(stops: readonly DayStop[], period: { from: string; to: string }, rule: LateRule) {
  const toMs = Date.parse(period.to);
  const axis = timeAxis(Date.parse(period.from), toMs, rule.nowMs);
  const past = axis.filter((ms) => ms <= rule.nowMs);
  const closed = stops.flatMap((stop) => {
    const atMs = closedAt(stop, toMs);
    return atMs === undefined ? [] : [{ stop, status: stop.status ?? 'P', atMs }];
  });
  const growth = (some: typeof closed): number[] =>
    countsUntil(
      past,
      some.map(({ atMs }) => atMs),
    );
  const byState = Map.groupBy(closed, ({ status }) => status).entries();
  const states: Record<string, number[]> = {
    ...Object.fromEntries(byState.map(([status, some]) => [status, growth(some)])),
    open: growth(closed).map((count) => stops.length - count),
  };
  const late = lateStops(stops, rule);
  const lateOpen = late.filter(isLateNow).length;
  return {
    /** Half hours of the day up to now, and now, in epoch seconds. */
    at: past.map(toSeconds),
    /** Stops in each state at each instant of `at`. */
    states,
    /** Cumulative number of planned stops, for the full day. Its time axis begins with `at`. */
    planned: {
      at: axis.map(toSeconds),
      count: countsUntil(
        axis,
        stops.flatMap(({ time_scheduled: at }) => (at === null ? [] : [Date.parse(at)])),
      ),
    },
    /** Cumulative number of done stops, on the time axis of `at`. */
    done: growth(closed.filter(({ stop }) => isDone(stop))),
    counts: {
      done: stops.filter(isDone).length,
      returned: stops.filter(isReturned).length,
      open: stops.filter(isOpen).length,
    },
    byStatus: countByValue(stops.map(({ status }) => status ?? 'P')),
    lateOpen,
    lateDone: late.length - lateOpen,
    late: late.slice(0, MOST_LATE),
  };
}

/** How many of the instants each point of the axis, which is in order, has reached. */
function countsUntil(axis: readonly number[], instants: readonly number[]): number[] {
  const inOrder = instants.toSorted((a, b) => a - b);
  let reached = 0;
  return axis.map((end) => {
    while (reached < inOrder.length && (inOrder[reached] as number) <= end) reached++;
    return reached;
  });
}

const toSeconds = (ms: number): number => ms / 1_000;

/** The ends of the half hours of the day, and now if it is within the day. */
function timeAxis(fromMs: number, toMs: number, nowMs: number): number[] {
  const ends = Array.from({ length: Math.ceil((toMs - fromMs) / BIN_MS) }, (_, n) => fromMs + (n + 1) * BIN_MS);
  const isWithin = nowMs > fromMs && nowMs < toMs;
  return [...new Set([...ends, ...(isWithin ? [nowMs] : [])])].toSorted((a, b) => a - b);
}

export const countByValue = (words: readonly string[]): Record<string, number> =>
  Object.fromEntries(
    Map.groupBy(words, (word) => word)
      .entries()
      .map(([word, all]) => [word, all.length]),
  );

/**
 * How late a stop is, in seconds; null if it is not late. As in is_on_time of bi_delivery, stops that the office recorded by
 * hand (M) and returned ones (D) are left out: there is no time of the visit, or nothing was delivered.
 */
export function lateSeconds(stop: Timed, rule: LateRule): number | null {
  const { status, time_scheduled, executed_at } = stop;
  if (time_scheduled === null || status === 'M' || status === 'D') return null;
  if (executed_at === null && !isOpen(stop)) return null;
  const endMs = executed_at === null ? rule.nowMs : Date.parse(executed_at);
  const lateMs = endMs - Date.parse(time_scheduled);
  return lateMs <= rule.lateAfterMs ? null : Math.round(lateMs / 1_000);
}

/** Of a late stop: it is still open. */
export const isLateNow = ({ executed_at }: Pick<DayStop, 'executed_at'>): boolean => executed_at === null;

/** Open ones first, then the latest first. */
function lateStops(stops: readonly DayStop[], rule: LateRule) {
  return stops
    .flatMap((stop) => {
      const late_seconds = lateSeconds(stop, rule);
      if (late_seconds === null) return [];
      const { changed_at: _, ...shown } = stop;
      return [{ ...shown, time_scheduled: stop.time_scheduled ?? '', late_seconds }];
    })
    .toSorted((a, b) => Number(isLateNow(b)) - Number(isLateNow(a)) || b.late_seconds - a.late_seconds);
}
