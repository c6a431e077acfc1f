// What follows from an answer, or from a decision of a read-back: the entry as it is then, and the line of its history.
// Pure. An outcome that is not a clear answer leaves the entry unknown.
import { isoInstant } from '../../core/clock.ts';
import * as errors from '../../core/errors.ts';
import { FleetHttpError, saidBy } from '../../fleet/failures.ts';
import type { AttemptOutcome } from '../../warehouse/outbox/attempts.ts';
import { type OutboxEntry, type Place, reasonsText } from '../../warehouse/outbox/entry.ts';
import { type EntryChange, type TransitionName, transition } from '../../warehouse/outbox/transitions.ts';
import type { Decision } from './decide.ts';
import type { PushKind, Verdict } from './kind.ts';
import type { Outcome } from './store.ts';

export interface Facts {
  kind: Pick<PushKind, 'change' | 'noun' | 'failed'>;
  /** ISO instant of now. */
  at: string;
  redact(text: string): string;
}

/** A send that is over. */
export type Answer = { verdict: Verdict } | { thrown: unknown; isAbort: boolean };

export interface Sent extends Outcome {
  /** No other send can succeed either. */
  stop: boolean;
  /** Why the service did nothing, where it did not. */
  failure?: errors.RoadbookError;
}

/** `before` is the entry as it was before it was claimed. */
export function afterSend(claimed: OutboxEntry, before: OutboxEntry, answer: Answer, facts: Facts): Sent {
  const what = claimed.remote_id === null ? ('create' as const) : ('change' as const);
  const sent = (
    entry: OutboxEntry,
    outcome: AttemptOutcome,
    message: string | null,
    more: object = {},
  ): Sent => ({
    before: claimed,
    entry,
    attempt: { what, outcome, message, startedAt: claimed.sent_at ?? facts.at, ...more },
    stop: false,
  });
  if ('thrown' in answer) return afterFailure(claimed, before, answer, facts, sent);
  const { verdict } = answer;
  if (verdict.is === 'unclear')
    return reported(sent(unclearSend(claimed, verdict.message, facts.at), 'unclear', verdict.message));
  const reasons = verdict.reasons.map(facts.redact);
  if (verdict.is === 'rejected') {
    const change = { sent_hash: before.sent_hash, message: REJECTED, reasons: reasonsText(reasons) };
    return sent(transition(claimed, 'reject', facts.at, change), 'rejected', reasons.join('; '));
  }
  const message = reasons.length === 0 ? null : `Accepted in part; ${reasons.length} rejected`;
  const entry = transition(claimed, 'confirm', facts.at, {
    remote_id: verdict.id ?? claimed.remote_id,
    confirmed_at: facts.at,
    attention: twiceOnly(claimed),
    message,
    reasons: reasonsText(reasons),
  });
  return sent(entry, 'accepted', message === null ? null : [message, ...reasons].join('; '));
}

const REJECTED = 'Rejected by the service';

/** An unclear change waits as ready: the run says so, since no read-back will. */
function reported(sent: Sent): Sent {
  if (sent.entry.state !== 'ready') return sent;
  const hint = 'The change is made again; npx roadbook outbox list shows when.';
  return {
    ...sent,
    failure: new errors.Skippable(sent.entry.message ?? '', { code: 'answer_unclear', hint }),
  };
}

type MakeSent = (entry: OutboxEntry, outcome: AttemptOutcome, message: string, more: object) => Sent;

function afterFailure(
  claimed: OutboxEntry,
  before: OutboxEntry,
  { thrown, isAbort }: { thrown: unknown; isAbort: boolean },
  { at, redact }: Facts,
  sent: MakeSent,
): Sent {
  const failure = errors.asRoadbookError(thrown);
  const http_status = statusOf(thrown);
  const more = { error_code: isAbort ? 'stopped' : failure.code, http_status };
  const message = isAbort ? 'Stopped before it was sent' : redact(failure.message);
  const isFatal = failure instanceof errors.Fatal;
  // What certainly did not reach the service was not sent.
  const unsent = { sent_hash: before.sent_hash };
  switch (meaningOf(thrown, isAbort)) {
    case 'unclear':
      return reported(sent(unclearSend(claimed, message, at), 'unclear', message, more));
    case 'rejected': {
      const said = saidBy(failure);
      const reason = said === undefined ? message : `${message}: ${redact(said)}`;
      // A status may have been answered after the work was done: what was sent stays known for a read-back.
      const kept = http_status === null ? unsent : {};
      const change = { ...kept, message: REJECTED, reasons: reasonsText([reason]) };
      return sent(transition(claimed, 'reject', at, change), 'rejected', reason, more);
    }
    case 'turned-away': {
      // The first time it is sent again in the same run: by then a token is renewed, or a pause over.
      const isPassing = ['unauthorised', 'throttled'].includes(failure.code) && before.attempts === 0;
      const next_attempt_at = isPassing ? null : nextAttempt(claimed, at);
      const entry = transition(claimed, 'release', at, {
        message,
        next_attempt_at,
        attention: attentionAfter(claimed),
      });
      return { ...sent(entry, 'turned-away', message, more), stop: isFatal, failure };
    }
    case 'not-sent': {
      const next_attempt_at = isAbort ? null : nextAttempt(claimed, at);
      const change = { ...unsent, message, next_attempt_at, attention: attentionAfter(claimed) };
      const entry = transition(claimed, 'release', at, change);
      const stop = isAbort || isFatal || failure.code === 'service_unreachable';
      return { ...sent(entry, 'not-sent', message, more), stop, ...(!isAbort && { failure }) };
    }
  }
}

function meaningOf(thrown: unknown, isAbort: boolean): 'rejected' | 'unclear' | 'turned-away' | 'not-sent' {
  if (isAbort) return 'not-sent';
  if (thrown instanceof errors.Ambiguous) return 'unclear';
  if (thrown instanceof errors.Skippable) return 'rejected';
  if (isAnswerToWrite(thrown)) return 'turned-away';
  if (thrown instanceof errors.Retriable) return 'not-sent';
  // What was not foreseen may have happened after the last byte left.
  if (!(thrown instanceof errors.Fatal) || thrown.code === 'unexpected') return 'unclear';
  return thrown.code === 'request_invalid' ? 'rejected' : 'not-sent';
}

const httpError = (thrown: unknown): FleetHttpError | undefined =>
  thrown instanceof Error && thrown.cause instanceof FleetHttpError ? thrown.cause : undefined;

const statusOf = (thrown: unknown): number | null => httpError(thrown)?.status ?? null;

/** An answer to a login is none: the write itself had not left yet. */
const isAnswerToWrite = (thrown: unknown): boolean => httpError(thrown)?.kind === 'write';

const FIRST_DELAY_MS = 30_000;
const LONGEST_DELAY_MS = 3_600_000;

/** How long an entry that could not be sent waits: doubling with its attempts, up to an hour. */
export const retryDelayMs = (attempts: number): number =>
  Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(attempts - 1, 20));

const after = (at: string, ms: number): string => isoInstant(Date.parse(at) + ms);
const nextAttempt = ({ attempts }: OutboxEntry, at: string): string => after(at, retryDelayMs(attempts));

/** Sent so often without success that a person should know; it is tried again all the same. */
const attentionAfter = (claimed: OutboxEntry): OutboxEntry['attention'] =>
  claimed.attempts >= MOST_UNCLEAR_SENDS ? 'retries_exhausted' : twiceOnly(claimed);

/** That the service has an item twice is not over before a listing shows it once. */
export const twiceOnly = ({ attention }: OutboxEntry): OutboxEntry['attention'] =>
  attention === 'found_twice' ? attention : null;

/** A change of a known item may simply be made again; whether a new item was created has to be read back. */
export function unclearSend(claimed: OutboxEntry, message: string, at: string): OutboxEntry {
  if (claimed.remote_id !== null)
    return transition(claimed, 'release', at, {
      message,
      next_attempt_at: nextAttempt(claimed, at),
      attention: attentionAfter(claimed),
    });
  const unclear_sends = claimed.unclear_sends + 1;
  return transition(claimed, 'becomeUnknown', at, {
    message,
    unknown_since: claimed.unknown_since ?? at,
    unclear_sends,
  });
}

/** So many sends without a clear answer, and no read-back showed one of them: a person has to look. */
const MOST_UNCLEAR_SENDS = 5;
/** An entry that needs a person is read back again after this long. */
const CHECK_AGAIN_MS = 600_000;
const BY_HAND = 'look at the service; if it is not there: npx roadbook outbox retry CODE --not-there';

/** Undefined where the decision changes nothing. */
export function afterReadBack(
  before: OutboxEntry,
  decision: Decision,
  facts: Facts,
  own: Place | undefined,
): Outcome | undefined {
  const { at } = facts;
  const outcome = (
    name: TransitionName,
    is: AttemptOutcome,
    message: string,
    change: EntryChange = {},
  ): Outcome => ({
    before,
    entry: transition(before, name, at, { message, ...change }),
    attempt: { what: 'read-back', outcome: is, message, startedAt: at },
  });
  switch (decision.is) {
    case 'found':
      return found(before, decision, facts, own);
    case 'too-early': {
      const attention = before.attention === 'inconclusive' ? null : before.attention;
      const message = 'Not shown by the service, but that may be too early to say';
      return outcome('note', 'absent', message, { absent_since: decision.since, attention });
    }
    case 'inconclusive':
      return outcome('note', 'inconclusive', `${decision.why}; ${BY_HAND}`, {
        absent_since: null,
        attention: contentAttention(before) ?? 'inconclusive',
      });
    case 'never-shown':
      return outcome('note', 'absent', `The service accepted it and no listing shows it; ${BY_HAND}`, {
        attention: contentAttention(before) ?? 'never_shown',
        next_attempt_at: after(at, CHECK_AGAIN_MS),
      });
    case 'absent': {
      const sends = before.unclear_sends;
      if (sends >= MOST_UNCLEAR_SENDS)
        return outcome(
          'note',
          'absent',
          `Sent ${sends} times without a clear answer, and not shown; ${BY_HAND}`,
          {
            attention: 'retries_exhausted',
          },
        );
      if (own !== undefined)
        return outcome('believeAbsent', 'absent', 'The service does not have it; it is sent', own);
      const message =
        'The service does not have it, and the content that the ERP offered since cannot be sent';
      return outcome('reject', 'absent', message, { sent_hash: null, attention: null, unclear_sends: 0 });
    }
    default:
      return undefined;
  }
}

function found(
  before: OutboxEntry,
  { record, others, isSame }: Decision & { is: 'found' },
  { kind, at }: Facts,
  own: Place | undefined,
): Outcome | undefined {
  const canChange = kind.change !== undefined;
  const isCompared = canChange && own !== undefined;
  // That the item is there does not tell whether the rejected change is.
  if (before.state === 'rejected' && canChange && !(isCompared && isSame)) return undefined;
  const shown = { remote_id: record.id, remote_status: record.status, seen_at: before.seen_at ?? at };
  const attempt = { what: 'read-back', outcome: 'found', startedAt: at } as const;
  const warning = warningOf(before, record, others, kind);
  if (isCompared && !isSame) {
    const message = warning.message ?? 'Found at the service with another content';
    return {
      before,
      entry: transition(before, 'update', at, { ...shown, ...own, ...warning }),
      attempt: { ...attempt, message },
    };
  }
  // What the service has: the present content where it was compared, else what was sent; any content where neither is known.
  const sent_hash = isCompared
    ? before.content_hash
    : (before.sent_hash ?? (isSame ? before.content_hash : ''));
  const known = { ...shown, ...warning, sent_hash };
  if (before.state === 'confirmed') return seen(before, known, at);
  const isCurrent = sent_hash === before.content_hash;
  const message = known.message ?? foundMessage(before, isCurrent);
  const change = { ...known, confirmed_at: at, message, reasons: isCurrent ? null : before.reasons };
  const entry = transition(before, 'confirm', at, change);
  return { before, entry, attempt: { ...attempt, message: message ?? 'Found at the service' } };
}

export const CHANGED_AFTER_PUSH = 'The ERP changed it after the service had it; the service cannot change it';

function foundMessage({ state, attempts }: OutboxEntry, isCurrent: boolean): string | null {
  if (state === 'rejected') return 'The service has it, though it answered that it rejected it';
  if (attempts > 0) return isCurrent ? null : CHANGED_AFTER_PUSH;
  return `The service had it already${isCurrent ? '' : ' with another content'}; it was not sent`;
}

/** What a person has to know of what is there. */
function warningOf(
  before: OutboxEntry,
  { id, status }: { id: number; status: string | null },
  others: readonly number[],
  { failed }: Facts['kind'],
): { attention: OutboxEntry['attention']; message?: string } {
  if (others.length > 0) {
    const ids = [id, ...others];
    const message = `The service has it ${ids.length} times: ${ids.join(', ')}; remove all but one there`;
    return { attention: 'found_twice', message };
  }
  const isFailed = failed !== undefined && failed.status === status;
  return { attention: contentAttention(before), ...(isFailed && { message: failed.message }) };
}

/** What the service shows changes nothing about a content that cannot be sent. */
const contentAttention = ({ attention }: OutboxEntry): OutboxEntry['attention'] =>
  attention === 'read_error' || attention === 'invalid_change' ? attention : null;

/** A confirmed entry is shown: its identifier and status become known, and what worried a person may be over. */
function seen(
  before: OutboxEntry,
  known: EntryChange & { attention: OutboxEntry['attention'] },
  at: string,
): Outcome | undefined {
  const isOver = before.attention !== null && known.attention === null;
  const message = known.message ?? (isOver ? null : before.message);
  const isNews =
    before.remote_id === null || known.attention !== before.attention || message !== before.message;
  const isSame = before.seen_at !== null && known.remote_status === before.remote_status;
  if (!isNews && isSame && known.attention === null) return undefined;
  const next_attempt_at = known.attention === null ? null : after(at, CHECK_AGAIN_MS);
  const acknowledged = isNews ? { told_at: null } : before.told_at === null ? {} : { erp_code: null };
  const change = { ...known, ...acknowledged, message, next_attempt_at, payload: null };
  return { before, entry: transition(before, 'note', at, change) };
}
