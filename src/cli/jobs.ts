// roadbook jobs: every job with its schedule, its last run and its next ticks. Its subcommands pause, resume and run-now are
// stored in the warehouse for the daemons, so that they work from any process.
import type { Command } from 'commander';
import type { App } from '../app/app.ts';
import { isoInstant } from '../core/time/clock.ts';
import { isClockChangeDay, localTick, ticksAfter } from '../schedule/ticks.ts';
import { pauseJob, readControls, requestRun, resumeJob } from '../warehouse/control/job-controls.ts';
import { jobHistory } from '../warehouse/control/runs.ts';
import type { Engine } from '../warehouse/engine.ts';
import { addCommand, defineCommand, print, usageError, withApp } from './command.ts';
import { namedJob } from './named-job.ts';
import { wholeNumberFrom } from './number-options.ts';
import { coloured, textTable } from './output/text-table.ts';

export function define(jobs: Command): void {
  defineCommand<{ next: number }>(jobs, {
    options: (command) => command.option('--next <n>', 'number of next ticks to show', wholeNumberFrom(1, 1_000), 1),
    action: withApp(async (app, _args, { json, next }) => {
      const controls = await readControls(await app.warehouse());
      const isPaused = (name: string) => controls.get(name)?.paused ?? false;
      const lines = await Promise.all(app.jobs.map(({ name }) => describeJob(app, name, isPaused(name), next)));
      print(json ? JSON.stringify(lines, null, 2) : show(lines, next));
    }),
  });
  jobs.enablePositionalOptions();
  for (const action of ACTIONS) addAction(jobs, action);
}

async function describeJob(app: App, name: string, paused: boolean, next: number) {
  const { job, settings } = namedJob(app, name);
  const { enabled, schedule, timezone } = settings;
  const { last, retry: due } = await jobHistory(await app.warehouse(), name, app.clock.now());
  const ticks = enabled && !paused ? ticksAfter({ cron: schedule, timezone }, app.clock.now()).take(next) : [];
  const next_ticks = [...ticks].map((ms) => describeTick(ms, timezone));
  const retry = next_ticks.length === 0 ? null : due;
  return { name, meaning: job.meaning, enabled, paused, schedule, timezone, last_run: last ?? null, next_ticks, retry };
}

function describeTick(ms: number, timezone: string) {
  return {
    at: isoInstant(ms),
    local: localTick(ms, timezone),
    clock_change_day: isClockChangeDay(timezone, ms),
  };
}

function show(lines: readonly Awaited<ReturnType<typeof describeJob>>[], next: number): string {
  const rows = lines.map((job) => [
    job.name,
    job.enabled ? (job.paused ? 'paused' : 'on') : 'off',
    job.schedule,
    job.timezone,
    job.last_run === null ? 'never' : `${coloured(job.last_run.status)} ${job.last_run.started_at}`,
    job.next_ticks[0] && shownTick(job.next_ticks[0]),
    job.retry === null ? '' : `${job.retry.at} (try ${job.retry.attempt}: ${job.retry.reason})`,
  ]);
  const table = textTable(['job', 'enabled', 'schedule', 'zone', 'last run', 'next tick', 'retry'], rows);
  if (next <= 1) return table;
  const ticks = lines.flatMap(({ name, next_ticks }) => next_ticks.map((tick) => [name, tick.at, shownTick(tick)]));
  return `${table}\n\n${textTable(['job', 'UTC', 'local time'], ticks)}`;
}

const shownTick = ({ local, clock_change_day }: ReturnType<typeof describeTick>): string =>
  clock_change_day ? `${local} (the clock changes on this day)` : local;

/** `result` follows the name of the job. */
const ACTIONS = [
  {
    name: 'pause',
    summary: 'skips the ticks of a job until it is resumed; an active run continues',
    apply: pauseJob,
    result: 'paused; its ticks are skipped until it is resumed, even after a restart.',
  },
  {
    name: 'resume',
    summary: 'runs a paused job at its ticks again; missed ticks are caught up with one run',
    apply: resumeJob,
    result: 'resumed; missed ticks are caught up with one run.',
  },
  {
    name: 'run-now',
    summary: 'requests one run of a job from the daemon, without waiting for it',
    apply: (engine: Engine, job: string, at: string) => requestRun(engine, job, at, 'command line'),
    result: 'requested; a daemon starts the run within seconds, or when a daemon starts.',
  },
];

const addAction = (jobs: Command, { name: action, summary, apply, result }: (typeof ACTIONS)[number]): Command =>
  addCommand(jobs, {
    usage: `${action} <job>`,
    summary,
    action: withApp(async (app, [name = ''], { json }) => {
      const { settings } = namedJob(app, name);
      if (action === 'run-now' && !settings.enabled) {
        const hint = `Run the job here with: npx roadbook run ${name}`;
        throw usageError(`${name} is disabled in the configuration, so no daemon runs it`, hint);
      }
      const engine = await app.warehouse();
      await apply(engine, name, isoInstant(app.clock.now()));
      const { paused = false, pausedAt = null, runRequestedAt = null } = (await readControls(engine)).get(name) ?? {};
      const state = { name, paused, paused_at: pausedAt, run_requested_at: runRequestedAt };
      print(json ? JSON.stringify(state, null, 2) : `${name}: ${result}`);
    }),
  });
