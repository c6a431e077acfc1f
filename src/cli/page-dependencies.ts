// The dependencies of the status server in the daemon.
import type { App } from '../app/app.ts';
import { isoInstant } from '../core/time/clock.ts';
import { refusalOf } from '../status/health/config-error.ts';
import type { JobActions, StatusServerDependencies } from '../status/server/dependencies.ts';
import { readConfigState } from '../warehouse/control/config-state.ts';
import { pauseJob, requestRun, resumeJob } from '../warehouse/control/job-controls.ts';
import type { Engine } from '../warehouse/engine.ts';
import { usageError } from './command.ts';
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
  totals: app.totals,
  jobActions: jobActions(app, engine),
  running: () => app.loaded,
  refusedEdit: async () => refusalOf(app.loaded.file, await readConfigState(engine)),
  session: async () => (await app.service()).fleet.session(),
  queueFacts: app.dispatcher.facts,
});

/** Actions are stored in the warehouse, so that they survive this process and any daemon can carry them out. */
function jobActions(app: App, engine: Engine): JobActions {
  const now = () => isoInstant(app.clock.now());
  return {
    async run(job) {
      if (app.loaded.config.jobs[job]?.enabled !== true) {
        const hint = `Set jobs.${job}.enabled to true, or run the job once with \`roadbook run ${job}\`.`;
        throw usageError(`${job} is disabled in the configuration`, hint);
      }
      await requestRun(engine, job, now(), 'status page');
      return 'The run starts within seconds.';
    },
    async pause(job) {
      await pauseJob(engine, job, now());
      return 'The job is paused; an active run continues.';
    },
    async resume(job) {
      await resumeJob(engine, job, now());
      return 'The job is resumed; missed ticks are caught up with one run.';
    },
  };
}
