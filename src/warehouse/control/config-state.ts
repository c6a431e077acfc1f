// The configuration that the daemon runs with, for processes that can only read the file: the active schedules with
// their start, and why a later edit was rejected.
import type { Engine } from '../engine.ts';
import { factMemory } from './learned-facts.ts';

export interface ConfigState {
  /** When the daemon loaded its configuration. */
  loaded_at: string;
  refused: RejectedEdit | null;
  schedules: Record<string, ActiveSchedule>;
}

export interface RejectedEdit {
  at: string;
  /** Every issue with its position. */
  error: string;
  /** SHA-256 of the rejected file: the rejection says nothing about a file with another digest. */
  digest: string;
}

export interface ActiveSchedule {
  cron: string;
  timezone: string;
  /** Since when this schedule is active. */
  since: string;
}

export const configState = (engine: Engine) => factMemory<ConfigState>(engine, 'config');

/** The schedules of `jobs`. An unchanged schedule keeps its `since`. */
export function keptSchedules(
  jobs: readonly { name: string; cron: string; timezone: string }[],
  before: ConfigState['schedules'],
  now: string,
): ConfigState['schedules'] {
  const entries = jobs.map(({ name, cron, timezone }) => {
    const known = before[name];
    const isSame = known?.cron === cron && known.timezone === timezone;
    return [name, { cron, timezone, since: isSame ? known.since : now }];
  });
  return Object.fromEntries(entries);
}
