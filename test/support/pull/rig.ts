// The product's dependencies wired to a sandbox in one process, on a clock that the test moves: weeks of polling in
// seconds. Real HTTP, a real database; only time is the test's.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadJobs } from '../../../src/app/app.ts';
import type { RunSummary } from '../../../src/core/glossary.ts';
import { createLog } from '../../../src/core/log.ts';
import { createLimiter } from '../../../src/core/rate/limiter.ts';
import { createRedactor } from '../../../src/core/text/redaction.ts';
import { systemClock } from '../../../src/core/time/clock.ts';
import { createManualClock, type ManualClock } from '../../../src/core/time/manual-clock.ts';
import { createFleet } from '../../../src/fleet/client.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../../src/sandbox/sandbox.ts';
import type { SyncDependencies } from '../../../src/sync/dependencies.ts';
import { localDispatcher } from '../../../src/sync/dispatch/local.ts';
import type { Preview } from '../../../src/sync/job.ts';
import { runChain } from '../../../src/sync/job-chain.ts';
import type { AskedPeriod } from '../../../src/sync/slice.ts';
import type { Engine } from '../../../src/warehouse/engine.ts';
import { createPrivacy } from '../../../src/warehouse/privacy/privacy.ts';
import { fleetSettings } from '../fleet/fleet-settings.ts';
import { createSessionMemory } from '../fleet/session-memory.ts';
import { type EngineName, makePlaceWithSchema, rowsOf } from '../warehouse/engines.ts';

export interface Rig {
  clock: ManualClock;
  sandbox: Sandbox;
  engine: Engine;
  /** `warehouse` of a configuration that leads to it. */
  settings: Record<string, string>;
  dependencies: SyncDependencies;
  /** Lines of the product's log at debug level. */
  logLines: string[];
  run(
    job: string,
    options?: Record<string, unknown>,
    period?: AskedPeriod,
    draining?: AbortSignal,
  ): Promise<RunSummary>;
  /** The plan of a run. */
  preview(job: string, options?: Record<string, unknown>): Promise<Preview[]>;
  /** The sandbox's own state. */
  truth(resource: string, query?: Record<string, string>): Promise<Record<string, unknown>[]>;
  rows(sql: string): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

export interface RigOptions {
  /** Where time begins. */
  startAt: string;
  sandbox?: SandboxOptions;
  dependencies?: Partial<SyncDependencies>;
  /** The warehouse's engine; default SQLite. */
  engine?: EngineName;
  /** Options of jobs that are not the defaults, by job. */
  options?: Record<string, Record<string, unknown>>;
  /** Largest answer in MiB; default 64. */
  maxBodyMb?: number;
  /** A pause that the service asks for ends when the test has moved its clock; by default it takes real time. */
  movesPauses?: true;
}

export async function makeRig({
  startAt,
  sandbox: options,
  dependencies: others,
  engine: engineName = 'sqlite',
  options: usual = {},
  maxBodyMb = 64,
  movesPauses,
}: RigOptions): Promise<Rig> {
  const dir = mkdtempSync(join(tmpdir(), 'roadbook-rig-'));
  const clock = createManualClock(Date.parse(startAt));
  const sandbox = await startSandbox({ clock, ...options });
  const place = await makePlaceWithSchema(engineName);
  const engine = await place.open();
  const redactor = createRedactor();
  const logLines: string[] = [];
  const log = createLog({ level: 'debug', redactor, write: (line) => logLines.push(line) });
  const fleet = createFleet(fleetSettings(sandbox, maxBodyMb), {
    clock,
    log,
    redactor,
    memory: createSessionMemory(),
    // It paces real requests, so it lives on real time; where it does not, there is no pace to keep.
    limiter: createLimiter({
      concurrency: 8,
      ...(movesPauses ? { perMinute: Number.POSITIVE_INFINITY, clock } : { perMinute: 1_000_000, clock: systemClock }),
    }),
  });
  const dependencies: SyncDependencies = {
    fleet,
    engine,
    clock,
    log,
    redactor,
    privacy: createPrivacy({}, 'test'),
    dispatcher: localDispatcher,
    concurrency: 4,
    timezone: 'America/Sao_Paulo',
    images: join(dir, 'images'),
    ...others,
  } as SyncDependencies;
  const jobs = await loadJobs();
  const find = (name: string) => {
    const job = jobs.find((each) => each.name === name);
    return job === undefined
      ? undefined
      : { job, options: job.options.parse(usual[name] ?? {}) as Record<string, unknown> };
  };
  return {
    clock,
    sandbox,
    engine,
    settings: place.settings,
    dependencies,
    logLines,
    async run(name, options = {}, period, draining) {
      const found = find(name);
      if (found === undefined) throw new Error(`no job ${name}`);
      const own = found.job.options.parse({ ...usual[name], ...options }) as Record<string, unknown>;
      return (
        await runChain(
          { job: found.job, options: own, cause: 'manual', period, draining },
          { find, names: jobs.map((each) => each.name) },
          dependencies,
        )
      ).summary;
    },
    async preview(name, options = {}) {
      const job = jobs.find((each) => each.name === name);
      if (job === undefined) throw new Error(`no job ${name}`);
      return job.preview({
        job: name,
        options: job.options.parse(options) as Record<string, unknown>,
        dependencies,
      });
    },
    async truth(resource, query = {}) {
      const answer = await fetch(`${sandbox.url}/_sandbox/truth/${resource}?${new URLSearchParams(query)}`);
      if (!answer.ok) throw new Error(`truth of ${resource}: ${answer.status} ${await answer.text()}`);
      return (await answer.json()) as Record<string, unknown>[];
    },
    rows: (text) => engine.read((sql) => rowsOf(sql, text)),
    async close() {
      fleet.close();
      await engine.close();
      await place.remove();
      await sandbox.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
