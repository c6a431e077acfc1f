// The state of each job: its health, its last run and its next tick.
import type { Config } from '../../config/schema.ts';
import { isoInstant } from '../../core/time/clock.ts';
import { nextTick, type Schedule } from '../../schedule/ticks.ts';
import type { SyncDependencies } from '../../sync/dependencies.ts';
import type { NamedJob } from '../../sync/job.ts';
import type { ConfigState } from '../../warehouse/control/config-state.ts';
import { readControls } from '../../warehouse/control/job-controls.ts';
import {
  failureStreak,
  INTERRUPTED_CODES,
  ITEM_CODES,
  jobHistory,
  type LastRun,
} from '../../warehouse/control/runs.ts';
import { healthOf } from './health.ts';

export interface JobStatusDependencies extends Pick<SyncDependencies, 'engine' | 'clock'> {
  config: Config;
  /** The daemon's last result of reading the file; undefined if no daemon ever ran. */
  configState: ConfigState | undefined;
  jobs: readonly NamedJob[];
}

export type JobStatus = Awaited<ReturnType<typeof jobStatus>>;

export async function jobStatuses(dependencies: JobStatusDependencies): Promise<JobStatus[]> {
  const controls = await readControls(dependencies.engine);
  return Promise.all(
    dependencies.jobs.map(({ name }) => jobStatus(name, controls.get(name)?.paused ?? false, dependencies)),
  );
}

async function jobStatus(name: string, paused: boolean, dependencies: JobStatusDependencies) {
  const { config, engine, clock } = dependencies;
  const { enabled = false, schedule = '', timezone = 'UTC' } = config.jobs[name] ?? {};
  const { last, finished, lastSuccessAt, retry } = await jobHistory(engine, name, clock.now());
  const cron = { cron: schedule, timezone };
  const next = enabled && !paused ? nextTick(cron, clock.now()) : undefined;
  const scheduledSinceMs = instantMs(scheduledSince(dependencies, name, cron));
  const sinceMs = Math.max(...[instantMs(lastSuccessAt), scheduledSinceMs].filter((ms) => ms !== undefined));
  const due = next === undefined || sinceMs === Number.NEGATIVE_INFINITY ? undefined : nextTick(cron, sinceMs);
  const streak = await failureStreak(engine, name, lastSuccessAt);
  return {
    name,
    enabled,
    paused,
    schedule,
    timezone,
    ...healthOf({
      ...cron,
      enabled,
      paused,
      lastStatus: last?.status,
      ended: finished && {
        status: finished.status,
        hadError: finished.error_code !== null,
        wasCutOff: INTERRUPTED_CODES.includes(finished.error_code),
        isAboutItems: ITEM_CODES.includes(finished.error_code),
      },
      lastStartMs: instantMs(last?.started_at),
      lastEndMs: instantMs(last?.finished_at),
      scheduledSinceMs,
      nowMs: clock.now(),
    }),
    last_run: last === undefined ? null : shownRun(last),
    /** How the last run ended that is not running; null if none has. */
    last_end:
      finished === undefined ? null : { run_id: finished.run_id, status: finished.status, error: finished.error },
    last_success_at: lastSuccessAt,
    next_tick_at: next === undefined ? null : isoInstant(next),
    /** The first tick after the last success and the last edit of the schedule; null if the job is paused or not known to run. */
    success_due_at: due === undefined ? null : isoInstant(due),
    /** The next try of a run that failed for a passing reason; null if there is none. */
    retry: next === undefined ? null : retry,
    ...streak,
  };
}

const shownRun = ({ run_id, status, started_at, finished_at, error }: LastRun) => ({
  run_id,
  status,
  started_at,
  finished_at,
  error,
});

const instantMs = (at: string | null | undefined): number | undefined =>
  at === null || at === undefined ? undefined : Date.parse(at);

/** Since when a daemon uses this schedule; undefined if the daemon uses another one. */
function scheduledSince({ configState }: JobStatusDependencies, name: string, schedule: Schedule): string | undefined {
  const used = configState?.schedules[name];
  return used?.cron === schedule.cron && used.timezone === schedule.timezone ? used.since : undefined;
}
