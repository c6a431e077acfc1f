// The metadata of a load that took no time: it was read at the instant at which it is stored.
import type { LoadMetadata } from '../../../src/warehouse/engine.ts';

export const metadataAt = (runId: string, at: string): LoadMetadata => ({ runId, at, readAt: at });
