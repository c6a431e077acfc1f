// Which days a verification reads, in a random order that prefers final days, and whether a slice is final.
import type { Interval, ScopedInterval } from '../../warehouse/control/coverage.ts';

/** Covered intervals by scope. */
export type Coverage = ReadonlyMap<string, readonly Interval[]>;

/** A final day is this many times as likely to be read as another one. */
const WEIGHT_OF_FINAL = 4;

/** What is known of the days of a job. */
export interface Known {
  coverage: Coverage;
  /** How far behind its coverage a run reads again, ms. */
  lookbackMs: number;
}

/**
 * True if no run reads the periods again by itself: each lies in the coverage of all its scopes, further behind the end of
 * that coverage than a run looks back. A period that is not covered is due, so it is not final. The rule is that of
 * bi_day_status for the scopes of a slice, except for open records: they are not compared, so they do not matter here.
 */
export function isFinal(covers: readonly ScopedInterval[], { coverage, lookbackMs }: Known): boolean {
  const isBehind = ({ beginAt, endAt }: Interval, period: Interval): boolean =>
    beginAt <= period.beginAt && Date.parse(endAt) - lookbackMs >= Date.parse(period.endAt);
  return (
    covers.length > 0 &&
    covers.every((period) =>
      period.scopes.every((scope) => (coverage.get(scope) ?? []).some((interval) => isBehind(interval, period))),
    )
  );
}

/**
 * False if a period begins before all coverage of its scopes: no run will ever read it, so its rows are not missing. One
 * scope is enough: a vehicle that was not read yet is due.
 */
export const isInReach = (covers: readonly ScopedInterval[], coverage: Coverage): boolean =>
  covers.every(({ scopes, beginAt }) =>
    scopes.some((scope) => (coverage.get(scope) ?? []).some((interval) => interval.beginAt <= beginAt)),
  );

/** Weighted sampling without replacement: an item of weight w gets the greatest of w random numbers. */
export function shuffled<Item>(items: readonly Item[], random: () => number, isPreferred?: (item: Item) => boolean) {
  return items
    .map((item) => ({ item, rank: random() ** (1 / (isPreferred?.(item) === true ? WEIGHT_OF_FINAL : 1)) }))
    .sort((a, b) => b.rank - a.rank)
    .map(({ item }) => item);
}
