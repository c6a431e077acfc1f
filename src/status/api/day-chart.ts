// Turns the stops of a day into its charts: stops by state at each half hour, planned against done, and late stops. Pure.
import type { DayStop } from '../../warehouse/queries/delivery-day.ts';

const BIN_MS = 1_800_000;
const MOST_LATE = 100;

/**
 * When a stop left the state `open`, in ms; undefined while it is open. Without an execution time, the time at which the
 * change was read is used. That may be days later, so it is limited to the end of the day.
 */
function doneAt({ status, executed_at, changed_at }: DayStop, toMs: number): number | undefined {
  if (executed_at !== null) return Date.parse(executed_at);
  return status === null || status === 'P' ? undefined : Math.min(Date.parse(changed_at), toMs - 1);
}

/** When stops are judged, and how long after its planned time a stop is late. */
export interface LateRule {
  nowMs: number;
  lateAfterMs: number;
}

export function dayChart(stops: readonly DayStop[], period: { from: string; to: string }, rule: LateRule) {
  const { nowMs } = rule;
  const fromMs = Date.parse(period.from);
  const toMs = Date.parse(period.to);
  const ends = binEnds(fromMs, toMs);
  const past = ends.filter((end) => end - BIN_MS < nowMs).length;
  const growth = (instants: readonly number[]): number[] => cumulated(instants, fromMs, ends.length);
  const done = stops.flatMap((stop) => {
    const atMs = doneAt(stop, toMs);
    return atMs === undefined ? [] : [{ status: stop.status ?? 'P', atMs }];
  });
  const growthSoFar = (some: typeof done): number[] => growth(some.map(({ atMs }) => atMs)).slice(0, past);
  const allDone = growthSoFar(done);
  const byState = Map.groupBy(done, ({ status }) => status).entries();
  const states: Record<string, number[]> = {
    ...Object.fromEntries(byState.map(([status, some]) => [status, growthSoFar(some)])),
    open: allDone.map((count) => stops.length - count),
  };
  const late = lateStops(stops, rule);
  return {
    /** Ends of the half hours, in epoch seconds, up to now. */
    at: ends.slice(0, past).map(toSeconds),
    /** Stops in each state at each instant of `at`. */
    states,
    /** Cumulative number of planned stops, for all half hours of the day. */
    planned: {
      at: ends.map(toSeconds),
      count: growth(stops.flatMap(({ time_scheduled: at }) => (at === null ? [] : [Date.parse(at)]))),
    },
    /** Cumulative number of done stops, on the time axis of `at`. */
    done: allDone,
    byStatus: countByValue(stops.map(({ status }) => status ?? 'P')),
    lateCount: late.length,
    late: late.slice(0, MOST_LATE),
  };
}

/** The number of instants before the end of each bin. Instants before the first bin count in the first one. */
function cumulated(instants: readonly number[], fromMs: number, bins: number): number[] {
  const inBin = Map.groupBy(instants, (ms) => Math.max(0, Math.floor((ms - fromMs) / BIN_MS)));
  let sum = 0;
  return Array.from({ length: bins }, (_, bin) => {
    sum += inBin.get(bin)?.length ?? 0;
    return sum;
  });
}

const toSeconds = (ms: number): number => ms / 1_000;

function binEnds(fromMs: number, toMs: number): number[] {
  return Array.from({ length: Math.ceil((toMs - fromMs) / BIN_MS) }, (_, n) => fromMs + (n + 1) * BIN_MS);
}

const countByValue = (words: readonly string[]): Record<string, number> =>
  Object.fromEntries(
    Map.groupBy(words, (word) => word)
      .entries()
      .map(([word, all]) => [word, all.length]),
  );

/**
 * How late a stop is, in ms; null if it is not late. As in is_on_time of bi_delivery, stops that the office recorded by
 * hand (M) and returned ones (D) are left out: there is no time of the visit, or nothing was delivered.
 */
export function lateness({ status, time_scheduled, executed_at }: DayStop, rule: LateRule): number | null {
  if (time_scheduled === null || status === 'M' || status === 'D') return null;
  const isOpen = status === null || status === 'P';
  if (executed_at === null && !isOpen) return null;
  const endMs = executed_at === null ? rule.nowMs : Date.parse(executed_at);
  const lateMs = endMs - Date.parse(time_scheduled);
  return lateMs <= rule.lateAfterMs ? null : lateMs;
}

/** The latest first. */
function lateStops(stops: readonly DayStop[], rule: LateRule) {
  return stops
    .flatMap((stop) => {
      const lateMs = lateness(stop, rule);
      if (lateMs === null) return [];
      const { changed_at: _, ...shown } = stop;
      return [{ ...shown, time_scheduled: stop.time_scheduled ?? '', late_seconds: Math.round(lateMs / 1_000) }];
    })
    .toSorted((a, b) => b.late_seconds - a.late_seconds);
}
