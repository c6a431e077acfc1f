// The wiring: the only place that names concrete parts. Parts are opened when first asked for, so that a
// command which only reads the configuration opens neither the warehouse nor the service.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ZodObject } from 'zod';
import { readDotenv } from './config/dotenv.ts';
import { type LoadedConfig, loadConfig } from './config/load.ts';
import type { ConfigParts } from './config/schema.ts';
import { type Clock, isoInstant, systemClock } from './core/clock.ts';
import { createLimiter } from './core/limiter.ts';
import { createLog, type Log, type LogLevel } from './core/log.ts';
import { createLogTail, type LogTail } from './core/log-tail.ts';
import { createRedactor, type Redactor } from './core/redaction.ts';
import type { ErpSource, FeedKind } from './erp/source.ts';
import { openSource } from './erp/sources.ts';
import { createFleet, type Fleet } from './fleet/client.ts';
import type { SessionFacts, SessionMemory } from './fleet/session-memory.ts';
import { startSandbox } from './sandbox/sandbox.ts';
import type { Job, NamedJob } from './sync/job.ts';
import type { Feed } from './sync/push/push-run.ts';
import { dropSamplePlans } from './sync/push/sample-drop.ts';
import type { SyncParts } from './sync/sync-parts.ts';
import type { Engine, EngineKind } from './warehouse/engine.ts';
import { engines } from './warehouse/engines.ts';
import { factMemory } from './warehouse/learned-facts.ts';
import { createLeaseKeeper, type LeaseKeeper } from './warehouse/lease-keeper.ts';
import { abandonDeadRuns } from './warehouse/run-log.ts';
import { bringSchemaUpToDate } from './warehouse/schema.ts';

export interface AppOptions {
  configFile: string;
  logLevel: LogLevel;
  clock?: Clock;
  /** Keeps the last log lines of the runs, for the status page. */
  keepsLog?: boolean;
}

export interface App {
  readonly loaded: LoadedConfig;
  readonly loadedAt: string;
  readonly jobs: readonly NamedJob[];
  readonly clock: Clock;
  readonly log: Log;
  readonly logTail: LogTail;
  readonly redactor: Redactor;
  /** The warehouse, opened and brought to the declared schema. */
  warehouse(): Promise<Engine>;
  /** The service; `sandbox` starts the built-in one. */
  service(): Promise<{ fleet: Fleet; address: string }>;
  /** The source of a feed, to look at; undefined where the configuration has none. */
  erpSource(kind: FeedKind): Promise<ErpSource | undefined>;
  /** The leases of this process. */
  leases(): Promise<LeaseKeeper>;
  /** What a run needs. */
  sync(): Promise<SyncParts>;
  close(): Promise<void>;
}

/** Where the built-in service keeps what was written to it. */
const SANDBOX_STATE = join('data', 'sandbox.jsonl');

const jobsFolder = new URL('../jobs/', import.meta.url);

/** The jobs, each named as its file. */
export async function loadJobs(): Promise<NamedJob[]> {
  const files = readdirSync(jobsFolder).filter((file) => file.endsWith('.ts'));
  return Promise.all(
    files.sort().map(async (file) => {
      const { default: job } = (await import(new URL(file, jobsFolder).href)) as { default: Job };
      return { ...job, name: file.slice(0, -'.ts'.length) };
    }),
  );
}

/** What the configuration has to know of the other layers. */
export function configParts(jobs: readonly NamedJob[]): ConfigParts {
  return {
    jobs: Object.fromEntries(jobs.map(({ name, schedule, options }) => [name, { schedule, options }])),
    engines: Object.fromEntries(
      Object.entries(engines).map(([name, { settings }]): [string, ZodObject] => [name, settings]),
    ),
  };
}

export async function openApp(options: AppOptions): Promise<App> {
  const { configFile, logLevel, clock = systemClock, keepsLog = false } = options;
  const jobs = await loadJobs();
  const env = { ...readDotenv(process.cwd()), ...process.env };
  const loaded = await loadConfig(configFile, configParts(jobs), env);
  const redactor = createRedactor();
  for (const secret of loaded.secrets) redactor.add(secret);
  const logTail = createLogTail();
  const log = createLog({ level: logLevel, redactor, tail: keepsLog ? logTail : undefined });
  const settings = loaded.config.service;
  const closers: (() => Promise<void> | void)[] = [];

  const warehouse = once(async () => {
    const { engine: name, images: _, ...engineSettings } = loaded.config.warehouse;
    const kind: EngineKind = engines[name as keyof typeof engines];
    const engine = await kind.open(engineSettings);
    closers.unshift(() => engine.close());
    await bringSchemaUpToDate(engine);
    return engine;
  });

  const leases = once(async () => createLeaseKeeper(await warehouse(), { clock, log }));

  const service = once(async () => {
    const address = settings.baseUrl === 'sandbox' ? await openSandbox() : settings.baseUrl;
    const fleet = createFleet(
      { ...settings, baseUrl: address },
      {
        clock,
        log,
        redactor,
        limiter: createLimiter({
          concurrency: settings.concurrency,
          perMinute: settings.requestsPerMinute,
          clock,
        }),
        memory: sessionMemory(await warehouse(), clock),
      },
    );
    closers.unshift(() => fleet.close());
    return { fleet, address };
  });

  async function openSandbox(): Promise<string> {
    const { username, parentUsername, password, realm } = settings;
    const sandbox = await startSandbox({
      stateFile: SANDBOX_STATE,
      credentials: { username, parent_username: parentUsername, password, realm },
    });
    closers.unshift(() => sandbox.close());
    return sandbox.url;
  }

  const feeds = new Map<FeedKind, () => Promise<Feed | undefined>>();
  function erp(kind: FeedKind): Promise<Feed | undefined> {
    const open = feeds.get(kind) ?? once(() => openFeed(kind));
    feeds.set(kind, open);
    return open();
  }

  async function openFeed(kind: FeedKind): Promise<Feed | undefined> {
    const { erp: own, timezone } = loaded.config;
    const feed = own[kind];
    if (feed === undefined) return undefined;
    if (settings.baseUrl === 'sandbox' && feed.source === 'files' && kind === 'route_plans') {
      await dropSamplePlans(feed.folder, { fleet: (await service()).fleet, clock, timezone });
    }
    const source = await erpSource(kind);
    return source && { source, options: feed.options };
  }

  async function erpSource(kind: FeedKind): Promise<ErpSource | undefined> {
    const { erp: own, timezone } = loaded.config;
    const feed = own[kind];
    if (feed === undefined) return undefined;
    const source = openSource(feed, { kind, zone: timezone, clock, log, random: Math.random });
    closers.unshift(() => source.close());
    return source;
  }

  return {
    loaded,
    loadedAt: isoInstant(clock.now()),
    jobs,
    clock,
    log,
    logTail,
    redactor,
    warehouse,
    leases,
    service,
    erpSource,
    async sync() {
      const engine = await warehouse();
      const keeper = await leases();
      await keeper.look();
      await abandonDeadRuns(engine, isoInstant(clock.now()));
      const { fleet } = await service();
      return {
        fleet,
        engine,
        clock,
        log,
        redactor,
        concurrency: settings.concurrency,
        timezone: loaded.config.timezone,
        images: loaded.config.warehouse.images,
        leases: keeper,
        erp,
      };
    },
    async close() {
      for (const close of closers.splice(0)) await close();
    },
  };
}

function sessionMemory(engine: Engine, clock: Clock): SessionMemory {
  const facts = factMemory<SessionFacts>(engine, 'session');
  return { read: facts.read, write: (fact) => facts.write(fact, clock.now()) };
}

/** Opens a part at most once; a failed opening is tried again by the next caller. */
function once<T>(open: () => Promise<T>): () => Promise<T> {
  let opened: Promise<T> | undefined;
  return () => {
    opened ??= open().catch((error) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };
}
