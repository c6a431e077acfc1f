// What a queue of slices that several processes share has to offer. Retrying, expiry and priorities are the queue's
// own; who plans, who works and what a slice came to are not its business.
import type { Transaction } from '../../warehouse/engine.ts';
import type { Lease } from '../../warehouse/leases.ts';
import type { RunContext } from '../job.ts';
import type { Slice } from '../pull/pull-job.ts';
import type { QueueFacts } from './dispatcher.ts';

/** A slice with all that another process needs to work it; JSON. */
export interface SliceMessage extends Pick<RunContext, 'job' | 'runId' | 'options' | 'period'> {
  id: string;
  slice: Slice;
  /** The lease of the run: what is written under another token is refused. */
  lease: Lease;
}

export interface Received {
  message: SliceMessage;
  /** Aborts when the queue has given the slice to somebody else, or shuts down. */
  signal: AbortSignal;
}

export interface SliceQueue {
  /** In the caller's transaction; live work is received before backfills. */
  put(tx: Transaction, messages: readonly SliceMessage[]): Promise<void>;
  /** In the caller's transaction; false where the slice was done or cancelled already. */
  complete(tx: Transaction, id: string): Promise<boolean>;
  /** Those that are not done are never given out again, and those under way can no longer be completed. */
  cancel(ids: readonly string[]): Promise<void>;
  /** The ids of a run's slices that wait or are worked on. */
  unfinished(runId: string): Promise<Set<string>>;
  /** Receives up to `atOnce` at a time. A slice whose `work` throws is given out again. */
  receive(atOnce: number, work: (received: Received) => Promise<void>): Promise<void>;
  /** Receives no more; resolves when nothing is worked on. */
  pause(): Promise<void>;
  facts(): Promise<QueueFacts>;
  close(): Promise<void>;
}
