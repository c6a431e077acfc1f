// What the daemon hands to its status server.
import type { App } from '../app.ts';
import { Fatal } from '../core/errors.ts';
import type { JobOrders, StatusServerParts } from '../status/server-parts.ts';
import { runChain } from '../sync/job-chain.ts';
import type { SyncParts } from '../sync/sync-parts.ts';
import { jobBook, namedJob } from './named-job.ts';
import { VERSION } from './version.ts';

export const pageParts = (app: App, parts: SyncParts): StatusServerParts => ({
  version: VERSION,
  engine: parts.engine,
  clock: app.clock,
  log: app.log,
  redactor: app.redactor,
  jobs: app.jobs,
  logTail: app.logTail,
  orders: orders(app, parts),
  running: () => ({
    file: app.loaded.file,
    config: app.loaded.config,
    loadedAt: app.loadedAt,
  }),
  refusedEdit: async () => null,
  session: () => parts.fleet.session(),
  lease: () => ({ held: true, words: 'held' }),
});

const orders = (app: App, parts: SyncParts): JobOrders => ({
  async run(name) {
    const { job, settings } = namedJob(app, name);
    void runChain({ job, options: settings.options, cause: 'manual' }, jobBook(app), parts);
    return 'It runs now.';
  },
  pause: async () => Promise.reject(new Fatal('not yet', { code: 'usage' })),
  resume: async () => Promise.reject(new Fatal('not yet', { code: 'usage' })),
});
