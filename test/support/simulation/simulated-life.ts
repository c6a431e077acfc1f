// One life of a simulated daemon: the parts that `roadbook start` wires, on the simulated clock, network and order of
// events. The warehouse, the drop folders and the session's memory outlive it.
import { join } from 'node:path';
import { loadJobs } from '../../../src/app/app.ts';
import { createLog } from '../../../src/core/log.ts';
import { createLimiter } from '../../../src/core/rate/limiter.ts';
import { createRedactor } from '../../../src/core/text/redaction.ts';
import { isoInstant } from '../../../src/core/time/clock.ts';
import type { FeedKind } from '../../../src/erp/feed-kinds.ts';
import type { Feed } from '../../../src/erp/source.ts';
import { openSource } from '../../../src/erp/sources.ts';
import { createFleet } from '../../../src/fleet/client.ts';
import type { Random } from '../../../src/sandbox/made-up/seeded-random.ts';
import type { Sandbox } from '../../../src/sandbox/sandbox.ts';
import { createScheduler } from '../../../src/schedule/scheduler.ts';
import type { SyncDependencies } from '../../../src/sync/dependencies.ts';
import { localDispatcher } from '../../../src/sync/dispatch/local.ts';
import { runChain } from '../../../src/sync/job-chain.ts';
import { requestRun } from '../../../src/warehouse/control/job-controls.ts';
import { readTicks } from '../../../src/warehouse/control/runs.ts';
import { sqlite } from '../../../src/warehouse/engines/sqlite/engine.ts';
import { createPrivacy } from '../../../src/warehouse/privacy/privacy.ts';
import { bringSchemaUpToDate } from '../../../src/warehouse/schema/converge.ts';
import { leaseManagerOn, processElsewhere } from '../daemons/lease-manager.ts';
import { fleetSettings } from '../fleet/fleet-settings.ts';
import { createSessionMemory } from '../fleet/session-memory.ts';
import { newLife, type SimulatedIo } from './simulated-io.ts';
import { simulateNetwork, type Weather } from './simulated-network.ts';

const TIMEZONE = 'America/Sao_Paulo';

export interface SimulatedJob {
  name: string;
  cron: string;
  options?: Record<string, unknown>;
}

/** Due together, so that they meet; data may come two days late, so that is how far each run reads again. */
export const SIMULATED_JOBS: readonly SimulatedJob[] = [
  { name: 'pull-vehicles', cron: '0 */6 * * *' },
  { name: 'pull-drivers', cron: '0 3 * * *' },
  { name: 'pull-points-of-interest', cron: '0 */12 * * *' },
  { name: 'pull-events', cron: '0 */6 * * *', options: { since: '5d', lookback: '60h' } },
  {
    name: 'pull-route-plans',
    cron: '0 */6 * * *',
    options: { since: '5d', lookback: '4d', ahead: '3d' },
  },
  { name: 'pull-daily-summaries', cron: '0 */12 * * *', options: { since: '5d', lookback: '5d' } },
  { name: 'pull-itineraries', cron: '0 */12 * * *', options: { since: '5d' } },
  { name: 'pull-checklists', cron: '0 */12 * * *', options: { since: '5d', lookback: '3d' } },
  { name: 'push-route-plans', cron: '0 */3 * * *' },
  { name: 'push-points-of-interest', cron: '0 */6 * * *' },
  { name: 'return-executions', cron: '0 */6 * * *' },
  { name: 'maintain-warehouse', cron: '30 3 * * *' },
];

export interface LifeOptions {
  dir: string;
  io: SimulatedIo;
  sandbox: Sandbox;
  network: Random;
  jitter: Random;
  weather(): Weather;
  note(line: string): void;
  /** Default: that of the simulated company. */
  timezone?: string;
  /** Default: SIMULATED_JOBS. */
  simulated?: readonly SimulatedJob[];
}

export interface BegunDaemon {
  /** Runs every pull once more, while time passes. */
  pullAll(): Promise<void>;
  /** Drains, while time passes. */
  stop(): Promise<void>;
  /** Releases the resources of the machine. */
  bury(): Promise<void>;
}

/** A daemon that begins again is another process. */
let lives = 0;

export async function beginDaemon(options: LifeOptions): Promise<BegunDaemon> {
  const { dir, io, sandbox, network, jitter, weather, note, timezone = TIMEZONE, simulated = SIMULATED_JOBS } = options;
  const life = newLife();
  const clock = io.clockOf(life);
  const bare = await sqlite.open({ file: join(dir, 'warehouse.db') });
  await bringSchemaUpToDate(bare);
  const engine = io.engineOf(bare);
  const redactor = createRedactor();
  const log = createLog({ level: 'debug', redactor, write: (line) => note(plainLine(line)) });
  const fleet = createFleet(fleetSettings(sandbox), {
    clock,
    log,
    redactor,
    random: jitter.next,
    memory: createSessionMemory(),
    limiter: createLimiter({ concurrency: 4, perMinute: 600, clock, random: jitter.next }),
    connect: (to) => simulateNetwork(to, { io, clock, random: network, weather, onExchange: note }),
  });
  const feeds = new Map<FeedKind, Feed>();
  const dependencies: SyncDependencies = {
    fleet,
    engine,
    clock,
    log,
    redactor,
    privacy: createPrivacy({}, 'simulation'),
    concurrency: 4,
    dispatcher: localDispatcher,
    timezone,
    images: join(dir, 'images'),
    leases: leaseManagerOn(engine, { clock, log, process: processElsewhere('simulated', ++lives) }),
    async erp(kind) {
      const context = { kind, zone: timezone, reuseCodes: false, clock, log, random: jitter.next };
      const settings = {
        source: 'files' as const,
        folder: join(dir, kind),
        settleMs: 0,
        keepFilesMs: Number.POSITIVE_INFINITY,
        mapping: {},
      };
      const feed = feeds.get(kind) ?? { source: openSource(settings, context), options: {} };
      feeds.set(kind, feed);
      return feed;
    },
  };
  const jobs = await loadJobs();
  const find = (name: string) => {
    const job = jobs.find((each) => each.name === name);
    const given = simulated.find((each) => each.name === name)?.options ?? {};
    return job && { job, options: job.options.parse(given) as Record<string, unknown> };
  };
  const scheduler = createScheduler(
    simulated.map(({ name, cron }) => ({ name, cron, timezone })),
    {
      clock,
      log,
      readTicks: (job) => readTicks(engine, job),
      async run(name, order, stops) {
        const found = find(name);
        if (found === undefined) throw new Error(`no job ${name}`);
        await runChain({ ...found, ...order, ...stops }, { find, names: [] }, dependencies);
      },
    },
  );
  io.live(life, () => scheduler.start());
  return {
    async pullAll() {
      for (const { name } of simulated) {
        if (!name.startsWith('pull-')) continue;
        await requestRun(bare, name, isoInstant(clock.now()), 'simulation');
        scheduler.runNow(name);
      }
    },
    stop: () => io.live(life, () => scheduler.stop(0)),
    async bury() {
      fleet.close();
      await bare.close();
    },
  };
}

/** A log line without its time and the random names of runs. */
function plainLine(line: string): string {
  const { time: _, run_id: __, ...rest } = JSON.parse(line) as Record<string, unknown>;
  return JSON.stringify(rest, (key, value) => (['holder', 'stack', 'run_id'].includes(key) ? undefined : value));
}
