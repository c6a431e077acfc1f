// The periods of a job whose records lie on one line of time: what a run has to read, in pieces of bounded
// length. What is covered ends at the moment of reading: the future is read again when it has come.
import { coverageOf, type Interval } from '../../../warehouse/coverage.ts';
import type { Covers, PlanContext } from '../types.ts';
import { halves, intervalOf, type Span, spanOf, spansToRead } from './windows.ts';

export interface WindowOptions {
  since: number;
  lookback: number;
  ahead?: number;
}

/** The one scope of such a job in `sync_coverage`. */
const SCOPE = 'all';
const LEAST_MS = 60_000;

/** The spans that a run reads. */
export async function windowsToRead(context: PlanContext<WindowOptions>): Promise<Span[]> {
  const { coverage, options, now, period, warehouse } = context;
  const covered = (await coverageOf(warehouse, coverage)).get(SCOPE) ?? [];
  return spansToRead({ now, ...options, period, covered });
}

/** As few equal pieces as are not longer than `longestMs`. */
export function equalPieces({ begin, end }: Span, longestMs: number): Span[] {
  const count = Math.ceil((end - begin) / Math.max(LEAST_MS, longestMs));
  const edge = (index: number): number => begin + Math.floor(((end - begin) * index) / count);
  return Array.from({ length: count }, (_, index) => ({ begin: edge(index), end: edge(index + 1) }));
}

/** Two windows for one that was too much. */
export const halvedWindow = (window: Interval): Interval[] | undefined =>
  halves(spanOf(window), LEAST_MS)?.map(intervalOf);

/** The part of the window that has passed. */
export function coversOf({ beginAt, endAt }: Interval, readAt: string): Covers[] {
  const until = endAt < readAt ? endAt : readAt;
  return beginAt < until ? [{ scopes: [SCOPE], beginAt, endAt: until }] : [];
}
