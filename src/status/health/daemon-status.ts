// Every daemon on the warehouse, as the status document shows it.
import type { Clock } from '../../core/time/clock.ts';
import { type ProcessRow, readDaemons } from '../../warehouse/control/processes.ts';
import type { Engine } from '../../warehouse/engine.ts';

export interface DaemonStatus extends Pick<ProcessRow, 'host' | 'pid' | 'version' | 'started_at' | 'heartbeat_at'> {
  /** `silent` if the last heartbeat is so old that the daemon may be dead. */
  state: 'alive' | 'silent';
  /** Slices loaded in the last minute; null for a silent daemon. */
  slices_per_minute: number | null;
}

export async function daemonStatuses(engine: Engine, clock: Clock): Promise<DaemonStatus[]> {
  const daemons = await readDaemons(engine, clock);
  return daemons.map(({ host, pid, version, started_at, heartbeat_at, slices_per_minute, isSilent }) => ({
    host,
    pid,
    version,
    started_at,
    heartbeat_at,
    state: isSilent ? 'silent' : 'alive',
    slices_per_minute: isSilent ? null : slices_per_minute,
  }));
}
