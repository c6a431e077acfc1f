// The windows of a job whose coverage is one timeline for the account: the periods that a run must read, in parts of
// bounded length.
import { z } from 'zod';
import { lookbackOption } from '../../../core/reach-limits.ts';
import { durationOption } from '../../../core/time/duration-option.ts';
import { coverageOf, type Interval, least, type ScopedInterval } from '../../../warehouse/control/coverage.ts';
import type { PlanContext } from '../types.ts';
import { ACCOUNT_SCOPE } from './scopes.ts';
import { halves, intervalOf, type Span, spanOf, spansToRead } from './windows.ts';

/** The options of a job that reads by period. `lookback` is a default such as `6h`. */
export const windowOptions = (lookback: string) =>
  z.object({
    since: durationOption('30d', 'How far back a first run reads (default 30d).'),
    lookback: lookbackOption(
      lookback,
      `How far behind the end of the last reading each run reads again, at most 30d (default ${lookback}).`,
    ),
  });

export const aheadOption = (ahead: string) =>
  durationOption(ahead, `How far into the future each run reads (default ${ahead}).`);

export interface WindowOptions {
  since: number;
  lookback: number;
  ahead?: number;
}

const LEAST_MS = 60_000;

export async function windowsToRead(context: PlanContext<WindowOptions>): Promise<Span[]> {
  const { coverageName, options, now, period, warehouse } = context;
  const covered = (await coverageOf(warehouse, coverageName)).get(ACCOUNT_SCOPE) ?? [];
  return spansToRead({ now, ...options, period, covered });
}

/** As few equal parts as possible, none longer than `longestMs`. */
export function equalParts({ begin, end }: Span, longestMs: number): Span[] {
  const count = Math.ceil((end - begin) / Math.max(LEAST_MS, longestMs));
  const edge = (index: number): number => begin + Math.floor(((end - begin) * index) / count);
  return Array.from({ length: count }, (_, index) => ({ begin: edge(index), end: edge(index + 1) }));
}

/** Two windows for one that was too large. */
export const halvedWindow = (window: Interval): Interval[] | undefined =>
  halves(spanOf(window), LEAST_MS)?.map(intervalOf);

/** The part of the intervals that lies before the read; the future is not covered, and is read again later. */
export const untilRead = (covers: readonly ScopedInterval[], readAt: string): ScopedInterval[] =>
  covers
    .map((each) => ({ ...each, endAt: least([each.endAt, readAt]) }))
    .filter(({ beginAt, endAt }) => beginAt < endAt);
