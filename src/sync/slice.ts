// A slice of a pull and its outcome. The pull engine and the dispatchers exchange both.
import type { RoadbookError } from '../core/errors.ts';
import type { RunCounts } from '../core/glossary.ts';
import type { Interval, ScopedInterval } from '../warehouse/control/coverage.ts';

/** The smallest unit of pull work: JSON, bounded, and safe to repeat. */
export interface Slice<Work = unknown> {
  /** Describes what the slice reads; unique in a run. */
  scope: string;
  /** Input for the job's `read`. */
  work: Work;
  /**
   * Periods that are covered once the slice is loaded, up to the instant of the read; default: none. If only the next
   * slice is loaded, they become due again.
   */
  covers?: readonly ScopedInterval[];
  /** Calls that can be counted in advance, for --dry-run and for a verification with few calls left; default 1. */
  calls?: number;
  /** Describes the calls that cannot be counted in advance. */
  furtherCalls?: string;
}

export interface AskedPeriod extends Interval {
  /** Continues where the same backfill was interrupted, instead of reading all of it again. */
  resumable: boolean;
}

/** How one slice ended. */
export type SliceOutcome = {
  scope: string;
  counts: RunCounts;
} & (
  | {
      end: 'loaded';
      /** Jobs that should run next: they pull rows that the slice referenced and the warehouse does not have. */
      followUpJobs: string[];
    }
  /** The slice was too large; these slices replace it. */
  | { end: 'cut'; slices: Slice[]; code: string }
  | { end: 'failed'; failure: RoadbookError }
  /** The slice was aborted. It covers nothing, so it is read again. */
  | { end: 'stopped' }
);
