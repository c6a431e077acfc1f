// A slice of a pull and how it ended, as the pull engine and the dispatchers exchange it.
import type { RoadbookError } from '../core/errors.ts';
import type { RunCounts } from '../core/glossary.ts';
import type { Interval } from '../warehouse/coverage.ts';

/** The smallest unit of pull work: JSON, bounded, and safe to repeat. */
export interface Slice<Work = unknown> {
  /** What is read, in the words of the job; unique in a run. */
  scope: string;
  /** What `read` needs to know. */
  work: Work;
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
    | { end: 'cut'; parts: Slice[]; code: string }
    | { end: 'failed'; failure: RoadbookError }
    /** It was told to stop, and has written nothing. */
    | { end: 'stopped' }
  );

export interface SliceFacts {
  scope: string;
  counts: RunCounts;
  /** Ids of dimensions that its rows name, in the order of the job's mentions. */
  named: number[][];
  /** What its records name by a label that nothing has; none unless told. */
  unknown?: UnknownName[];
}
