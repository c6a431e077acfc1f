// roadbook start: the daemon. It runs until SIGTERM, SIGINT or the end of its terminal. The first signal drains, a second
// one stops at once. Any other SIGHUP reloads the configuration.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import type { App } from '../app/app.ts';
import { digestOf, watchConfig } from '../config/watch.ts';
import { isoInstant } from '../core/time/clock.ts';
import type { Loop } from '../core/time/loop.ts';
import { createReload } from '../schedule/reload.ts';
import { createScheduler, type ScheduledJob } from '../schedule/scheduler.ts';
import { localTick, nextTick } from '../schedule/ticks.ts';
import { createControlWatch } from '../schedule/watch.ts';
import { rejectionOf } from '../status/health/config-error.ts';
import type { StatusServerDependencies } from '../status/server/dependencies.ts';
import { startStatusServer } from '../status/server/server.ts';
import { runChain } from '../sync/job-chain.ts';
import { readConfigState, storeConfigState } from '../warehouse/control/config-state.ts';
import { pauseJob, readControls, requestRun, resumeJob } from '../warehouse/control/job-controls.ts';
import { readTicks } from '../warehouse/control/runs.ts';
import type { Engine } from '../warehouse/engine.ts';
import { defineCommand, print, say, usageError, withApp } from './command.ts';
import { daemonAlerts } from './daemon-alerts.ts';
import { enabledJobs, jobLookup, namedJob } from './named-job.ts';
import { textTable } from './output/text-table.ts';
import { untilSignal } from './signals.ts';
import { VERSION } from './version.ts';

/** Time for running jobs to finish after the first signal. */
const GRACE_MS = 25_000;
/** Additional time for everything else. */
const CLOSE_MS = 5_000;

export const define = (command: Command): Command =>
  defineCommand(command, {
    logLevel: 'info',
    action: withApp(
      async (app, _args, { json }) => {
        // Listens before the first output, because the user may press Ctrl-C as soon as it appears.
        const stopped = untilSignal('ends-with-terminal');
        const { engine } = await app.sync();
        await app.storeSettings();
        // Before the page, which shows whether a daemon is alive.
        const heartbeat = await app.heartbeat();
        heartbeat.start();
        const { address } = await app.service();
        const jobs = enabledJobs(app);
        const page = await startStatusServer(await pageDependencies(app, engine));
        print(
          json
            ? JSON.stringify({ version: VERSION, service: address, page: page.url(), jobs })
            : welcome(app, address, page.url(), jobs),
        );
        const scheduler = schedule(app, engine, jobs);
        // Services that run as long as the daemon; they stop in reverse order.
        const companions = [
          createControlWatch({
            clock: app.clock,
            log: app.log,
            scheduler,
            controls: () => readControls(engine),
            freedLeases: async () => (await app.leases()).freeDead(),
          }),
          followEdits(app, engine, () => {
            scheduler.update(enabledJobs(app));
            void page.refresh();
          }),
          daemonAlerts(app, engine),
          app.idleGc,
        ];
        await app.dispatcher.start();
        scheduler.start();
        for (const companion of companions) companion.start();
        app.log.info(
          { event: 'daemon_started', version: VERSION, pid: process.pid, jobs: jobs.length },
          'daemon started',
        );
        const signal = await stopped;
        say(
          `${signal}: no new runs; waiting up to ${GRACE_MS / 1_000} s for active runs to end. Send the signal again to stop at once.`,
        );
        // Exits even if something hangs, such as a database that does not answer. The stored data stays consistent.
        setTimeout(() => process.exit(0), GRACE_MS + CLOSE_MS).unref();
        await Promise.all([
          scheduler.stop(GRACE_MS),
          app.dispatcher.stop(),
          ...companions.toReversed().map((companion) => companion.stop()),
        ]);
        await heartbeat.stop();
        await page.close();
        app.log.info({ event: 'daemon_stopped', signal }, 'daemon stopped');
      },
      { keepsLog: true },
    ),
  });

const schedule = (app: App, engine: Engine, jobs: readonly ScheduledJob[]) =>
  createScheduler(jobs, {
    clock: app.clock,
    log: app.log,
    readTicks: (name) => readTicks(engine, name),
    async run(name, due, signals) {
      const { job, settings } = namedJob(app, name);
      const request = { job, options: settings.options, ...due, ...signals };
      await app.during((dependencies) => runChain(request, jobLookup(app), dependencies));
    },
  });

/** Applies edits of the file within two seconds, or at once after SIGHUP. Calls `onChange` after each valid edit. */
function followEdits(app: App, engine: Engine, onChange: () => void): Loop {
  const { clock, log } = app;
  const { file } = app.loaded;
  const reload = createReload({
    log,
    async apply() {
      const changed = await app.reload();
      if (changed.length > 0) onChange();
      return changed;
    },
    async storeResult(error) {
      const at = isoInstant(clock.now());
      const digest = digestOf(await readFile(file).catch(() => ''));
      const edit = error && { at, error: app.redactor.redact(error.message), digest };
      await storeConfigState(
        engine,
        { loadedAt: app.loaded.loadedAt, rejected: edit, jobs: enabledJobs(app) },
        clock.now(),
      );
    },
  });
  const watch = watchConfig({ file, beside: [join(process.cwd(), '.env')], clock, changed: () => reload('edit') });
  let isOver = false;
  let asked = Promise.resolve(true);
  // The listener stays: without one, the signal would kill a process that is draining.
  process.on('SIGHUP', () => {
    if (!isOver) asked = reload('signal');
  });
  return {
    start: watch.start,
    async stop() {
      isOver = true;
      await Promise.all([watch.stop(), asked]);
    },
  };
}

/** The dependencies of the status server. */
const pageDependencies = async (app: App, engine: Engine): Promise<StatusServerDependencies> => ({
  ...app,
  version: VERSION,
  engine,
  privacy: await app.privacy(),
  jobActions: jobActions(app, engine),
  running: () => app.loaded,
  rejectedEdit: async () => rejectionOf(app.loaded.file, await readConfigState(engine)),
  session: async () => (await app.service()).fleet.session(),
  queueFacts: app.dispatcher.facts,
});

/** Actions are stored in the warehouse, so that they survive this process and any daemon can carry them out. */
function jobActions(app: App, engine: Engine): StatusServerDependencies['jobActions'] {
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

function welcome(app: App, address: string, page: string | null, jobs: readonly ScheduledJob[]): string {
  const { service, warehouse } = app.loaded.config;
  const sandbox = service.baseUrl === 'sandbox' ? 'built-in sandbox at ' : '';
  const rows = jobs.map((job) => {
    const next = nextTick(job, app.clock.now());
    return [job.name, job.cron, next === undefined ? 'never' : localTick(next, job.timezone)];
  });
  return [
    `Roadbook ${VERSION} is running; Ctrl-C stops it.`,
    `  service    ${sandbox}${address}`,
    `  warehouse  ${warehouse.engine} ${warehouse.file ?? `schema ${warehouse.schema}`}`,
    `  config     ${app.loaded.file}`,
    `  page       ${page ?? 'not available: the port is in use; retrying'}`,
    `Jobs (${jobs.length}):`,
    ...(rows.length === 0 ? [] : [textTable(['job', 'schedule', 'next tick'], rows)]),
  ].join('\n');
}
