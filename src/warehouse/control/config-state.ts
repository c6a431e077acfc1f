// The configuration that the daemons run with, for processes that can only read the file: the active schedules with
// their start, and why a daemon rejected a later edit.
import { isoInstant } from '../../core/time/clock.ts';
import type { Engine } from '../engine.ts';
import { factIn, writeFact } from './learned-facts.ts';
import { liveProcesses, syncDaemon } from './processes.ts';
import { thisProcess } from './this-process.ts';

export interface ConfigState {
  /** When the daemon loaded its configuration. */
  loaded_at: string;
  /** Of the daemons that are alive. */
  rejected: RejectedEdit[];
  schedules: Record<string, ActiveSchedule>;
}

interface StoredState extends Omit<ConfigState, 'rejected'> {
  /** By daemon: what one daemon rejects, another may have started with. Absent in the state of an earlier version. */
  rejected?: Record<string, RejectedEdit>;
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

const NAME = 'config';

/** Undefined if no daemon ever ran. */
export const readConfigState = (engine: Engine): Promise<ConfigState | undefined> =>
  engine.read(async (sql) => {
    const stored = await factIn<StoredState>(sql, NAME);
    if (stored === undefined) return undefined;
    const live = new Set((await liveProcesses(sql)).map(({ id }) => id));
    const rejected = Object.entries(stored.rejected ?? {}).flatMap(([id, edit]) => (live.has(id) ? [edit] : []));
    return { ...stored, rejected };
  });

export interface LoadResult {
  loadedAt: string;
  /** The edit that the daemon rejected; null if the file is in effect. */
  rejected: RejectedEdit | null;
  jobs: readonly ScheduledJob[];
}

export const storeConfigState = (
  engine: Engine,
  { loadedAt, rejected, jobs }: LoadResult,
  nowMs: number,
): Promise<void> =>
  engine.write(async (tx) => {
    const daemon = thisProcess.holder;
    const before = await factIn<StoredState>(tx.sql, NAME);
    const known = new Set((await tx.sql(syncDaemon.name).select('id')).map(({ id }) => id));
    const ofOthers = Object.entries(before?.rejected ?? {}).filter(([id]) => id !== daemon && known.has(id));
    const state: StoredState = {
      loaded_at: loadedAt,
      rejected: Object.fromEntries([...ofOthers, ...(rejected === null ? [] : [[daemon, rejected] as const])]),
      schedules: keptSchedules(jobs, before?.schedules ?? {}, isoInstant(nowMs)),
    };
    await writeFact(tx, NAME, state, nowMs);
  });

type ScheduledJob = Omit<ActiveSchedule, 'since'> & { name: string };

/** The schedules of `jobs`. An unchanged schedule keeps its `since`. */
function keptSchedules(
  jobs: readonly ScheduledJob[],
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
