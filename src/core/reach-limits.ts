// How far back jobs read again, and how soon rows may be deleted. The retention is longer, so that no job restores rows
// that retention has deleted.
import { durationOption } from './time/duration-option.ts';

export const LONGEST_LOOKBACK = '30d';
export const SHORTEST_RETENTION = '31d';
/** How far back a verification reaches: less than any retention, so that it restores no deleted row. */
export const MOST_VERIFIED_DAYS = 29;

/**
 * How far behind the end of its coverage a job with these options reads again, in ms; undefined if it does not. This is the
 * one rule for final days: a day is final once the coverage ends that much later.
 */
export function rereadMs(options: Readonly<Record<string, unknown>>): number | undefined {
  const durations = [options.lookback, options.daily_lookback, options.settle].filter((ms) => typeof ms === 'number');
  return durations.length === 0 ? undefined : Math.max(...durations);
}

export const lookbackOption = (fallback: string, description: string) =>
  durationOption(fallback, description, { max: LONGEST_LOOKBACK });
