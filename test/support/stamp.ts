// The stamp of a load that took no time: it was read at the instant at which it is stored.
import type { Stamp } from '../../src/warehouse/engine.ts';

export const stampAt = (runId: string, at: string): Stamp => ({ runId, at, readAt: at });
