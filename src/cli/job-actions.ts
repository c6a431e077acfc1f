// roadbook jobs pause | resume | run-now: actions for the daemons. They are stored in the warehouse, so that they work from
// any process.
import type { Command } from 'commander';
import { Fatal } from '../core/errors.ts';
import { isoInstant } from '../core/time/clock.ts';
import { pauseJob, readControls, requestRun, resumeJob } from '../warehouse/control/job-controls.ts';
import type { Engine } from '../warehouse/engine.ts';
import { addCommand, print, withApp } from './command.ts';
import { namedJob } from './named-job.ts';

export function addJobActions(jobs: Command): void {
  jobs.enablePositionalOptions();
  for (const action of ACTIONS) addAction(jobs, action);
}

interface JobAction {
  name: string;
  summary: string;
  apply(engine: Engine, job: string, at: string): Promise<void>;
  /** Follows the name of the job. */
  result: string;
}

const ACTIONS: readonly JobAction[] = [
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
    apply: (engine, job, at) => requestRun(engine, job, at, 'command line'),
    result: 'requested; a daemon starts the run within seconds, or when a daemon starts.',
  },
];

const addAction = (jobs: Command, { name: action, summary, apply, result }: JobAction): Command =>
  addCommand(jobs, {
    usage: `${action} <job>`,
    summary,
    action: withApp(async (app, [name = ''], { json }) => {
      const { settings } = namedJob(app, name);
      if (action === 'run-now' && !settings.enabled) throw disabled(name);
      const engine = await app.warehouse();
      await apply(engine, name, isoInstant(app.clock.now()));
      const { paused = false, pausedAt = null, runRequestedAt = null } = (await readControls(engine)).get(name) ?? {};
      const state = { name, paused, paused_at: pausedAt, run_requested_at: runRequestedAt };
      print(json ? JSON.stringify(state, null, 2) : `${name}: ${result}`);
      return 0;
    }),
  });

const disabled = (job: string): Fatal =>
  new Fatal(`${job} is disabled in the configuration, so no daemon runs it`, {
    code: 'usage',
    hint: `Run the job here with: npx roadbook run ${job}`,
  });
