// The leases of one process, as the wiring makes them.

import type { Log } from '../../../src/core/log.ts';
import type { Clock } from '../../../src/core/time/clock.ts';
import { createLeaseManager, type LeaseManager } from '../../../src/warehouse/control/leases.ts';
import { createHeartbeat, createSliceMeter, type Heartbeat } from '../../../src/warehouse/control/processes.ts';
import type { ProcessIdentity } from '../../../src/warehouse/control/this-process.ts';
import type { Engine } from '../../../src/warehouse/engine.ts';

export interface ProcessOn {
  clock: Clock;
  log: Log;
  version?: string;
  /** Default: the process of the test. */
  process?: ProcessIdentity;
}

export const heartbeatOn = (engine: Engine, { version = '1.2.3', ...process }: ProcessOn): Heartbeat =>
  createHeartbeat({ engine, version, slices: createSliceMeter(process.clock), ...process });

export const leaseManagerOn = (engine: Engine, process: ProcessOn): LeaseManager =>
  createLeaseManager(heartbeatOn(engine, process), { engine, ...process });

/** A process on another machine: only its heartbeat shows whether it lives. */
export const processElsewhere = (host: string, pid = 7): ProcessIdentity => ({
  holder: `${host}/${pid}/x`,
  host,
  pid,
  place: host,
});
