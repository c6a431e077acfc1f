// Computes the periods that a run must read: the requested period, or everything that is not covered yet plus the trailing
// `lookback`, which late data may still change. Pure arithmetic on time spans.
import { isoInstant } from '../../../core/time/clock.ts';
import type { Interval } from '../../../warehouse/control/coverage.ts';

/** A period in ms since the epoch; `end` is exclusive. */
export interface Span {
  begin: number;
  end: number;
}

export interface Reach {
  now: number;
  /** How far back a first run reads, ms. */
  since: number;
  /** How far behind the edge each run reads again, ms. */
  lookback: number;
  /** How far into the future to read, ms; default 0. */
  ahead?: number;
  /** How far the edge stays behind now, ms, because recent data may not have reached the service; default 0. */
  holdBack?: number;
  /** A requested period, read instead; its covered parts are skipped too. */
  period?: Interval;
  /** Intervals that were read before. */
  covered: readonly Interval[];
}

export function spansToRead({ now, since, lookback, ahead = 0, holdBack = 0, period, covered }: Reach): Span[] {
  const read = covered.map(spanOf);
  if (period !== undefined) return without(spanOf(period), read);
  const edge = now - holdBack;
  // `since` applies to the first run only. After that, every hole in the coverage is due, however old it is.
  const first = Math.min(edge - since, ...read.map(({ begin }) => begin));
  const last = Math.min(edge, Math.max(first, ...read.map(({ end }) => end)));
  const holes = without({ begin: first, end: last }, read);
  // Late data may lie behind the end of every reading, not only behind now.
  const withLookback = ({ begin, end }: Span): Span => ({ begin: Math.max(first, begin - lookback), end });
  return joined([...holes, { begin: last, end: edge + ahead }].map(withLookback));
}

/** The parts of `span` that are in none of `others`. */
export function without(span: Span, others: readonly Span[]): Span[] {
  let left = [span];
  for (const other of others) {
    left = left.flatMap(({ begin, end }) => [
      { begin, end: Math.min(end, other.begin) },
      { begin: Math.max(begin, other.end), end },
    ]);
    left = left.filter(({ begin, end }) => begin < end);
  }
  return left;
}

/**
 * What may become due again of all that was read. The first instant stays covered, because only what lies after it is due;
 * so does the last, because it says how fresh the data is.
 */
export const withoutEnds = ({ begin, end }: Span): Span => ({ begin: begin + 1, end: end - 1 });

/** Merges spans that touch or overlap; the result is in order. */
export function joined(spans: readonly Span[]): Span[] {
  const result: Span[] = [];
  for (const span of spans.filter(({ begin, end }) => begin < end).toSorted((a, b) => a.begin - b.begin)) {
    const last = result.at(-1);
    if (last !== undefined && span.begin <= last.end) last.end = Math.max(last.end, span.end);
    else result.push({ ...span });
  }
  return result;
}

/** Cuts at multiples of `lengthMs`, so that every run cuts the same period in the same way. */
export function cutSpan({ begin, end }: Span, lengthMs: number): Span[] {
  const parts: Span[] = [];
  for (let at = begin; at < end; ) {
    const next = Math.min(end, (Math.floor(at / lengthMs) + 1) * lengthMs);
    parts.push({ begin: at, end: next });
    at = next;
  }
  return parts;
}

/** Two halves, or undefined if a half would be shorter than `leastMs`. */
export function halves({ begin, end }: Span, leastMs: number): [Span, Span] | undefined {
  if (end - begin < 2 * leastMs) return undefined;
  const middle = Math.floor((begin + end) / 2);
  return [
    { begin, end: middle },
    { begin: middle, end },
  ];
}

export const spanOf = ({ beginAt, endAt }: Interval): Span => ({
  begin: Date.parse(beginAt),
  end: Date.parse(endAt),
});

export const intervalOf = ({ begin, end }: Span): Interval => ({
  beginAt: isoInstant(begin),
  endAt: isoInstant(end),
});

/**
 * The period to ask for, from a millisecond before: whether a search finds what lies at its first instant is not documented.
 */
export const searchPeriod = ({ begin, end }: Span): Interval => intervalOf({ begin: begin - 1, end });
