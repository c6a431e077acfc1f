// Every daemon on the warehouse, as the status document shows it.
import type { Clock } from '../../core/time/clock.ts';
import { readDaemons } from '../../warehouse/control/processes.ts';
import type { Engine } from '../../warehouse/engine.ts';

export type DaemonStatus = Awaited<ReturnType<typeof daemonStatuses>>[number];

export async function daemonStatuses(engine: Engine, clock: Clock) {
  const daemons = await readDaemons(engine, clock);
  return daemons.map(({ host, pid, version, started_at, heartbeat_at, slices_per_minute, isSilent }) => ({
    host,
    pid,
    version,
    started_at,
    heartbeat_at,
    /** `silent` if the last heartbeat is so old that the daemon may be dead. */
    state: isSilent ? ('silent' as const) : ('alive' as const),
    /** Slices loaded in the last minute; null for a silent daemon. */
    slices_per_minute: isSilent ? null : slices_per_minute,
  }));
}
