// Carries out what a search of the service said about an entry, each in one transaction with the attempt that
// tells of it.
import { isoInstant } from '../../core/clock.ts';
import { Ambiguous, Skippable } from '../../core/errors.ts';
import type { Transaction } from '../../warehouse/engine.ts';
import { moveEntry, noteEntry, type OutboxEntry } from '../../warehouse/outbox-entry.ts';
import { isSearchBlind } from '../../warehouse/outbox-search.ts';
import { type AttemptEnd, noteReading } from '../../warehouse/push-attempts.ts';
import { confirmEntry } from './push-confirmation.ts';
import type { Seen } from './push-kind.ts';
import type { PushRun } from './push-run.ts';
import { isBefore, type Search, type Sight } from './push-sight.ts';

export async function applySight(
  push: PushRun,
  entry: OutboxEntry,
  sight: Exclude<Sight, { is: 'clear' }>,
  search: Search,
): Promise<void> {
  const write = (work: (tx: Transaction) => Promise<unknown>) =>
    push.context.parts.engine.write(async (tx) => void (await work(tx)));
  switch (sight.is) {
    case 'nothing':
      return;
    case 'there':
      return write((tx) =>
        entry.state === 'confirmed'
          ? noteWatched(tx, push, entry, sight.seen, sight.others)
          : confirmFound(tx, push, entry, sight.seen, sight.others),
      );
    case 'differs':
      return write((tx) => queueChange(tx, push, entry, sight.seen, search));
    case 'maybe-absent':
      return write(async (tx) => {
        await noteEntry(tx, entry, { absent_since: sight.since });
        await note(tx, push, entry, {
          outcome: 'absent',
          message: 'Not found, but that may be too early to say',
        });
      });
    case 'absent':
      return believeAbsent(push, entry, write);
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
  const already = entry.attempts === 0 ? 'The service had it already; it was not sent' : null;
  const message = tellTwice(push, entry, seen, others) ?? failureOf(push, seen) ?? already;
  // A change is compared with the content, so what is found is the newest one.
  const sent_hash = push.kind.change === undefined ? entry.sent_hash : entry.content_hash;
  const evidence = { id: seen.id, status: seen.status, isSeen: true, message, reasons: reasonsOf(entry) };
  if (!(await confirmEntry(tx, push, { ...entry, sent_hash }, evidence))) return;
  await note(tx, push, entry, { outcome: 'found', message: message ?? 'Found at the service' });
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

const reasonsOf = ({ reasons }: OutboxEntry): string[] =>
  reasons === null ? [] : (JSON.parse(reasons) as string[]);

/** The service has an older or other content: this run may change it. */
async function queueChange(tx: Transaction, push: PushRun, entry: OutboxEntry, seen: Seen, search: Search) {
  const known = { remote_id: seen.id, checked_run_id: push.context.runId };
  if (entry.state === 'unknown') {
    await moveEntry(tx, entry, 'confirmOlder', push.now(), known);
    await note(tx, push, entry, { outcome: 'found', message: 'Found at the service with another content' });
  } else if (entry.state === 'ready' && isBefore(entry.updated_at, search)) await noteEntry(tx, entry, known);
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
  const isUnfinished =
    Boolean(entry.is_async) && seen.status !== null && kind.unfinished?.includes(seen.status) === true;
  const isNews = entry.remote_id === null || hasFailed;
  if (!isNews && entry.seen_at !== null && isUnfinished && entry.remote_status === seen.status) return;
  const twice = entry.remote_id === null ? tellTwice(push, entry, seen, others) : undefined;
  const message = failure ?? twice;
  await noteEntry(tx, entry, {
    remote_id: seen.id,
    remote_status: seen.status,
    seen_at: entry.seen_at ?? push.now(),
    is_watched: isUnfinished,
    ...(isNews && { told_at: null }),
    ...(message !== undefined && { message }),
  });
  if (hasFailed)
    context.log.warn({ external_code: entry.external_code, remote_id: seen.id }, 'optimisation failed');
}

/** Asked once more in another way where there is one; found after all, it is confirmed. */
async function believeAbsent(
  push: PushRun,
  entry: OutboxEntry,
  write: (work: (tx: Transaction) => Promise<unknown>) => Promise<void>,
): Promise<void> {
  const sought = (await push.kind.seek?.(push.call, entry.remote_key)) ?? [];
  const [seen, ...others] = sought.filter(({ key }) => key === entry.remote_key);
  const confirmedBefore = isoInstant(push.context.parts.clock.now() - push.settings.settle);
  await write(async (tx) => {
    if (seen !== undefined) {
      const ids = others.map(({ id }) => id);
      return confirmFound(tx, push, entry, seen, ids);
    }
    if (await isSearchBlind(tx.sql, push.kind.feed, confirmedBefore)) return stayUnknown(tx, push, entry);
    const message = 'The service does not have it; it is sent again';
    // Two searches did not find it: this run may send it.
    const checked_run_id = push.context.runId;
    const change = { message, sent_hash: null, next_attempt_at: null, checked_run_id };
    const only = { revision: entry.revision };
    if (!(await moveEntry(tx, entry, 'absent', push.now(), change, only))) return;
    await note(tx, push, entry, { outcome: 'absent', message });
  });
}

/** A search that does not show what the service has confirmed cannot show that something is absent either. */
async function stayUnknown(tx: Transaction, push: PushRun, entry: OutboxEntry): Promise<void> {
  const message = 'Not found, but the search has not shown what the service confirmed either';
  await noteEntry(tx, entry, { message });
  await note(tx, push, entry, { outcome: 'absent', message });
  if (push.failures.some(({ code }) => code === 'search_blind')) return;
  push.failures.push(
    new Skippable(`The service confirms a ${push.kind.noun} and does not show it in a search`, {
      code: 'search_blind',
      hint: 'Look for the unknown ones at the service by hand; what is not there can be given by the ERP under another code.',
    }),
  );
}
