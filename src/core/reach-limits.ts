// How far back jobs read again, and how soon rows may be deleted. The retention is longer, so that no job restores rows
// that retention has deleted.
import { durationOption } from './time/duration-option.ts';

export const LONGEST_LOOKBACK = '30d';
export const SHORTEST_RETENTION = '31d';

export const lookbackOption = (fallback: string, description: string) =>
  durationOption(fallback, description, { max: LONGEST_LOOKBACK });
