// roadbook jobs: every job with its schedule, its last run and its next ticks.
import type { Command } from 'commander';
import { Temporal } from 'temporal-polyfill';
import type { App } from '../app/app.ts';
import { isoInstant } from '../core/time/clock.ts';
import { isClockChangeDay, ticksAfter } from '../schedule/ticks.ts';
import { readControls } from '../warehouse/control/job-controls.ts';
import { jobHistory, type LastRun } from '../warehouse/control/runs.ts';
import { defineCommand, print, withApp } from './command.ts';
import { addJobActions } from './job-actions.ts';
import { namedJob } from './named-job.ts';
import { wholeNumberFrom } from './number-options.ts';
import { coloured, textTable } from './output/text-table.ts';

interface Tick {
  at: string;
  /** Wall time in the job's zone. */
  local: string;
  /** True if the clock of the zone changes on that day. */
  clock_change_day: boolean;
}

interface JobLine {
  name: string;
  meaning: string;
  enabled: boolean;
  paused: boolean;
  schedule: string;
  timezone: string;
  last_run: LastRun | null;
  next_ticks: Tick[];
}

export function define(jobs: Command): void {
  defineCommand<{ next: number }>(jobs, {
    options: (command) => command.option('--next <n>', 'number of next ticks to show', wholeNumberFrom(1, 1_000), 1),
    action: withApp(async (app, _args, { json, next }) => {
      const controls = await readControls(await app.warehouse());
      const lines = await Promise.all(
        app.jobs.map(({ name, meaning }) =>
          describeJob(app, { name, meaning, paused: controls.get(name)?.paused ?? false }, next),
        ),
      );
      print(json ? JSON.stringify(lines, null, 2) : show(lines, next));
      return 0;
    }),
  });
  addJobActions(jobs);
}

async function describeJob(
  app: App,
  { name, meaning, paused }: Pick<JobLine, 'name' | 'meaning' | 'paused'>,
  next: number,
): Promise<JobLine> {
  const { enabled, schedule, timezone } = namedJob(app, name).settings;
  const { last } = await jobHistory(await app.warehouse(), name, app.clock.now());
  const ticks = enabled && !paused ? ticksAfter({ cron: schedule, timezone }, app.clock.now()).take(next) : [];
  const next_ticks = [...ticks].map((ms) => describeTick(ms, timezone));
  return { name, meaning, enabled, paused, schedule, timezone, last_run: last ?? null, next_ticks };
}

function describeTick(ms: number, timezone: string): Tick {
  const zoned = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timezone);
  return {
    at: isoInstant(ms),
    local: zoned.toString({ timeZoneName: 'never', smallestUnit: 'second' }),
    clock_change_day: isClockChangeDay(timezone, ms),
  };
}

function show(lines: readonly JobLine[], next: number): string {
  const rows = lines.map((job) => [
    job.name,
    job.enabled ? (job.paused ? 'paused' : 'on') : 'off',
    job.schedule,
    job.timezone,
    job.last_run === null ? 'never' : `${coloured(job.last_run.status)} ${job.last_run.started_at}`,
    job.next_ticks[0]?.local,
  ]);
  const table = textTable(['job', 'enabled', 'schedule', 'zone', 'last run', 'next tick'], rows);
  if (next <= 1) return table;
  const ticks = lines.flatMap((job) => job.next_ticks.map((tick) => [job.name, tick.local, tick.at, flag(tick)]));
  return `${table}\n\n${textTable(['job', 'local time', 'UTC', ''], ticks)}`;
}

const flag = (tick: Tick): string => (tick.clock_change_day ? 'the clock changes on this day' : '');
