// Sends the entries that a read-back cleared, several at a time. Entries are claimed in batches, and a claim is on disk
// before the first byte is sent. The same transaction stores the outcomes so far. A crash leaves about two batches to read
// back.
import type { Transaction } from '../../warehouse/engine.ts';
import { nameOf, type OutboxEntry } from '../../warehouse/outbox/entry.ts';
import { entriesByKey, holdersOf } from '../../warehouse/outbox/queries.ts';
import { storeWithoutPayload, transition } from '../../warehouse/outbox/transitions.ts';
import { type PushRun, payloadOf, type Verdict } from './kind.ts';
import { type Answer, afterSend, factsOf, type Outcome, type Sent, storeOutcomes } from './outcome.ts';
import type { Cleared } from './read-back.ts';

const BATCH = 256;
/** The next batch is claimed when so many entries are left: a claim takes about as long as sending them. */
const LOW = 192;

interface Claimed {
  entry: OutboxEntry;
  /** The entry before it was claimed. */
  before: OutboxEntry;
}

export interface SendResult {
  /** At least one request was sent. */
  hasSent: boolean;
  /** No further send can succeed in this run. */
  serviceIsAway: boolean;
}

export async function sendCleared(push: PushRun, cleared: readonly Cleared[]): Promise<SendResult> {
  const { context } = push;
  const { concurrency } = context.dependencies;
  const waiting = [...cleared];
  const claimed: Claimed[] = [];
  const done: Sent[] = [];
  const stop = new AbortController();
  const result: SendResult = { hasSent: false, serviceIsAway: false };
  let refilling: Promise<void> | undefined;
  let broken: { error: unknown } | undefined;
  let failedInARow = 0;

  const mayGoOn = (): boolean => !context.signal.aborted && !stop.signal.aborted;

  /** Claims the next batch, one transaction at a time. Meanwhile the slots send entries that are already claimed. */
  function refill(): Promise<void> {
    refilling ??= (async () => {
      while (claimed.length <= LOW && waiting.length > 0 && mayGoOn()) {
        const ended = done.slice();
        claimed.push(...(await exchange(push, ended, waiting.splice(0, BATCH))));
        // Remove only the outcomes that were stored; the last transaction stores the rest.
        done.splice(0, ended.length);
      }
    })()
      .catch((error: unknown) => {
        broken ??= { error };
        stop.abort();
      })
      .finally(() => {
        refilling = undefined;
      });
    return refilling;
  }

  async function slot(): Promise<void> {
    while (mayGoOn()) {
      if (claimed.length <= LOW && waiting.length > 0) void refill();
      const next = claimed.shift();
      if (next === undefined) {
        if (refilling === undefined) return;
        await refilling;
        continue;
      }
      const sent = await sendOne(push, next);
      done.push(sent);
      failedInARow = sent.failure === undefined ? 0 : failedInARow + 1;
      if (sent.attempt?.outcome !== 'not-sent') result.hasSent = true;
      // Stop if the service no longer accepts anything.
      if (sent.stop || failedInARow > 2 * concurrency) stop.abort();
      if (sent.stop && sent.entry.next_attempt_at !== null) result.serviceIsAway = true;
    }
  }

  await Promise.all(Array.from({ length: concurrency }, slot));
  await refilling;
  await exchange(push, [...done, ...claimed.map(released)], []);
  if (broken !== undefined) throw broken.error;
  return result;
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

function post({ kind, call }: PushRun, entry: OutboxEntry): Promise<Verdict> {
  const payload = payloadOf(entry) ?? { data: {}, options: {} };
  if (entry.remote_id === null || kind.change === undefined) return kind.create(call, payload);
  return kind.change(call, entry.remote_id, payload);
}

/** One transaction that stores the finished sends and claims the next entries. */
async function exchange(push: PushRun, done: readonly Sent[], next: readonly Cleared[]): Promise<Claimed[]> {
  if (done.length + next.length === 0) return [];
  const claimed = await push.engine.write(async (tx) => {
    await storeOutcomes(tx, push, done);
    return claim(tx, push, next);
  });
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

/** Claims only entries that have not changed since the read-back. */
async function claim(tx: Transaction, push: PushRun, next: readonly Cleared[]): Promise<Claimed[]> {
  const { kind, context, now } = push;
  const ready = (await entriesByKey(tx.sql, kind.feed, next)).filter(({ payload }) => payload !== null);
  const { free, shared } = kind.hasUniqueKey ? await firstOfEachKey(tx, push, ready) : { free: ready, shared: [] };
  await storeOutcomes(tx, push, shared);
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
  return claimed.filter(({ entry }) => stored.has(nameOf(entry)));
}

/** If several codes have the same key, one is sent. The others wait for it, and share its outcome once it is confirmed. */
async function firstOfEachKey({ sql }: Transaction, { kind, now }: PushRun, ready: readonly OutboxEntry[]) {
  const keys = ready.map(({ remote_key }) => remote_key);
  const holders = new Map((await holdersOf(sql, kind.feed, keys)).map((each) => [each.remote_key, each]));
  const free: OutboxEntry[] = [];
  const shared: Outcome[] = [];
  for (const before of ready) {
    const holder = holders.get(before.remote_key);
    if (holder === undefined) {
      free.push(before);
      holders.set(before.remote_key, before);
    } else if (holder.state === 'confirmed') shared.push({ before, entry: sharedOutcome(before, holder, now()) });
    else {
      const message = `${holder.external_code} is the same ${kind.noun} and is sent first`;
      if (before.message !== message) shared.push({ before, entry: transition(before, 'note', now(), { message }) });
    }
  }
  return { free, shared };
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
