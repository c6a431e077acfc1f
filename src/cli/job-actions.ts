// roadbook jobs pause | resume | run-now: orders to the daemons. They go through the warehouse, so that they work from
// any process.
import type { Command } from 'commander';
import { Fatal } from '../core/errors.ts';
import { isoInstant } from '../core/time/clock.ts';
import { pauseJob, readControls, requestRun, resumeJob } from '../warehouse/control/job-controls.ts';
import type { Engine } from '../warehouse/engine.ts';
import { addCommand, print, withApp } from './command.ts';
import { namedJob } from './named-job.ts';

export function addJobOrders(jobs: Command): void {
  jobs.enablePositionalOptions();
  for (const order of ORDERS) addOrder(jobs, order);
}

interface Order {
  name: string;
  summary: string;
  give(engine: Engine, job: string, at: string): Promise<void>;
  /** What comes of it. */
  words: string;
}

const ORDERS: readonly Order[] = [
  {
    name: 'pause',
    summary: 'has a job miss its ticks until it is resumed; a run under way goes on',
    give: pauseJob,
    words: 'paused; it misses its ticks until it is resumed, restarts included.',
  },
  {
    name: 'resume',
    summary: 'has a paused job run at its ticks again; what it missed is caught up once',
    give: resumeJob,
    words: 'resumed; what it missed is caught up once.',
  },
  {
    name: 'run-now',
    summary: 'asks the daemon for one run of a job; does not wait for it',
    give: (engine, job, at) => requestRun(engine, job, at, 'command line'),
    words: 'asked for; a daemon begins it within seconds, or when one starts.',
  },
];

const addOrder = (jobs: Command, { name: order, summary, give, words }: Order): Command =>
  addCommand(jobs, {
    usage: `${order} <job>`,
    summary,
    action: withApp(async (app, [name = ''], { json }) => {
      const { settings } = namedJob(app, name);
      if (order === 'run-now' && !settings.enabled) throw disabled(name);
      const engine = await app.warehouse();
      await give(engine, name, isoInstant(app.clock.now()));
      const {
        paused = false,
        pausedAt = null,
        runRequestedAt = null,
      } = (await readControls(engine)).get(name) ?? {};
      const state = { name, paused, paused_at: pausedAt, run_requested_at: runRequestedAt };
      print(json ? JSON.stringify(state, null, 2) : `${name}: ${words}`);
      return 0;
    }),
  });

const disabled = (job: string): Fatal =>
  new Fatal(`${job} is disabled in the configuration, so no daemon runs it`, {
    code: 'usage',
    hint: `Run it here with: npx roadbook run ${job}`,
  });
