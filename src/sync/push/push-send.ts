// Sends what is ready, several at once, each claimed on disk before its first byte leaves. Every send ends in
// exactly one stored outcome; where the process dies instead, the claim itself says that it is unknown.
import { isoInstant } from '../../core/clock.ts';
import { asRoadbookError, type RoadbookError } from '../../core/errors.ts';
import type { Transaction } from '../../warehouse/engine.ts';
import { type Claimed, claimNext } from '../../warehouse/outbox.ts';
import { type EntryChange, moveEntry } from '../../warehouse/outbox-entry.ts';
import type { MoveName } from '../../warehouse/outbox-states.ts';
import { type AttemptEnd, closeAttempt } from '../../warehouse/push-attempts.ts';
import { confirmEntry } from './push-confirmation.ts';
import { isPassing, retryDelayMs, sendFailure, statusOf } from './push-failure.ts';
import type { Payload, Verdict } from './push-kind.ts';
import { isCheckedFirst } from './push-look.ts';
import type { PushRun } from './push-run.ts';

export interface SendOptions {
  /** No other round follows in this run, in which what is turned away could be sent again. */
  isLastRound: boolean;
}

/** What became of the others after this one. */
interface Sent {
  /** No other send can succeed either. */
  stop: boolean;
  /** Nothing was done: by the answer, or since it did not leave. */
  isInVain: boolean;
  /** It was answered that nothing was done. */
  turnedAway?: RoadbookError;
}

const WENT_ON: Sent = { stop: false, isInVain: false };

/** Gives the answers that turned something away; a search has to show what they are worth. */
export async function sendReady(push: PushRun, options: SendOptions): Promise<RoadbookError[]> {
  const { kind, context } = push;
  const { engine, concurrency } = context.parts;
  const stop = new AbortController();
  const checkedOnly = isCheckedFirst(push);
  const turnedAway: RoadbookError[] = [];
  const isOneAKey = kind.hasTwins === true;
  let inARow = 0;

  async function lane(): Promise<void> {
    while (!context.signal.aborted && !stop.signal.aborted) {
      const keyOf = (payload: string): string =>
        kind.keyOf((JSON.parse(payload) as Payload).data, push.digest);
      const claim = { kind: kind.feed, runId: context.runId, at: push.now(), checkedOnly, keyOf, isOneAKey };
      const claimed = await claimNext(engine, claim);
      if (claimed === undefined) return;
      const sent = await sendOne(push, claimed, options);
      inARow = sent.isInVain ? inARow + 1 : 0;
      if (sent.turnedAway !== undefined) turnedAway.push(sent.turnedAway);
      // A service that takes nothing any more is left alone for this round.
      if (sent.stop || inARow > 2 * concurrency) stop.abort();
    }
  }

  // The run must not end while a lane is sending: the first failure stops all, and is thrown when all have ended.
  const guarded = (): Promise<void> =>
    lane().catch((error: unknown) => {
      stop.abort();
      throw error;
    });
  const ended = await Promise.allSettled(Array.from({ length: concurrency }, guarded));
  const failed = ended.find((end) => end.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return turnedAway;
}

async function sendOne(push: PushRun, claimed: Claimed, options: SendOptions): Promise<Sent> {
  const { entry } = claimed;
  const { kind } = push;
  const payload = JSON.parse(entry.payload ?? '{}') as Payload;
  let verdict: Verdict;
  try {
    verdict =
      entry.remote_id === null || kind.change === undefined
        ? await kind.create(push.call, payload)
        : await kind.change(push.call, entry.remote_id, payload);
  } catch (thrown) {
    return storeFailure(push, claimed, thrown, options);
  }
  await storeVerdict(push, claimed, verdict);
  return WENT_ON;
}

async function storeVerdict(push: PushRun, claimed: Claimed, verdict: Verdict): Promise<void> {
  const { entry } = claimed;
  const { redact } = push.context.parts.redactor;
  if (verdict.is === 'unclear') {
    return lose(push, claimed, { outcome: 'unclear', message: verdict.message });
  }
  const reasons = verdict.reasons.map(redact);
  if (verdict.is === 'refused') return refuse(push, claimed, reasons, { isAnswer: false });
  const message = reasons.length === 0 ? null : `Accepted in part; ${reasons.length} refused`;
  const evidence = { id: verdict.id, status: null, isSeen: false, message, reasons };
  await store(push, claimed, { outcome: 'accepted', message }, (tx) =>
    confirmEntry(tx, push, entry, evidence),
  );
}

async function storeFailure(
  push: PushRun,
  claimed: Claimed,
  thrown: unknown,
  { isLastRound }: SendOptions,
): Promise<Sent> {
  const { signal, parts, log } = push.context;
  const { attempts, external_code } = claimed.entry;
  const isAbort = signal.aborted && thrown === signal.reason;
  const failure = sendFailure(thrown, isAbort);
  const error = asRoadbookError(thrown);
  const message = isAbort ? 'Stopped before it was sent' : parts.redactor.redact(error.message);
  const end = { message, error_code: isAbort ? 'stopped' : error.code, http_status: statusOf(thrown) };
  const after = (delayMs: number) => ({ message, next_attempt_at: isoInstant(parts.clock.now() + delayMs) });
  switch (failure.is) {
    case 'refused':
      await refuse(push, claimed, failure.reasons.map(parts.redactor.redact), { ...failure, error });
      return WENT_ON;
    case 'unclear':
      log.warn({ external_code, err: error }, 'outcome of a send is not known');
      await lose(push, claimed, { ...end, outcome: 'unclear' });
      return WENT_ON;
    case 'turned-away': {
      log.warn({ external_code, err: error }, 'send was turned away; it is searched for before the next one');
      const isNextRound = !isLastRound && isPassing(error);
      const waiting = after(isNextRound ? 0 : retryDelayMs(attempts));
      const kept = { ...waiting, is_doubtful: true, checked_run_id: null };
      await move(push, claimed, { ...end, outcome: 'turned-away' }, 'release', kept);
      return { stop: failure.stop, isInVain: true, turnedAway: error };
    }
    case 'not-sent': {
      const kept = { ...after(isAbort ? 0 : retryDelayMs(attempts)), sent_hash: claimed.sentBefore };
      await move(push, claimed, { ...end, outcome: 'not-sent' }, 'release', kept);
      if (!isAbort) push.failures.push(error);
      return { stop: failure.stop, isInVain: true };
    }
  }
}

/** One that a status refused is looked for once more: it may have been answered after it was done. */
async function refuse(
  push: PushRun,
  claimed: Claimed,
  reasons: string[],
  { isAnswer, error }: { isAnswer: boolean; error?: RoadbookError },
): Promise<void> {
  const message = 'The service refused it';
  const end = { message: reasons.join('; '), error_code: error?.code ?? null, http_status: statusOf(error) };
  const isMoved = await move(push, claimed, { ...end, outcome: 'refused' }, 'refuse', {
    message,
    reasons: JSON.stringify(reasons),
    ...(isAnswer
      ? { is_doubtful: true, is_watched: true }
      : { sent_hash: claimed.sentBefore, is_watched: false }),
  });
  if (isMoved) push.context.counts.rejected++;
}

async function lose(push: PushRun, claimed: Claimed, end: AttemptEnd): Promise<void> {
  const unclear_sends = claimed.entry.unclear_sends + 1;
  const change = { message: end.message, unknown_since: push.now(), unclear_sends };
  if (await move(push, claimed, end, 'lose', change)) push.context.counts.unknown++;
}

/** Moves the entry, unless it has another owner by now: that one knows better. True where it moved. */
const move = (
  push: PushRun,
  claimed: Claimed,
  end: AttemptEnd,
  name: MoveName,
  change: EntryChange,
): Promise<boolean> =>
  store(push, claimed, end, (tx) => {
    const { owner_run_id } = claimed.entry;
    return moveEntry(tx, claimed.entry, name, push.now(), change, { owner_run_id });
  });

async function store(
  push: PushRun,
  { entry, attempt }: Claimed,
  end: AttemptEnd,
  work: (tx: Transaction) => Promise<boolean>,
): Promise<boolean> {
  const { parts, counts, log } = push.context;
  const { external_code } = entry;
  if (end.outcome !== 'not-sent') counts.sent++;
  const isStored = await parts.engine.write(async (tx) => {
    await closeAttempt(tx, entry, attempt, end, push.now());
    return work(tx);
  });
  if (!isStored)
    log.warn({ external_code, outcome: end.outcome }, 'answer came after the entry had moved on');
  return isStored;
}
