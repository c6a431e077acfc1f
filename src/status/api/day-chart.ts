// From the stops of a day to its pictures: how many were in which state at each half hour, planned against done,
// and which are late. Pure.
import type { DayStop } from '../../warehouse/queries/delivery-day.ts';

const BIN_MS = 1_800_000;
/** A stop is late from this long after its planned time on. */
export const LATE_MS = 900_000;
const MOST_LATE = 100;

export interface LateStop {
  id: number;
  route_plan_id: number;
  name: string | null;
  status: string | null;
  time_scheduled: string;
  executed_at: string | null;
  late_seconds: number;
}

export interface DayChart {
  /** Ends of the half hours, in epoch seconds, up to now. */
  at: number[];
  /** Stops in each state at each of them; P is what is open. */
  states: Record<string, number[]>;
  /** Stops planned for then or earlier, over the whole day. */
  planned: { at: number[]; count: number[] };
  /** Stops done by then, on the time axis of `at`. */
  done: number[];
  byStatus: Record<string, number>;
  lateCount: number;
  late: LateStop[];
}

/**
 * When a stop left the state `open`, in ms; undefined while it is open. Without an execution it is when the change was
 * read, which may be days later: it counts for the end of its own day.
 */
function doneAt({ status, executed_at, changed_at }: DayStop, toMs: number): number | undefined {
  if (executed_at !== null) return Date.parse(executed_at);
  return status === null || status === 'P' ? undefined : Math.min(Date.parse(changed_at), toMs - 1);
}

export function dayChart(
  stops: readonly DayStop[],
  period: { from: string; to: string },
  nowMs: number,
): DayChart {
  const fromMs = Date.parse(period.from);
  const toMs = Date.parse(period.to);
  const ends = binEnds(fromMs, toMs);
  const past = ends.filter((end) => end - BIN_MS < nowMs).length;
  const growth = (instants: readonly number[]): number[] => cumulated(instants, fromMs, ends.length);
  const done = stops.flatMap((stop) => {
    const atMs = doneAt(stop, toMs);
    return atMs === undefined ? [] : [{ status: stop.status ?? 'P', atMs }];
  });
  const states = Map.groupBy(done, ({ status }) => status);
  const allDone = growth(done.map(({ atMs }) => atMs)).slice(0, past);
  const late = lateStops(stops, nowMs);
  return {
    at: ends.slice(0, past).map(toSeconds),
    states: {
      ...Object.fromEntries(
        [...states].map(([status, each]) => [status, growth(each.map(({ atMs }) => atMs)).slice(0, past)]),
      ),
      open: allDone.map((count) => stops.length - count),
    },
    planned: {
      at: ends.map(toSeconds),
      count: growth(stops.flatMap(({ time_scheduled: at }) => (at === null ? [] : [Date.parse(at)]))),
    },
    done: allDone,
    byStatus: countOf(stops.map(({ status }) => status ?? 'P')),
    lateCount: late.length,
    late: late.slice(0, MOST_LATE),
  };
}

/** How many of the instants lie before the end of each bin; what lies before the first counts from the start. */
function cumulated(instants: readonly number[], fromMs: number, bins: number): number[] {
  const counts = new Array<number>(bins).fill(0);
  for (const ms of instants) {
    const bin = Math.max(0, Math.floor((ms - fromMs) / BIN_MS));
    if (bin < bins) counts[bin] = (counts[bin] ?? 0) + 1;
  }
  let sum = 0;
  return counts.map((count) => {
    sum += count;
    return sum;
  });
}

const toSeconds = (ms: number): number => ms / 1_000;

function binEnds(fromMs: number, toMs: number): number[] {
  return Array.from({ length: Math.ceil((toMs - fromMs) / BIN_MS) }, (_, n) => fromMs + (n + 1) * BIN_MS);
}

const countOf = (words: readonly string[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
};

/** The latest first. What the office recorded later tells nothing about the visit. */
function lateStops(stops: readonly DayStop[], nowMs: number): LateStop[] {
  return stops
    .flatMap(({ changed_at: _, ...stop }) => {
      if (stop.time_scheduled === null || stop.status === 'M') return [];
      const isOpen = stop.executed_at === null && (stop.status === null || stop.status === 'P');
      if (stop.executed_at === null && !isOpen) return [];
      const endMs = stop.executed_at === null ? nowMs : Date.parse(stop.executed_at);
      const lateMs = endMs - Date.parse(stop.time_scheduled);
      if (lateMs < LATE_MS) return [];
      return [{ ...stop, time_scheduled: stop.time_scheduled, late_seconds: Math.round(lateMs / 1_000) }];
    })
    .toSorted((a, b) => b.late_seconds - a.late_seconds);
}
