// How far back jobs read again, and how soon rows may be deleted: the second is longer, so that no job brings back
// what retention took away.
import { durationOption } from './time/duration-option.ts';

export const LONGEST_LOOKBACK = '30d';
export const SHORTEST_RETENTION = '31d';

export const lookbackOption = (fallback: string, description: string) =>
  durationOption(fallback, description, { max: LONGEST_LOOKBACK });
