// What the daemon hands to its status server.
import type { App } from '../app/app.ts';
import { Fatal } from '../core/errors.ts';
import { isoInstant } from '../core/time/clock.ts';
import { refusalOf } from '../status/health/config-error.ts';
import type { JobActions, StatusServerDependencies } from '../status/server/dependencies.ts';
import { configState } from '../warehouse/control/config-state.ts';
import { pauseJob, requestRun, resumeJob } from '../warehouse/control/job-controls.ts';
import type { Engine } from '../warehouse/engine.ts';
import { VERSION } from './version.ts';

export const pageDependencies = async (app: App, engine: Engine): Promise<StatusServerDependencies> => ({
  version: VERSION,
  engine,
  clock: app.clock,
  log: app.log,
  redactor: app.redactor,
  privacy: await app.privacy(),
  jobs: app.jobs,
  logTail: app.logTail,
  orders: jobOrders(app, engine),
  running: () => ({ file: app.loaded.file, config: app.loaded.config, loadedAt: app.loadedAt }),
  refusedEdit: async () => refusalOf(app.loaded.file, await configState(engine).read()),
  session: async () => (await app.service()).fleet.session(),
  queueFacts: app.dispatcher.facts,
});

/** An order goes through the warehouse, so that it outlives this process and whichever daemon is there obeys. */
function jobOrders(app: App, engine: Engine): JobActions {
  const now = () => isoInstant(app.clock.now());
  return {
    async run(job) {
      if (app.loaded.config.jobs[job]?.enabled !== true) {
        throw new Fatal(`${job} is switched off in the configuration`, {
          code: 'usage',
          hint: `Set jobs.${job}.enabled, or make one run with \`roadbook run ${job}\`.`,
        });
      }
      await requestRun(engine, job, now(), 'status page');
      return 'It runs within seconds.';
    },
    async pause(job) {
      await pauseJob(engine, job, now());
      return 'It is paused; a run that is under way goes on.';
    },
    async resume(job) {
      await resumeJob(engine, job, now());
      return 'It is resumed; what it missed is caught up once.';
    },
  };
}
