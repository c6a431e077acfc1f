// Derives the next entry, and the line of its history, from an answer to a send or from the decision of a read-back. Pure,
// except `storeOutcomes`, which writes both, and `countOutcomes`. After an unclear answer to a create, the entry is unknown.
import * as errors from '../../core/errors.ts';
import { isoInstant } from '../../core/time/clock.ts';
import { FleetHttpError, serviceMessage } from '../../fleet/transport/failures.ts';
import type { Transaction } from '../../warehouse/engine.ts';
import { type Attempt, type AttemptOutcome, type Step, storeSteps } from '../../warehouse/outbox/attempts.ts';
import {
  type Attention,
  hasUnusableContent,
  isChangedAfterPush,
  isPartial,
  type OutboxEntry,
  type Place,
  reasonsText,
} from '../../warehouse/outbox/entry.ts';
import { type EntryChange, type TransitionName, transition } from '../../warehouse/outbox/transitions.ts';
import type { Decision } from './decide.ts';
import type { PushKind, PushRun, Verdict } from './kind.ts';

export interface Facts {
  kind: Pick<PushKind, 'change' | 'noun' | 'failed'>;
  /** The current ISO instant. */
  at: string;
  redact(text: string): string;
}

export const factsOf = ({ kind, context, now }: PushRun): Facts => ({
  kind,
  at: now(),
  redact: context.dependencies.redactor.redact,
});

/** An entry before and after a step of the run. */
export interface Outcome extends Step {
  before: OutboxEntry;
}

/**
 * Resolves to the outcomes that were stored. The other entries were changed by a person in the meantime. The run counts
 * what was stored only after the transaction, which may still fail.
 */
export async function storeOutcomes<T extends Outcome>(
  tx: Transaction,
  { context, now }: PushRun,
  outcomes: readonly T[],
): Promise<T[]> {
  const { log, runId } = context;
  const stored = await storeSteps(tx, outcomes, runId, now());
  if (stored.length < outcomes.length)
    log.warn({ entries: outcomes.length - stored.length }, 'entries changed before their outcome was stored');
  return stored;
}

/** A person has to look at it, whether or not it also lacks some of its stops. */
export const differsFromErp = (entry: OutboxEntry): boolean => isChangedAfterPush(entry) && entry.attention === null;

export function countOutcomes({ context, partial, differing }: PushRun, stored: readonly Outcome[]): void {
  const { counts } = context;
  for (const { before, entry } of stored) {
    if (differsFromErp(entry) && !differsFromErp(before)) differing.add(entry.external_code);
    if (before.state === entry.state) continue;
    if (entry.state === 'confirmed') counts.confirmed++;
    if (isPartial(entry)) partial.push(entry.external_code);
    if (entry.state === 'rejected') counts.rejected++;
  }
}

/** How a send ended. */
export type Answer = { verdict: Verdict } | { thrown: unknown; isAbort: boolean };

export interface Sent extends Outcome {
  /** No other send of this run can succeed. */
  stop: boolean;
  /** Why the service did not process the send, if it did not. */
  failure?: errors.RoadbookError | undefined;
}

type History = Pick<Attempt, 'outcome' | 'message' | 'error_code' | 'http_status'>;
type Result = { entry: OutboxEntry } & History & Partial<Pick<Sent, 'stop' | 'failure'>>;

/** `before` is the entry before it was claimed. */
export function afterSend(claimed: OutboxEntry, before: OutboxEntry, answer: Answer, facts: Facts): Sent {
  const result =
    'thrown' in answer
      ? afterFailure(claimed, before, answer, facts)
      : afterVerdict(claimed, before, answer.verdict, facts);
  const { entry, stop = false, failure, ...history } = result;
  const what = claimed.remote_id === null ? ('create' as const) : ('change' as const);
  const attempt = { what, started_at: claimed.sent_at ?? facts.at, ...history };
  return { before: claimed, entry, attempt, stop, failure };
}

export const REJECTED = 'Rejected by the service';

function afterVerdict(claimed: OutboxEntry, before: OutboxEntry, verdict: Verdict, { at, redact }: Facts): Result {
  if (verdict.is === 'unclear') return unclear(claimed, verdict.message, at);
  const reasons = verdict.reasons.map(redact);
  if (verdict.is === 'rejected') {
    const change = { sent_hash: before.sent_hash, message: REJECTED, reasons: reasonsText(reasons) };
    const entry = transition(claimed, 'reject', at, change);
    return { entry, outcome: 'rejected', message: reasons.join('; ') };
  }
  const message = reasons.length === 0 ? null : `Accepted in part; ${reasons.length} rejected`;
  const entry = transition(claimed, 'confirm', at, {
    remote_id: verdict.id ?? claimed.remote_id,
    confirmed_at: at,
    attention: keepFoundTwice(claimed),
    message,
    reasons: reasonsText(reasons),
  });
  return { entry, outcome: 'accepted', message: message === null ? null : [message, ...reasons].join('; ') };
}

/** A change of a known item may be repeated. Whether a new item was created must be read back. */
function unclear(claimed: OutboxEntry, message: string, at: string): Result {
  const history = { outcome: 'unclear', message } as const;
  if (claimed.remote_id === null) {
    const unknown_since = claimed.unknown_since ?? at;
    const change = { message, unknown_since, unclear_sends: claimed.unclear_sends + 1 };
    return { entry: transition(claimed, 'becomeUnknown', at, change), ...history };
  }
  // The run reports the change, because no read-back will.
  const hint = 'The change is sent again; npx roadbook outbox list shows when.';
  const failure = new errors.Skippable(message, { code: 'answer_unclear', hint });
  return { entry: postponed(claimed, message, at), ...history, failure };
}

function afterFailure(
  claimed: OutboxEntry,
  before: OutboxEntry,
  { thrown, isAbort }: { thrown: unknown; isAbort: boolean },
  { at, redact }: Facts,
): Result {
  const failure = errors.asRoadbookError(thrown);
  const { code } = failure;
  const http_status = httpError(thrown)?.status ?? null;
  const history = { error_code: isAbort ? 'stopped' : code, http_status };
  const message = isAbort ? 'Stopped before it was sent' : redact(failure.message);
  // A send that did not reach the service leaves `sent_hash` as it was before the claim.
  const unsent = { sent_hash: before.sent_hash };
  const outcome = classify(thrown, isAbort);
  if (outcome === 'unclear') return { ...unclear(claimed, message, at), ...history };
  if (outcome === 'rejected') {
    const said = serviceMessage(failure);
    const reason = said === undefined ? message : `${message}: ${redact(said)}`;
    // The service may have done the work before it answered with an error status, so `sent_hash` is kept for a read-back.
    const kept = http_status === null ? unsent : {};
    const change = { ...kept, message: REJECTED, reasons: reasonsText([reason]) };
    return { entry: transition(claimed, 'reject', at, change), outcome, message: reason, ...history };
  }
  const isNotSent = outcome === 'not-sent';
  // After the first such failure the entry is sent again in the same run: by then the token is renewed or the pause is over.
  const isSentAgainInThisRun = !isNotSent && ['unauthorised', 'throttled'].includes(code) && before.failed_sends === 0;
  const entry = postponed(claimed, message, at, {
    ...(isNotSent && unsent),
    ...(isSentAgainInThisRun && { next_attempt_at: null }),
    // A stop is no failure.
    ...(isAbort && { next_attempt_at: null, failed_sends: before.failed_sends, attention: before.attention }),
  });
  const stop = isAbort || failure instanceof errors.Fatal || code === 'service_unreachable';
  return { entry, outcome, message, ...history, stop, failure: isAbort ? undefined : failure };
}

function classify(thrown: unknown, isAbort: boolean): 'rejected' | 'unclear' | 'turned-away' | 'not-sent' {
  if (isAbort) return 'not-sent';
  if (thrown instanceof errors.Ambiguous) return 'unclear';
  if (thrown instanceof errors.Skippable) return 'rejected';
  // An error answer to a login is not one to the write, which had not been sent yet.
  if (httpError(thrown)?.kind === 'write') return 'turned-away';
  if (thrown instanceof errors.Retriable) return 'not-sent';
  // An unexpected error may have happened after the last byte was sent.
  if (!(thrown instanceof errors.Fatal) || thrown.code === 'unexpected') return 'unclear';
  return thrown.code === 'request_invalid' ? 'rejected' : 'not-sent';
}

const httpError = (thrown: unknown): FleetHttpError | undefined =>
  thrown instanceof Error && thrown.cause instanceof FleetHttpError ? thrown.cause : undefined;

/** After so many sends without a clear answer, none of them shown by a read-back, a person must check the service. */
const MOST_UNCLEAR_SENDS = 5;

/** After so many failed sends in a row the entry needs a person; it is still sent again. */
const MOST_FAILED_SENDS = 5;

/** Sends the entry again after a delay: in the first run after it. */
function postponed(claimed: OutboxEntry, message: string, at: string, change: EntryChange = {}): OutboxEntry {
  const failed_sends = claimed.failed_sends + 1;
  const next_attempt_at = after(at, sendDelayMs(failed_sends));
  const attention = failed_sends >= MOST_FAILED_SENDS ? 'retries_exhausted' : keepFoundTwice(claimed);
  return transition(claimed, 'release', at, { message, failed_sends, next_attempt_at, attention, ...change });
}

const FIRST_DELAY_MS = 30_000;
const LONGEST_DELAY_MS = 3_600_000;

/** How long an entry that could not be sent waits: doubles with each failure in a row, up to an hour. */
export const sendDelayMs = (failures: number): number =>
  Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(failures - 1, 20));

const after = (at: string, ms: number): string => isoInstant(Date.parse(at) + ms);

/** `found_twice` ends only when a listing shows the item once. */
export const keepFoundTwice = ({ attention }: OutboxEntry): Attention | null =>
  attention === 'found_twice' ? attention : null;

/** An entry that needs a person is read back again after this long. */
const CHECK_AGAIN_MS = 600_000;
const BY_HAND = 'check the service; if it is not there: npx roadbook outbox retry CODE --not-there';

/** Undefined if the decision changes nothing. `own` is the place of the current content, if that is still stored. */
export function afterReadBack(
  before: OutboxEntry,
  decision: Decision,
  facts: Facts,
  own: Place | undefined,
): Outcome | undefined {
  const { at } = facts;
  const notShown = (name: TransitionName, message: string, change: EntryChange) =>
    readBackOutcome(before, name, at, 'absent', message, change);
  switch (decision.is) {
    case 'found':
      return found(before, decision, facts, own);
    case 'too-early': {
      const attention = before.attention === 'inconclusive' ? null : before.attention;
      const message = 'Not shown by the service yet; it is read back again before it counts as absent';
      return notShown('note', message, { absent_since: decision.since, attention });
    }
    case 'inconclusive': {
      const attention = contentAttention(before) ?? 'inconclusive';
      const change = { absent_since: null, attention };
      return readBackOutcome(before, 'note', at, 'inconclusive', `${decision.why}; ${BY_HAND}`, change);
    }
    case 'never-shown': {
      const attention = contentAttention(before) ?? 'never_shown';
      const message = `The service accepted it, but no listing shows it; ${BY_HAND}`;
      return notShown('note', message, { attention, next_attempt_at: after(at, CHECK_AGAIN_MS) });
    }
    case 'absent': {
      const sends = before.unclear_sends;
      if (sends >= MOST_UNCLEAR_SENDS) {
        const message = `Sent ${sends} times without a clear answer, and not shown; ${BY_HAND}`;
        return notShown('note', message, { attention: 'retries_exhausted' });
      }
      if (own !== undefined)
        return notShown('believeAbsent', 'The service does not have it; it will be sent again', own);
      const message = 'The service does not have it, and the content that the ERP offers now cannot be sent';
      return notShown('reject', message, { sent_hash: null, unclear_sends: 0 });
    }
    default:
      return undefined;
  }
}

/** `message` goes to the history, and to the entry unless `change` has its own. */
const readBackOutcome = (
  before: OutboxEntry,
  name: TransitionName,
  at: string,
  outcome: AttemptOutcome,
  message: string,
  change: EntryChange,
): Outcome => ({
  before,
  entry: transition(before, name, at, { message, ...change }),
  attempt: { what: 'read-back', outcome, message, started_at: at },
});

function found(
  before: OutboxEntry,
  { record, others, isSame, missing = [], isUncompared = false }: Decision & { is: 'found' },
  { kind, at, redact }: Facts,
  own: Place | undefined,
): Outcome | undefined {
  const canChange = kind.change !== undefined;
  const isCompared = canChange && own !== undefined;
  // The service has the item, but that does not show whether it has the rejected change.
  if (before.state === 'rejected' && canChange && !(isCompared && isSame)) return undefined;
  const warning = warningOf(before, [record.id, ...others], record.status, kind);
  const { attention } = warning;
  const seen_at = before.seen_at ?? at;
  const shown = { remote_id: record.id, remote_status: record.status, seen_at, attention };
  if (isCompared && !isSame) {
    const message = warning.message ?? 'Found at the service with different content';
    const change = { ...shown, ...own, message: warning.message };
    return readBackOutcome(before, 'update', at, 'found', message, change);
  }
  // The content at the service: the current content if it was compared, else the content last sent. If neither is known,
  // an empty hash, which differs from every content.
  const sent_hash = isCompared ? before.content_hash : (before.sent_hash ?? (isSame ? before.content_hash : ''));
  if (before.state === 'confirmed') return seen(before, { ...shown, sent_hash }, warning.message, at);
  const isCurrent = sent_hash === before.content_hash;
  const partial = missing.length === 0 ? null : FOUND_IN_PART;
  const message = warning.message ?? partial ?? (isUncompared ? UNCOMPARED : foundMessage(before, isCurrent));
  // Unless they say why the present content cannot be used, those of content that was not sent say nothing about the item.
  const kept = hasUnusableContent({ ...before, attention }) ? before.reasons : null;
  const reasons = isCurrent ? reasonsText(missing.map(redact)) : kept;
  const change = { ...shown, sent_hash, confirmed_at: at, message, reasons };
  return readBackOutcome(before, 'confirm', at, 'found', message ?? 'Found at the service', change);
}

const FOUND_IN_PART = 'Found at the service; parts may be missing, see the reasons';
const UNCOMPARED = 'The service already had it; it was not sent, and its stops were not compared';

export const CHANGED_AFTER_PUSH = 'The ERP changed it after it was pushed; the service cannot change it';

function foundMessage({ state, attempts }: OutboxEntry, isCurrent: boolean): string | null {
  if (attempts > 0 && !isCurrent) return CHANGED_AFTER_PUSH;
  if (state === 'rejected') return 'The service has it, although it answered with a rejection';
  if (attempts > 0) return null;
  return isCurrent
    ? 'The service already had it; it was not sent'
    : 'The service already had it with different content; it was not sent';
}

/** A problem with the records found, for a person. */
function warningOf(
  before: OutboxEntry,
  ids: readonly number[],
  status: string | null,
  { failed }: Facts['kind'],
): { attention: Attention | null; message: string | null } {
  if (ids.length > 1) {
    const message = `The service has it ${ids.length} times: ${ids.join(', ')}; remove all but one there`;
    return { attention: 'found_twice', message };
  }
  const message = failed !== undefined && failed.status === status ? failed.message : null;
  return { attention: contentAttention(before), message };
}

const contentAttention = (entry: OutboxEntry): Attention | null => (hasUnusableContent(entry) ? entry.attention : null);

/** A listing shows a confirmed entry: its identifier and status become known, and a need for attention may end. */
function seen(
  before: OutboxEntry,
  known: EntryChange & { attention: Attention | null },
  warning: string | null,
  at: string,
): Outcome | undefined {
  const isOver = before.attention !== null && known.attention === null;
  const lasting = before.sent_hash !== '' && isChangedAfterPush(before) ? CHANGED_AFTER_PUSH : null;
  const message = warning ?? (isOver ? lasting : before.message);
  const isNews = before.remote_id === null || known.attention !== before.attention || message !== before.message;
  const isSame = before.seen_at !== null && known.remote_status === before.remote_status;
  if (!isNews && isSame && known.attention === null) return undefined;
  const next_attempt_at = known.attention === null ? null : after(at, CHECK_AGAIN_MS);
  const acknowledged = isNews ? { told_at: null } : before.told_at === null ? {} : { erp_code: null };
  const change = { ...known, ...acknowledged, message, next_attempt_at, payload: null };
  return { before, entry: transition(before, 'note', at, change) };
}
