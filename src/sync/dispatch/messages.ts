// The messages of the queue: a slice on its way to a worker, and its outcome on the way back, both as JSON. A failure keeps
// only its class, message, hint and code; its cause stays in the log of the worker.
import { Fatal, isPassing, Retriable, Skippable } from '../../core/errors.ts';
import { storable } from '../../core/text/storable-text.ts';
import type { Lease } from '../../warehouse/control/leases.ts';
import type { RunContext } from '../job.ts';
import type { Slice, SliceOutcome } from '../slice.ts';
import type { SlicedRun } from './dispatcher.ts';

/** The name holds the version of the message format, so that releases with different formats do not share a queue. */
export const QUEUE = 'slices-v2';
export const DEAD = 'slices-v2-dead';

/** A slice with all that another process needs to read it. */
export interface SliceMessage extends Pick<RunContext, 'job' | 'runId' | 'options' | 'period'> {
  slice: Slice;
  /** The lease of the run; a write with an outdated token fails. */
  lease: Lease;
}

export function messageOf(slice: Slice, { job, runId, options, period, lease }: SlicedRun): SliceMessage {
  if (lease === undefined) throw new Fatal(`${job} has no lease to share`, { code: 'unexpected' });
  // Copy only these two: a held lease also refers to its engine, which contains the database password.
  const { name, token } = lease;
  return { job, runId, options, period, lease: { name, token }, slice };
}

type Failed = Extract<SliceOutcome, { end: 'failed' }>;
type FailedJson = Omit<Failed, 'failure'> & {
  /** Earlier releases send no `isPassing`. */
  failure: { isFatal: boolean; isPassing?: boolean; code: string; message: string; hint?: string };
};

export function outcomeToJson(outcome: SliceOutcome): object {
  if (outcome.end !== 'failed') return outcome;
  const { code, message, hint } = outcome.failure;
  const kind = { isFatal: outcome.failure instanceof Fatal, isPassing: isPassing(outcome.failure) };
  const failure = { ...kind, code, message: storable(message), hint };
  return { ...outcome, failure };
}

export function outcomeFromJson(json: object): SliceOutcome {
  const outcome = json as Exclude<SliceOutcome, Failed> | FailedJson;
  if (outcome.end !== 'failed') return outcome;
  const { isFatal, isPassing = false, message, code, hint } = outcome.failure;
  const failure = new (isFatal ? Fatal : isPassing ? Retriable : Skippable)(message, { code, hint });
  return { ...outcome, failure };
}
