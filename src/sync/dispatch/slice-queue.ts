// What a queue of slices that several processes share has to offer. Giving a slice out again when its worker dies or
// fails, up to a limit, and priorities are the queue's own; who plans, who works and what a slice came to are not its
// business.
import type { Transaction } from '../../warehouse/engine.ts';
import type { Lease } from '../../warehouse/leases.ts';
import type { RunContext } from '../job.ts';
import type { Slice } from '../slice.ts';
import type { QueueFacts } from './dispatcher.ts';

/** A slice with all that another process needs to work it; JSON. */
export interface SliceMessage extends Pick<RunContext, 'job' | 'runId' | 'options' | 'period'> {
  id: string;
  slice: Slice;
  /** Its place in the run, from 0; the parts of a slice that was cut have its own. */
  turn: number;
  /** The lease of the run: what is written under another token is refused. */
  lease: Lease;
}

/** How the work on a slice that was given out ended. */
export type WorkEnd =
  /** It was completed already. */
  | 'settled'
  /** Nobody waits for it: it is not given out again. */
  | 'dropped'
  /** It is given out again, as if it had never been. */
  | 'stopped'
  /** It is given out again, and counted; the last time it is put among the dead. */
  | 'failed';

/** A slice that was given to this worker. It stays this worker's until it ends, or until the worker shows no life. */
export interface Received {
  message: SliceMessage;
  /** Aborts when it is seen that the slice is no longer this worker's; what is written until then is refused. */
  signal: AbortSignal;
  /** In the caller's transaction; where it is false the slice is no longer this worker's, and all is to be undone. */
  complete(tx: Transaction): Promise<boolean>;
  /** To be called once; `code` says why it failed. Changes nothing where the slice is no longer this worker's. */
  end(how: WorkEnd, code?: string): Promise<void>;
}

export interface SliceQueue {
  /**
   * In the caller's transaction. Live work is given out before backfills; among equals those of an earlier turn go first,
   * so that a run of a thousand slices holds up no run of one.
   */
  put(tx: Transaction, messages: readonly SliceMessage[]): Promise<void>;
  /** One that waits, unless it is of one of these jobs. */
  next(except: readonly string[]): Promise<Received | undefined>;
  /** Those that are not done are never given out again, and those under way can no longer be completed. */
  cancel(ids: readonly string[]): Promise<void>;
  /** The ids of a run's slices that wait or are worked on. */
  unfinished(runId: string): Promise<Set<string>>;
  /** Why the last attempt at a slice that was given up failed, in words; undefined where the queue does not have it. */
  lastReason(id: string): Promise<string | undefined>;
  /** The dead of such runs are counted no longer: what they should have read has been read since. */
  forgetDead(of: Pick<SliceMessage, 'job' | 'period'>): Promise<void>;
  facts(): Promise<QueueFacts>;
  close(): Promise<void>;
}
