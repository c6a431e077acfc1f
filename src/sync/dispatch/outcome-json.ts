// How a slice ended, as JSON and back: it may have been worked in another process. Of a failure its kind, its words
// and its code survive; what caused it stays in the log of the process that met it.
import { Fatal, type RoadbookError, Skippable } from '../../core/errors.ts';
import type { SliceOutcome } from '../slice.ts';

interface FailureFacts {
  isFatal: boolean;
  code: string;
  message: string;
  hint?: string;
}

type Told = Exclude<SliceOutcome, { end: 'failed' }> | { end: 'failed'; failure: FailureFacts };

export function outcomeToJson(outcome: SliceOutcome): object {
  if (outcome.end !== 'failed') return outcome;
  const { code, message, hint } = outcome.failure;
  return { ...outcome, failure: { isFatal: outcome.failure instanceof Fatal, code, message, hint } };
}

export function outcomeFromJson(json: unknown): SliceOutcome {
  const told = json as Told;
  return told.end === 'failed'
    ? ({ ...told, failure: failureFrom(told.failure) } as SliceOutcome)
    : (told as SliceOutcome);
}

const failureFrom = ({ isFatal, code, message, hint }: FailureFacts): RoadbookError =>
  isFatal ? new Fatal(message, { code, hint }) : new Skippable(message, { code, hint });
