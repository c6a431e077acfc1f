// Who works the slices of a run. The pull engine hands its slices over and is told how each one ended; whether that
// happened in this process or in another one it does not know.
import type { Log } from '../../core/log.ts';
import type { Engine } from '../../warehouse/engine.ts';
import type { Lease } from '../../warehouse/leases.ts';
import type { AskedPeriod, Slice, SliceOutcome } from '../slice.ts';

/** The run that the slices are of. */
export interface SlicedRun {
  job: string;
  runId: string;
  options: Record<string, unknown>;
  period?: AskedPeriod;
  lease?: Lease;
  log: Log;
  draining?: AbortSignal;
  parts: { engine: Engine };
}

/** The slices of one run, and what is done with them. */
export interface SliceOrder {
  slices: readonly Slice[];
  context: SlicedRun;
  /** Most slices in the memory of one process. */
  atOnce: number;
  /** Works one in this process; never throws. */
  work(slice: Slice): Promise<SliceOutcome>;
  /** Told of every slice that was begun, cut ones and their parts included. */
  take(outcome: SliceOutcome): void;
  /** Aborts when the slices have to end where they stand. */
  signal: AbortSignal;
}

/** What waits to be worked by any process. */
export interface QueueFacts {
  waiting: number;
  active: number;
  /** Slices that were given up because no attempt came to an end, and that no run has read since. */
  dead: number;
}

export interface Dispatcher {
  /** Resolves when the last slice has ended, whoever worked it, or when none may begin any more. */
  dispatch(order: SliceOrder): Promise<void>;
  /** From now on slices of every process's runs are worked here too; otherwise only while a run goes on here. */
  start(): Promise<void>;
  /** Begins no more slices of other processes; those under way get some time, then they are given back. */
  stop(): Promise<void>;
  /** Null where slices never leave the process. */
  facts(): Promise<QueueFacts | null>;
  /** Idempotent and safe before any use. */
  close(): Promise<void>;
}
