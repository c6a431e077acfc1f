// What a failed send says about the thing: refused, turned away, not sent, or anything. Pure. Whatever is not a
// clear answer leaves the outcome unknown; only what certainly reached nobody may be sent again without a look.
import { Ambiguous, Fatal, Retriable, type RoadbookError, Skippable } from '../../core/errors.ts';
import { FleetHttpError, saidBy } from '../../fleet/failures.ts';

export type SendFailure =
  /** `isAnswer`: by a status, which something in between may have answered after it was done. */
  | { is: 'refused'; reasons: string[]; isAnswer: boolean }
  /** An answer that should mean that nothing was done; `stop` where no other send can succeed either. */
  | { is: 'turned-away'; stop: boolean }
  /** Nothing reached the service; `stop` where no other send can succeed either. */
  | { is: 'not-sent'; stop: boolean }
  | { is: 'unclear' };

export function sendFailure(thrown: unknown, isAbort: boolean): SendFailure {
  if (isAbort) return { is: 'not-sent', stop: true };
  if (thrown instanceof Ambiguous) return { is: 'unclear' };
  if (thrown instanceof Skippable) return { is: 'refused', reasons: [wordsOf(thrown)], isAnswer: true };
  if (isAnswerToWrite(thrown)) return { is: 'turned-away', stop: thrown instanceof Fatal };
  if (thrown instanceof Retriable) return { is: 'not-sent', stop: thrown.code === 'service_unreachable' };
  // What was not foreseen may have happened after the last byte left.
  if (!(thrown instanceof Fatal) || thrown.code === 'unexpected') return { is: 'unclear' };
  // The request itself broke a rule of the call: it never left, and never will as it is.
  return thrown.code === 'request_invalid'
    ? { is: 'refused', reasons: [thrown.message], isAnswer: false }
    : { is: 'not-sent', stop: true };
}

/** A login that was answered is not one: the write itself had not left yet. */
const isAnswerToWrite = (thrown: unknown): boolean =>
  thrown instanceof Error && thrown.cause instanceof FleetHttpError && thrown.cause.kind === 'write';

/** The refusal, with what the service said about it. */
function wordsOf(error: RoadbookError): string {
  const said = saidBy(error);
  return said === undefined ? error.message : `${error.message}: ${said}`;
}

/** What the next round of a run may overcome: a token that has been replaced, a pause that has passed. */
const PASSING = ['unauthorised', 'throttled'];

export const isPassing = ({ code }: RoadbookError): boolean => PASSING.includes(code);

export function statusOf(thrown: unknown): number | null {
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  return cause instanceof FleetHttpError ? cause.status : null;
}

const FIRST_DELAY_MS = 30_000;
const LONGEST_DELAY_MS = 3_600_000;

/** How long an entry that could not be sent waits: doubling with its attempts, up to an hour. */
export const retryDelayMs = (attempts: number): number =>
  Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(attempts - 1, 20));
