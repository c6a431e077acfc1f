// A process's share in the queue, as many of them in one test as it wants: rigs on PostgreSQL whose slices go through
// pg-boss. All is closed when the test ends.
import { onTestFinished } from 'vitest';
import { loadJobs } from '../../../src/app/app.ts';
import { systemClock } from '../../../src/core/time/clock.ts';
import type { Dispatcher } from '../../../src/sync/dispatch/dispatcher.ts';
import { createPgBossDispatcher, type PgBossOptions } from '../../../src/sync/dispatch/pg-boss.ts';
import { personalColumns } from '../../../src/warehouse/privacy/privacy.ts';
import { configFor, makeWorkplace, type Workplace } from '../process/workplace.ts';
import { makeRig, type Rig, type RigOptions } from '../pull/rig.ts';
import { leaseManagerOn } from './lease-manager.ts';

/** As short as the queue allows. */
export const TIMES = {
  heartbeat: 10,
  refresh: 5,
  supervise: 1,
  retryDelay: 0,
  statementTimeout: 20,
  drain: 1,
};

export const jobs = await loadJobs();

export async function rigOn(
  engine: RigOptions['engine'],
  { startAt = '2026-03-02T12:00:00Z', ...options }: Partial<RigOptions> = {},
): Promise<Rig> {
  const rig = await makeRig({ startAt, engine, ...options });
  onTestFinished(() => rig.close());
  return rig;
}

/** A daemon's share in this process, with connections of its own to the queue. */
export function dispatcherOn(rig: Rig, workers: number, other: Partial<PgBossOptions> = {}): Dispatcher {
  const dispatcher = createPgBossDispatcher({
    home: async () => rig.engine.queueHome,
    jobs,
    during: (work) => work(rig.dependencies),
    workers,
    log: rig.dependencies.log,
    times: TIMES,
    ...other,
  });
  onTestFinished(() => dispatcher.close());
  return dispatcher;
}

/** A rig whose runs are leased and go through the queue; it works `workers` of their slices at once itself. */
export async function queuedRig(
  workers: number,
  options: Partial<RigOptions> = {},
  other: Partial<PgBossOptions> = {},
): Promise<Rig> {
  const rig = await rigOn('postgres', options);
  const { log } = rig.dependencies;
  rig.dependencies.leases = leaseManagerOn(rig.engine, { clock: systemClock, log });
  rig.dependencies.dispatcher = dispatcherOn(rig, workers, other);
  return rig;
}

/** The policies of a rig: daemons on one warehouse need the same. */
const KEPT = Object.fromEntries([...personalColumns.keys()].map((name) => [name, 'keep']));

/** Where real commands work on the rig's warehouse and service; none of their jobs is due by itself. */
export function commandsOn(rig: Rig, edit = (config: string): string => config): Workplace {
  const { url, schema } = rig.settings;
  const off = jobs.map(({ name }) => `  ${name}: { enabled: false }`).join('\n');
  const sections = `warehouse: { engine: postgres, url: "${url}", schema: ${schema} }
scale: { dispatcher: pg-boss, workers: 1 }
privacy: ${JSON.stringify(KEPT)}
jobs:
${off}
`;
  const place = makeWorkplace(edit(configFor(rig.sandbox.url, sections)));
  onTestFinished(() => place.remove());
  return place;
}
