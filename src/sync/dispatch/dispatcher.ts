// Distributes the slices of a run: to this process alone (local.ts), or to all processes on one PostgreSQL (pg-boss.ts).
// The pull engine hands over its slices and gets the outcome of each. It does not know which process read a slice.
import type { Log } from '../../core/log.ts';
import type { Lease } from '../../warehouse/control/leases.ts';
import type { AskedPeriod, Slice, SliceOutcome } from '../slice.ts';

export interface SlicedRun {
  job: string;
  runId: string;
  options: Record<string, unknown>;
  period?: AskedPeriod;
  lease?: Lease;
  log: Log;
  draining?: AbortSignal;
}

/** The slices of one run. */
export interface SliceWork {
  slices: readonly Slice[];
  context: SlicedRun;
  /** Most slices in the memory of one process. */
  atOnce: number;
  /** The slice waits for the current slices of every run. */
  isHistory(slice: Slice): boolean;
  /** Reads one slice in this process; never throws. */
  work(slice: Slice): Promise<SliceOutcome>;
  /** Called with the outcome of every slice that was started, including slices that were cut and their parts. */
  take(outcome: SliceOutcome): void;
  /** Aborts when the slices must stop at once. */
  signal: AbortSignal;
}

/** Counts of slices in the queue. */
export interface QueueFacts {
  waiting: number;
  active: number;
  /** Slices whose attempts all failed and that no later run has read. */
  dead: number;
}

export interface Dispatcher {
  /** Resolves when the last slice has ended, in any process, or when no further slice may start. */
  dispatch(work: SliceWork): Promise<void>;
  /** Starts to work on slices of all processes' runs. Without this call, that starts with the first own run. */
  start(): Promise<void>;
  /** Starts no more slices, for good. Slices in progress get a grace period, then return to the queue. */
  stop(): Promise<void>;
  /** Null if slices never leave the process. */
  facts(): Promise<QueueFacts | null>;
  /** Idempotent, and safe before any use. */
  close(): Promise<void>;
}
