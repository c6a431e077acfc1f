// Sends the entries that a read-back cleared, in batches, several entries at a time. The claim of a batch is on disk before
// its first byte is sent; the same transaction stores the outcomes of the batch before. A crash leaves one batch to read
// back.
import PQueue from 'p-queue';
import { chunks } from '../../core/chunks.ts';
import type { Transaction } from '../../warehouse/engine.ts';
import { nameOf, type OutboxEntry } from '../../warehouse/outbox/entry.ts';
import { entriesByKey, holdersOf } from '../../warehouse/outbox/queries.ts';
import { storeWithoutPayload, transition } from '../../warehouse/outbox/transitions.ts';
import { type PushRun, payloadOf, type Verdict } from './kind.ts';
import { type Answer, afterSend, countOutcomes, factsOf, type Outcome, type Sent, storeOutcomes } from './outcome.ts';
import type { Cleared } from './read-back.ts';

const BATCH = 256;

interface Claimed {
  entry: OutboxEntry;
  /** The entry before it was claimed. */
  before: OutboxEntry;
}

export async function sendCleared(push: PushRun, cleared: readonly Cleared[]) {
  const { signal, dependencies } = push.context;
  const { concurrency } = dependencies;
  const queue = new PQueue({ concurrency });
  let done: Sent[] = [];
  let failedInARow = 0;
  let isStopped = false;
  /** At least one request was sent. */
  let hasSent = false;
  /** No further send can succeed in this run. */
  let serviceIsAway = false;

  const mayGoOn = (): boolean => !signal.aborted && !isStopped;

  async function send(claimed: Claimed): Promise<void> {
    const sent = mayGoOn() ? await sendOne(push, claimed) : released(claimed);
    done.push(sent);
    failedInARow = sent.failure === undefined ? 0 : failedInARow + 1;
    // Stop if the service no longer accepts anything.
    if (sent.stop || failedInARow > 2 * concurrency) isStopped = true;
    if (sent.stop && sent.entry.next_attempt_at !== null) serviceIsAway = true;
    if (sent.attempt !== undefined && sent.attempt.outcome !== 'not-sent') hasSent = true;
  }

  try {
    for (const batch of chunks(cleared, BATCH)) {
      if (!mayGoOn()) break;
      const claimed = await exchange(push, done, batch);
      done = [];
      await queue.addAll(claimed.map((each) => () => send(each)));
    }
  } finally {
    // If the next batch could not be claimed, the outcomes of the last one are not stored yet either.
    await exchange(push, done, []);
  }
  return { hasSent, serviceIsAway };
}

/** Returns a claimed entry that was not sent to its earlier state. */
const released = ({ entry, before }: Claimed): Sent => ({
  before: entry,
  entry: { ...before, revision: entry.revision + 1 },
  stop: false,
});

async function sendOne(push: PushRun, { entry, before }: Claimed): Promise<Sent> {
  const { signal } = push.context;
  const after = (answer: Answer): Sent => afterSend(entry, before, answer, factsOf(push));
  try {
    return after({ verdict: await post(push, entry) });
  } catch (thrown) {
    return after({ thrown, isAbort: signal.aborted && thrown === signal.reason });
  }
}

function post({ kind, call, feed }: PushRun, entry: OutboxEntry): Promise<Verdict> {
  const content = payloadOf(entry);
  if (content === undefined) throw new Error('entry claimed without its content');
  // The feed's own are those of now: an edit of them is for the items that wait.
  const payload = { ...content, options: { ...feed.options, ...content.options } };
  if (entry.remote_id === null || kind.change === undefined) return kind.create(call, payload);
  return kind.change(call, entry.remote_id, payload);
}

/** One transaction that stores the finished sends and claims the next entries. */
async function exchange(push: PushRun, done: readonly Sent[], next: readonly Cleared[]): Promise<Claimed[]> {
  if (done.length + next.length === 0) return [];
  const { stored, claimed } = await push.engine.write(async (tx) => {
    const stored: Outcome[] = await storeOutcomes(tx, push, done);
    const { shared, claimed } = await claim(tx, push, next);
    return { stored: [...stored, ...shared], claimed };
  });
  countOutcomes(push, stored);
  for (const sent of done) report(push, sent);
  return claimed;
}

function report({ context, failures }: PushRun, { entry, attempt, failure }: Sent): void {
  if (attempt === undefined) return;
  if (attempt.outcome !== 'not-sent') context.counts.sent++;
  const { external_code } = entry;
  if (entry.state === 'unknown')
    context.log.warn({ external_code, message: attempt.message }, 'outcome of a send is unknown');
  // An entry that is sent again at once may still succeed. Many entries that fail in one outage are one failure.
  if (failure === undefined || entry.next_attempt_at === null) return;
  if (!failures.some(({ message }) => message === failure.message)) failures.push(failure);
}

/** Claims only entries that have not changed since the read-back. `shared`: those that need not be sent, as stored. */
async function claim(tx: Transaction, push: PushRun, next: readonly Cleared[]) {
  const { kind, context, now } = push;
  const ready = (await entriesByKey(tx.sql, kind.feed, next)).filter(({ payload }) => payload !== null);
  const { free, others } = kind.hasUniqueKey ? await firstOfEachKey(tx, push, ready) : { free: ready, others: [] };
  const shared = await storeOutcomes(tx, push, others);
  const at = now();
  const claimed = free.map((before) => ({
    before,
    entry: transition(before, 'claim', at, {
      attempts: before.attempts + 1,
      sent_hash: before.content_hash,
      sent_at: at,
    }),
  }));
  context.log.debug({ entries: claimed.length }, 'outbox batch claimed');
  const stored = await storeWithoutPayload(
    tx,
    claimed.map(({ entry }) => entry),
  );
  return { shared, claimed: claimed.filter(({ entry }) => stored.has(nameOf(entry))) };
}

/** If several codes have the same key, one is sent. The others wait for it, and share its outcome once it is confirmed. */
async function firstOfEachKey({ sql }: Transaction, { kind, now }: PushRun, ready: readonly OutboxEntry[]) {
  const keys = ready.map(({ remote_key }) => remote_key);
  const holders = new Map((await holdersOf(sql, kind.feed, keys)).map((each) => [each.remote_key, each]));
  const free: OutboxEntry[] = [];
  const others: Outcome[] = [];
  for (const before of ready) {
    const holder = holders.get(before.remote_key);
    if (holder === undefined) {
      free.push(before);
      holders.set(before.remote_key, before);
    } else if (holder.state === 'confirmed') others.push({ before, entry: sharedOutcome(before, holder, now()) });
    else {
      const message = `${holder.external_code} is the same ${kind.noun} and is sent first`;
      if (before.message !== message) others.push({ before, entry: transition(before, 'note', now(), { message }) });
    }
  }
  return { free, others };
}

const sharedOutcome = (entry: OutboxEntry, holder: OutboxEntry, at: string): OutboxEntry =>
  transition(entry, 'confirm', at, {
    remote_id: holder.remote_id,
    remote_status: holder.remote_status,
    seen_at: holder.seen_at,
    confirmed_at: at,
    sent_hash: entry.content_hash === holder.sent_hash ? entry.content_hash : '',
    message: `The service has it under the code ${holder.external_code}`,
  });
