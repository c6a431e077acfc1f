// Who works the slices of a run: this process alone (local.ts), or all processes on one PostgreSQL (pg-boss.ts). The pull
// engine hands its slices over and gets the outcome of each; it does not know which process worked it.
import type { Log } from '../../core/log.ts';
import type { Lease } from '../../warehouse/control/leases.ts';
import type { Engine } from '../../warehouse/engine.ts';
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
  dependencies: { engine: Engine };
}

/** The slices of one run. */
export interface SliceWork {
  slices: readonly Slice[];
  context: SlicedRun;
  /** Most slices in the memory of one process. */
  atOnce: number;
  /** Works one in this process; never throws. */
  work(slice: Slice): Promise<SliceOutcome>;
  /** Called with the outcome of every slice that was begun, cut ones and their parts included. */
  take(outcome: SliceOutcome): void;
  /** Aborts when the slices have to end where they stand. */
  signal: AbortSignal;
}

/** The slices in the queue. */
export interface QueueFacts {
  waiting: number;
  active: number;
  /** Slices whose attempts all failed, and that no run has read since. */
  dead: number;
}

export interface Dispatcher {
  /** Resolves when the last slice has ended, in whichever process, or when none may begin any more. */
  dispatch(order: SliceWork): Promise<void>;
  /** From now on this process works slices of every process's runs; without it, from its own first run on. */
  start(): Promise<void>;
  /** Begins no more slices of the queue; those under way get some time, then they go back to it. */
  stop(): Promise<void>;
  /** Null where slices never leave the process. */
  facts(): Promise<QueueFacts | null>;
  /** Idempotent and safe before any use. */
  close(): Promise<void>;
}
