// What the daemon hands to its status server.
import type { App } from '../app.ts';
import { isoInstant } from '../core/clock.ts';
import { Fatal } from '../core/errors.ts';
import type { Scheduler } from '../schedule/scheduler.ts';
import type { JobOrders, StatusServerParts } from '../status/server-parts.ts';
import type { SyncParts } from '../sync/sync-parts.ts';
import { pauseJob, requestRun, resumeJob } from '../warehouse/job-controls.ts';
import { VERSION } from './version.ts';

export const pageParts = (app: App, parts: SyncParts, scheduler: Scheduler): StatusServerParts => ({
  version: VERSION,
  engine: parts.engine,
  clock: app.clock,
  log: app.log,
  redactor: app.redactor,
  jobs: app.jobs,
  logTail: app.logTail,
  orders: jobOrders(app, parts, scheduler),
  running: () => ({ file: app.loaded.file, config: app.loaded.config, loadedAt: app.loadedAt }),
  refusedEdit: async () => null,
  session: () => parts.fleet.session(),
  lease: () => ({ held: true, words: 'held' }),
});

/** An order goes through the warehouse, so that it outlives this process; the scheduler is told to look. */
function jobOrders(app: App, { engine }: SyncParts, scheduler: Scheduler): JobOrders {
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
      scheduler.runNow(job);
      return 'It runs within seconds.';
    },
    async pause(job) {
      await pauseJob(engine, job, now());
      scheduler.wake(job);
      return 'It is paused; a run that is under way goes on.';
    },
    async resume(job) {
      await resumeJob(engine, job, now());
      scheduler.wake(job);
      return 'It is resumed; what it missed is caught up once.';
    },
  };
}
