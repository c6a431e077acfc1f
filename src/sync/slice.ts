// A slice of a pull and how it ended, as the pull engine and the dispatchers exchange it.
import type { RoadbookError } from '../core/errors.ts';
import type { RunCounts } from '../core/glossary.ts';
import type { Interval, ScopedInterval } from '../warehouse/control/coverage.ts';

/** The smallest unit of pull work: JSON, bounded, and safe to repeat. */
export interface Slice<Work = unknown> {
  /** What is read, in the words of the job; unique in a run. */
  scope: string;
  /** What `read` needs to know. */
  work: Work;
  /** What is covered once it is loaded, as far as it has passed by then; default: nothing. */
  covers?: readonly ScopedInterval[];
  /** Other slices move the edge of what it covers on: if it fails, all of that is due again, however old it becomes. */
  staysDue?: boolean;
  /** Calls that it makes as far as they can be known beforehand, for --dry-run; default 1. */
  calls?: number;
  /** Calls that cannot be known beforehand, in words. */
  furtherCalls?: string;
}

export interface AskedPeriod extends Interval {
  /** Goes on where the same backfill was cut, instead of reading all of it again. */
  resumable: boolean;
}

export interface UnknownName {
  /** Name of the job that may bring it. */
  job: string;
  /** Since when it is not known: a pull that began then or later did not bring it. */
  metAt: string;
}

/** How one slice ended. */
export type SliceOutcome = SliceFacts &
  (
    | { end: 'loaded' }
    /** It was too large: these take its place. */
    | { end: 'cut'; slices: Slice[]; code: string }
    | { end: 'failed'; failure: RoadbookError }
    /** It was told to stop, and has written nothing. */
    | { end: 'stopped' }
  );

export interface SliceFacts {
  scope: string;
  counts: RunCounts;
  /** Ids of dimensions that its rows name, in the order of the job's references. */
  named: number[][];
  /** What its records name by a label that nothing has; none unless told. */
  unknown?: UnknownName[];
}
