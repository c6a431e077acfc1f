// The wiring: the only place that names concrete implementations. Each resource is opened on first use, so a command
// that only reads the configuration opens neither the warehouse nor the service.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ZodObject } from 'zod';
import { configChanges, lossOfParts, restartNeeded } from '../config/changes.ts';
import { readDotenv } from '../config/dotenv.ts';
import { ConfigError } from '../config/faults.ts';
import { type LoadedConfig, loadConfig } from '../config/load.ts';
import type { Config, ConfigDeclarations } from '../config/schema.ts';
import { createIdleGc } from '../core/idle-gc.ts';
import { lazyResource } from '../core/lazy-resource.ts';
import { createLog, type LogFormat, type LogLevel } from '../core/log.ts';
import { createLogTail } from '../core/log-tail.ts';
import { localPermits, type PermitSource } from '../core/rate/rate.ts';
import { rereadMs } from '../core/reach-limits.ts';
import { createRedactor } from '../core/text/redaction.ts';
import { type Clock, isoInstant, systemClock } from '../core/time/clock.ts';
import type { FeedKind } from '../erp/feed-kinds.ts';
import type { ErpSource } from '../erp/source.ts';
import { feedIssues, openSource } from '../erp/sources.ts';
import type { SessionFacts, SessionMemory } from '../fleet/session/session-memory.ts';
import type { SyncDependencies } from '../sync/dependencies.ts';
import type { Dispatcher } from '../sync/dispatch/dispatcher.ts';
import { localDispatcher } from '../sync/dispatch/local.ts';
import { createPgBossDispatcher } from '../sync/dispatch/pg-boss.ts';
import type { Job, NamedJob } from '../sync/job.ts';
import { createOutages } from '../sync/outages.ts';
import { createRunTotals } from '../sync/run-totals.ts';
import type { TableJob } from '../warehouse/control/config-tables.ts';
import { factMemory } from '../warehouse/control/learned-facts.ts';
import { createSliceMeter } from '../warehouse/control/processes.ts';
import { ratePermits } from '../warehouse/control/rate-store.ts';
import { accountOfWarehouse } from '../warehouse/control/service-account.ts';
import type { Engine, EngineKind } from '../warehouse/engine.ts';
import { engines } from '../warehouse/engines.ts';
import { allowedPolicies, personalColumns } from '../warehouse/privacy/privacy.ts';
import { accountOf, type Connections, createConnections } from './connections.ts';
import { createStorage } from './storage.ts';

export interface AppOptions {
  configFile: string;
  logLevel: LogLevel;
  /** Default: json. */
  logFormat?: LogFormat;
  /** The version of Roadbook; other processes show it. */
  version: string;
  clock?: Clock;
  /** Variables that override those of the environment, for a configuration whose `.env` is not written yet. */
  env?: Readonly<Record<string, string>>;
  /** Ignores invalid settings of the file, for a command that only displays data. */
  tolerant?: boolean;
  /** Keeps the last log lines of each run, for the status page. */
  keepsLog?: boolean;
}

export type App = Awaited<ReturnType<typeof openApp>>;

/** The file in which the built-in service stores accepted writes. */
const SANDBOX_STATE = join('data', 'sandbox.jsonl');

const jobsFolder = new URL('../../jobs/', import.meta.url);

/** All jobs; the name of a job is the name of its file. */
export async function loadJobs(): Promise<NamedJob[]> {
  const files = readdirSync(jobsFolder).filter((file) => file.endsWith('.ts'));
  return Promise.all(
    files.sort().map(async (file) => {
      const { default: job } = (await import(new URL(file, jobsFolder).href)) as { default: Job };
      return { ...job, name: file.slice(0, -'.ts'.length) };
    }),
  );
}

/** The declarations of the other layers that the configuration schema needs. */
export function configDeclarations(jobs: readonly NamedJob[]): ConfigDeclarations {
  return {
    jobs: Object.fromEntries(jobs.map(({ name, schedule, options }) => [name, { schedule, options }])),
    engines: Object.fromEntries(
      Object.entries(engines).map(([name, { settings }]): [string, ZodObject] => [name, settings]),
    ),
    queueEngines: Object.entries(engines)
      .filter(([, kind]: [string, EngineKind]) => kind.hasQueueHome === true)
      .map(([name]) => name),
    personal: Object.fromEntries(
      [...personalColumns].map(([name, { table, column }]) => [
        name,
        { allowed: allowedPolicies(table, column), default: column.policy },
      ]),
    ),
    feedIssues,
  };
}

/** Which job fills which table, by the current settings. */
export const tableJobs = (jobs: readonly NamedJob[], config: Pick<Config, 'jobs'>): TableJob[] =>
  jobs.flatMap(({ name, tables, scopes }) => {
    const options = config.jobs[name]?.options ?? {};
    const { counted = '%', vehicle, driver } = scopes?.(options) ?? {};
    const reread = rereadMs(options);
    return tables.map((table) => ({
      table_name: table.name,
      job: name,
      scopes: counted,
      vehicle_scope: vehicle ?? null,
      driver_scope: driver ?? null,
      reread_seconds: reread === undefined ? null : Math.ceil(reread / 1_000),
    }));
  });

export async function openApp(options: AppOptions) {
  const { configFile, logLevel, version, clock = systemClock, tolerant, keepsLog = false, env = {} } = options;
  const jobs = await loadJobs();
  const load = async () => {
    const variables = { ...readDotenv(process.cwd()), ...process.env, ...env };
    const read = await loadConfig(configFile, configDeclarations(jobs), variables, { tolerant });
    return { ...read, loadedAt: isoInstant(clock.now()) };
  };
  let loaded = await load();
  const redactor = createRedactor();
  for (const secret of loaded.secrets) redactor.add(secret);
  const logTail = createLogTail();
  const prettify = options.logFormat === 'pretty' ? await loadPrettifier(loaded.config.timezone) : undefined;
  const log = createLog({ level: logLevel, redactor, prettify, tail: keepsLog ? logTail : undefined });
  const outages = createOutages();
  const totals = createRunTotals();
  const openedSources: ErpSource[] = [];

  const slices = createSliceMeter(clock);
  const { warehouse, privacy, heartbeat, leases, storeSettings, tryRead } = createStorage({
    loaded: () => loaded,
    tableJobs: (config) => tableJobs(jobs, config),
    clock,
    log,
    version,
    slices,
  });

  // The sandbox keeps the account it was started with, as a real service does.
  const sandbox = lazyResource(
    async () => {
      const { startSandbox } = await import('../sandbox/sandbox.ts');
      const { username, parentUsername, password, realm } = loaded.config.service;
      const credentials = { username, parent_username: parentUsername, password, realm };
      return startSandbox({ stateFile: SANDBOX_STATE, credentials });
    },
    (opened) => opened.close(),
  );

  /** Frees memory while no run of the daemon is active. */
  const idleGc = createIdleGc({ clock });
  const connections = createConnections(loaded.config, {
    clock,
    log,
    redactor,
    sandboxAddress: async () => (await sandbox.open()).url,
    async sessionMemory() {
      await rejectOtherAccount();
      return sessionMemory(await warehouse.open(), clock);
    },
    permits: (account) => accountPermits(warehouse.open, account, clock),
  });

  /** For one run of a daemon: a run keeps the connections it started with, even if the configuration changes. */
  const during = <T>(run: (dependencies: SyncDependencies) => Promise<T>): Promise<T> =>
    idleGc.during(() => connections.during(async (mine) => run(await syncDependencies(mine))));

  const { dispatcher: kind, workers } = loaded.config.scale;
  const home = async () => (await warehouse.open()).queueHome;
  /** Assigns the slices of a pull to workers. */
  const dispatcher: Dispatcher =
    kind === 'local' ? localDispatcher : createPgBossDispatcher({ home, jobs, during, workers, log });

  /** The account of a process never changes. */
  async function rejectOtherAccount(): Promise<void> {
    const { faultAt, config } = loaded;
    const { service } = config;
    const asking = {
      // The sandbox takes the user of the configuration.
      account: service.baseUrl === 'sandbox' ? 'sandbox' : accountOf(service),
      address: service.baseUrl,
    };
    const { account, address } = await accountOfWarehouse(await warehouse.open(), asking, clock.now());
    if (account === asking.account) return;
    const other = address === asking.address ? `another user of ${address}` : address;
    const hint =
      'set another `warehouse.file` or `schema`; docs/how-to/go-live.md says what to do if both are one account';
    throw new ConfigError([faultAt(['service'], `the warehouse holds the data of ${other}`, hint)]);
  }

  async function syncDependencies({ config, service, feeds }: Connections): Promise<SyncDependencies> {
    await rejectOtherAccount();
    return {
      fleet: (await service.open()).fleet,
      engine: await warehouse.open(),
      clock,
      log,
      redactor,
      privacy: await privacy.open(),
      dispatcher,
      concurrency: config.service.concurrency,
      timezone: config.timezone,
      images: config.warehouse.images,
      leases: await leases.open(),
      onSlice: slices.count,
      outages,
      totals,
      erp: async (kind) => feeds.get(kind)?.open(),
    };
  }

  return {
    /** The running configuration. */
    get loaded() {
      return loaded;
    },
    jobs,
    clock,
    log,
    logTail,
    /** What the runs of this process have counted. */
    totals,
    redactor,
    /** The warehouse, with its schema migrated. */
    warehouse: warehouse.open,
    /** The privacy policies. Rows stored under other policies are rewritten first. */
    privacy: privacy.open,
    tryRead,
    leases: leases.open,
    heartbeat: heartbeat.open,
    /** The service. The address `sandbox` starts the built-in one. */
    service: () => connections.current().service.open(),
    /** The source of a feed, for inspection; undefined if the configuration has none. */
    async erpSource(kind: FeedKind): Promise<ErpSource | undefined> {
      const { erp, timezone } = loaded.config;
      const feed = erp[kind];
      if (feed === undefined) return undefined;
      const source = openSource(feed, { kind, zone: timezone, reuseCodes: false, clock, log, random: Math.random });
      openedSources.push(source);
      return source;
    },
    /** The dependencies of a run, for a command that runs one job. */
    async sync(): Promise<SyncDependencies> {
      await (await leases.open()).freeDead();
      return syncDependencies(connections.current());
    },
    /** Of a daemon: from then on, commands leave the settings that the views need to it. */
    storeSettings: async () => storeSettings(await warehouse.open(), loaded.config),
    dispatcher,
    during,
    idleGc,
    /** Reloads the file; the next run uses it. Returns the changed settings; throws if the file is invalid. */
    async reload(): Promise<string[]> {
      const next = await load();
      for (const secret of next.secrets) redactor.add(secret);
      rejectIfRestartNeeded(loaded, next);
      const changed = configChanges(loaded.config, next.config);
      // The step that can fail comes first: an edit is applied completely or not at all.
      await storeSettings(await warehouse.open(), next.config);
      if (changed.length > 0) await connections.replace(next.config);
      loaded = next;
      return changed;
    },
    async close(): Promise<void> {
      await dispatcher.close();
      for (const source of openedSources.splice(0)) await source.close();
      await connections.close();
      await sandbox.close();
      await warehouse.close();
    },
  };
}

/** Loaded only for a terminal: a service that writes JSON does not need it. */
async function loadPrettifier(zone: string): Promise<(line: string) => string> {
  const { createPrettifier } = await import('../core/log-lines.ts');
  return createPrettifier(process.stderr.hasColors?.() === true, zone);
}

function rejectIfRestartNeeded(running: LoadedConfig, next: LoadedConfig): void {
  const need = lossOfParts(running, next) ?? restartNeeded(running.config, next.config);
  if (need === undefined) return;
  const hint = 'undo this edit, or restart the daemon to apply the file as it is';
  throw new ConfigError([next.faultAt(need.path, need.message, hint)]);
}

/** Permits shared with the other processes if the engine supports it. The first call opens the warehouse. */
function accountPermits(warehouse: () => Promise<Engine>, account: string, clock: Clock): PermitSource {
  const local = localPermits(clock);
  return {
    async take(asked) {
      const source = ratePermits(await warehouse(), account) ?? local;
      return source.take(asked);
    },
  };
}

function sessionMemory(engine: Engine, clock: Clock): SessionMemory {
  const facts = factMemory<SessionFacts>(engine, 'session');
  return { read: facts.read, update: (change) => facts.update(change, clock.now()) };
}
