// Carries out what a search of the service said about an entry, each in one transaction with the attempt that
// tells of it.
import { Ambiguous, Skippable } from '../../core/errors.ts';
import type { Transaction } from '../../warehouse/engine.ts';
import {
  isInDoubt,
  moveEntry,
  NOT_ABSENT,
  noteEntry,
  type OutboxEntry,
  UNSENT,
} from '../../warehouse/outbox-entry.ts';
import { type AttemptEnd, noteReading } from '../../warehouse/push-attempts.ts';
import { forgetAbsent, type Moment, noteAbsent } from './absence-clock.ts';
import { confirmEntry, isUnfinished } from './push-confirmation.ts';
import { asNotTaken, earlierReasons, INVALID_CHANGE, withdrawalOf } from './push-effects.ts';
import type { Seen } from './push-kind.ts';
import type { PushRun } from './push-run.ts';
import { isBefore, isSettled, type Search, type Sight } from './push-sight.ts';
import { askAbout } from './push-unreadable.ts';

/** The search that a sight comes from. */
export interface Looked extends Pick<Search, 'readAt' | 'now'> {
  moment: Moment;
}

/** So many sends without a clear answer, and no search found one of them: a person has to look. */
const MOST_UNCLEAR_SENDS = 5;
const BY_HAND = 'if it is not at the service, order it with outbox retry --not-there';

const TWIN_BY_HAND =
  'is the same thing and may be at the service; if neither is, order that one with outbox retry --not-there, or this one where that one is confirmed or given up';

/** True where the entry may be sent by this run. */
export async function applySight(
  push: PushRun,
  entry: OutboxEntry,
  sight: Sight,
  looked: Looked,
): Promise<boolean> {
  const { engine } = push.context.parts;
  const write = (work: (tx: Transaction) => Promise<unknown>) =>
    engine.write(async (tx) => void (await work(tx)));
  // An absence that leads to nothing is still one in the next run.
  if (sight.is !== 'maybe-absent' && sight.is !== 'absent') forgetAbsent(engine, entry);
  switch (sight.is) {
    case 'nothing':
      return false;
    case 'clear':
      return !isInDoubt(entry) || !(await isFoundOtherwise(push, entry));
    case 'there':
      await write((tx) =>
        entry.state === 'confirmed'
          ? noteWatched(tx, push, entry, sight.seen, sight.others)
          : confirmFound(tx, push, entry, sight.seen, sight.others),
      );
      return false;
    case 'differs':
      await write((tx) => queueChange(tx, push, entry, sight.seen, looked));
      return false;
    case 'refused':
      await write((tx) =>
        noteEntry(tx, entry, sight.isProven && entry.remote_id === null ? UNSENT : { is_watched: false }),
      );
      return false;
    case 'maybe-absent':
      noteAbsent(engine, entry, sight.since, looked.moment);
      await write((tx) => noteMaybeAbsent(tx, push, entry, sight.since, looked.moment));
      return false;
    case 'absent':
      if (await isFoundOtherwise(push, entry)) return false;
      await write((tx) => believeAbsent(tx, push, entry));
      return false;
  }
}

const note = (tx: Transaction, push: PushRun, entry: OutboxEntry, end: AttemptEnd): Promise<void> =>
  noteReading(tx, entry, end, { runId: push.context.runId, at: push.now() });

async function confirmFound(
  tx: Transaction,
  push: PushRun,
  entry: OutboxEntry,
  seen: Seen,
  others: readonly number[],
): Promise<void> {
  const message = tellTwice(push, entry, seen, others) ?? failureOf(push, seen) ?? storyOf(entry);
  const sent_hash = foundHash(push, entry);
  const reasons = reasonsOf(entry);
  const evidence = { id: seen.id, status: seen.status, isSeen: true, message, reasons };
  if (!(await confirmEntry(tx, push, { ...entry, sent_hash }, evidence))) return;
  await note(tx, push, entry, { outcome: 'found', message: message ?? 'Found at the service' });
}

/** What can be changed was compared with its content; where that is not kept, what is there may be any. */
function foundHash({ kind }: PushRun, { sent_hash, content_hash, payload }: OutboxEntry): string | null {
  if (kind.change === undefined) return sent_hash;
  return payload === null ? '' : content_hash;
}

/** What the ERP gave after the send breaks the rules. */
const isRefusedHere = ({ state, sent_hash, content_hash }: OutboxEntry): boolean =>
  state === 'rejected' && sent_hash !== null && sent_hash !== content_hash;

/** What stays of what it was refused for. */
function reasonsOf(entry: OutboxEntry): string[] {
  const reasons = earlierReasons(entry);
  if (isRefusedHere(entry)) return asNotTaken(reasons);
  return entry.state === 'rejected' ? [] : reasons;
}

/** What is odd about finding it. */
function storyOf(entry: OutboxEntry): string | null {
  const { state, attempts } = entry;
  if (isRefusedHere(entry)) return INVALID_CHANGE;
  if (state === 'rejected') return 'The service has it, though it was answered that it was refused';
  return attempts === 0 ? 'The service had it already; it was not sent' : null;
}

/** The message for an entry that the service has more than once; undefined where it does not. */
function tellTwice(
  { context, kind }: PushRun,
  { external_code }: OutboxEntry,
  seen: Seen,
  others: readonly number[],
): string | undefined {
  if (others.length === 0) return undefined;
  const ids = [seen.id, ...others];
  const err = new Ambiguous(`The service has a ${kind.noun} more than once under one code`, {
    code: 'found_twice',
    hint: 'Remove all but one at the service; Roadbook cannot.',
  });
  context.log.warn({ external_code, remote_ids: ids, err }, 'found more than once');
  return `The service has it ${ids.length} times: ${ids.join(', ')}; remove all but one there`;
}

/** What the status says that the service failed at. */
const failureOf = ({ kind }: PushRun, { status }: Seen): string | undefined =>
  kind.failed !== undefined && kind.failed.status === status ? kind.failed.message : undefined;

/** The service has an older or other content: this run may change it. */
async function queueChange(tx: Transaction, push: PushRun, entry: OutboxEntry, seen: Seen, looked: Looked) {
  const known = { remote_id: seen.id, checked_run_id: push.context.runId };
  switch (entry.state) {
    case 'unknown':
      await moveEntry(tx, entry, 'confirmOlder', push.now(), known, { owner_run_id: null });
      return note(tx, push, entry, {
        outcome: 'found',
        message: 'Found at the service with another content',
      });
    case 'ready':
      if (isBefore(entry.updated_at, looked)) await noteEntry(tx, entry, { ...known, ...NOT_ABSENT });
      return;
    case 'rejected':
      // The change was refused, and is not there: as was said.
      if (isSettled(entry.updated_at, { ...looked, settleMs: push.settings.settle }))
        await noteEntry(tx, entry, { is_watched: false });
  }
}

/** What is awaited of a confirmed entry: its identifier, the end of its optimisation. */
async function noteWatched(
  tx: Transaction,
  push: PushRun,
  entry: OutboxEntry,
  seen: Seen,
  others: readonly number[],
): Promise<void> {
  const { kind, context } = push;
  const failure = failureOf(push, seen);
  const hasFailed = failure !== undefined;
  const is_watched = isUnfinished(kind, entry, seen.status);
  const isNews = entry.remote_id === null || hasFailed;
  if (!isNews && entry.seen_at !== null && is_watched && entry.remote_status === seen.status) return;
  const twice = entry.remote_id === null ? tellTwice(push, entry, seen, others) : undefined;
  const message = failure ?? twice;
  await noteEntry(tx, entry, {
    remote_id: seen.id,
    remote_status: seen.status,
    seen_at: entry.seen_at ?? push.now(),
    is_watched,
    ...(isNews && { told_at: null }),
    ...(message !== undefined && { message }),
  });
  if (hasFailed)
    context.log.warn({ external_code: entry.external_code, remote_id: seen.id }, 'optimisation failed');
}

async function noteMaybeAbsent(
  tx: Transaction,
  push: PushRun,
  entry: OutboxEntry,
  since: string,
  { at, thereAt }: Moment,
): Promise<void> {
  const message = 'Not found, but that may be too early to say';
  const isFirst = since === at;
  await noteEntry(tx, entry, {
    absent_since: since,
    ...(isFirst && { absent_since_there: thereAt }),
    ...(entry.state === 'ready' && { message }),
  });
  await note(tx, push, entry, { outcome: 'absent', message });
}

/** Asks once more in another way where there is one; found after all, it is confirmed. True too where nobody can tell. */
async function isFoundOtherwise(push: PushRun, entry: OutboxEntry): Promise<boolean> {
  const { engine } = push.context.parts;
  const { remote_key } = entry;
  const sought = await askAbout(
    push,
    entry,
    async () => (await push.kind.seek?.(push.call, remote_key)) ?? [],
  );
  if (sought === undefined) return true;
  const [seen, ...others] = sought.answer.filter(({ key }) => key === remote_key);
  if (seen === undefined) return false;
  const ids = others.map(({ id }) => id);
  await engine.write((tx) => confirmFound(tx, push, entry, seen, ids));
  return true;
}

/** Two searches that could have shown it did not: this run may send it. One with an identifier is first looked for by key. */
async function believeAbsent(tx: Transaction, push: PushRun, entry: OutboxEntry): Promise<void> {
  const isWhole = push.kind.periodOf === undefined;
  const checked_run_id = isWhole && entry.remote_id !== null ? null : push.context.runId;
  const forgotten = isWhole ? { remote_id: null } : {};
  const message =
    checked_run_id === null
      ? 'The service no longer has it; it is looked for by its name before it is created anew'
      : 'The service does not have it; it is sent';
  if (entry.state === 'unknown') {
    if (entry.confirmed_at !== null) return parkAccepted(tx, push, entry);
    if (entry.noted_hash !== null) return withdrawAbsent(tx, push, entry);
    if (entry.unclear_sends >= MOST_UNCLEAR_SENDS) return parkWorn(tx, push, entry);
    const change = { ...forgotten, message, next_attempt_at: null, checked_run_id };
    const only = { revision: entry.revision };
    if (!(await moveEntry(tx, entry, 'absent', push.now(), change, only))) return;
  } else if (!(await noteEntry(tx, entry, { ...forgotten, ...NOT_ABSENT, message, checked_run_id }))) return;
  await note(tx, push, entry, { outcome: 'absent', message });
}

async function withdrawAbsent(tx: Transaction, push: PushRun, entry: OutboxEntry): Promise<void> {
  const change = withdrawalOf(entry);
  const only = { revision: entry.revision };
  if (!(await moveEntry(tx, entry, 'withdraw', push.now(), change, only))) return;
  push.context.counts.rejected++;
  await note(tx, push, entry, { outcome: 'absent', message: change.message ?? null });
}

/** The service took it without an identifier: another one would stand beside it. */
async function parkAccepted(tx: Transaction, push: PushRun, entry: OutboxEntry): Promise<void> {
  const message = `The service took it without an identifier, and no search shows it: it is not changed; ${BY_HAND}`;
  await noteEntry(tx, entry, { message });
  await note(tx, push, entry, { outcome: 'absent', message });
  failOnce(push, 'accepted_unseen', `A ${push.kind.noun} that the service took is shown by no search`);
}

async function parkWorn(tx: Transaction, push: PushRun, entry: OutboxEntry): Promise<void> {
  const message = `Sent ${entry.unclear_sends} times without a clear answer, and not found: it is not sent again by itself; ${BY_HAND}`;
  await noteEntry(tx, entry, { message });
  await note(tx, push, entry, { outcome: 'absent', message });
  failOnce(push, 'resend_limit', `A ${push.kind.noun} has no clear answer however often it is sent`);
}

/** The search proves nothing: what may be at the service stays unknown, what has to be found waits. */
export async function parkBlind(
  push: PushRun,
  entry: OutboxEntry,
  why: string,
  twin: string | undefined,
): Promise<void> {
  const { engine } = push.context.parts;
  const message = twin === undefined ? `${why}; ${BY_HAND}` : `${why}; ${twin} ${TWIN_BY_HAND}`;
  forgetAbsent(engine, entry);
  await engine.write(async (tx) => {
    if (entry.state === 'ready' && isInDoubt(entry)) {
      const change = { message, unknown_since: push.now() };
      await moveEntry(tx, entry, 'doubt', push.now(), change, { revision: entry.revision });
    } else await noteEntry(tx, entry, { message, ...NOT_ABSENT });
    await note(tx, push, entry, { outcome: 'blind', message });
  });
  failOnce(push, 'search_blind', why);
}

function failOnce({ failures }: PushRun, code: string, message: string): void {
  if (failures.some((failure) => failure.code === code)) return;
  const hint =
    'Look for the unknown and the waiting ones at the service; what is not there: npx roadbook outbox retry CODE --not-there';
  failures.push(new Skippable(message, { code, hint }));
}
