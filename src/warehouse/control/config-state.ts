// What the daemon last made of its configuration file, for processes that only see the file: since when which
// schedule is kept, and why a later edit was refused.
import type { Engine } from '../engine.ts';
import { factMemory } from './learned-facts.ts';

export interface ConfigState {
  /** When the running configuration was taken over. */
  loaded_at: string;
  refused: RefusedEdit | null;
  /** The schedules that are kept, by job. */
  schedules: Record<string, KeptSchedule>;
}

export interface RefusedEdit {
  at: string;
  /** Every fault with its place. */
  error: string;
  /** SHA-256 of the file as it was refused: another file is another matter. */
  digest: string;
}

export interface KeptSchedule {
  cron: string;
  timezone: string;
  /** Since when it has been this one. */
  since: string;
}

export const configState = (engine: Engine) => factMemory<ConfigState>(engine, 'config');

/** The schedules of now; one that stays the same keeps its beginning. */
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
