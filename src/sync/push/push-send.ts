// Sends what is ready, several at once, each claimed on disk before its first byte leaves. Every send ends in
// exactly one stored outcome; where the process dies instead, the claim itself says that it is unknown.
import { isoInstant } from '../../core/clock.ts';
import { asRoadbookError, type RoadbookError } from '../../core/errors.ts';
import type { Transaction } from '../../warehouse/engine.ts';
import { type Claimed, claimNext } from '../../warehouse/outbox.ts';
import { moveEntry } from '../../warehouse/outbox-entry.ts';
import { type AttemptEnd, closeAttempt } from '../../warehouse/push-attempts.ts';
import { confirmEntry } from './push-confirmation.ts';
import { retryDelayMs, sendFailure, statusOf } from './push-failure.ts';
import type { Payload, Verdict } from './push-kind.ts';
import { isCheckedFirst } from './push-look.ts';
import type { PushRun } from './push-run.ts';

export async function sendReady(push: PushRun): Promise<void> {
  const { kind, context } = push;
  const { engine, concurrency } = context.parts;
  const stop = new AbortController();
  const checkedOnly = isCheckedFirst(push);

  async function lane(): Promise<void> {
    while (!context.signal.aborted && !stop.signal.aborted) {
      const keyOf = (payload: string): string => kind.keyOf((JSON.parse(payload) as Payload).data);
      const claim = { kind: kind.feed, runId: context.runId, at: push.now(), checkedOnly, keyOf };
      const claimed = await claimNext(engine, claim);
      if (claimed === undefined) return;
      context.counts.sent++;
      const mustStop = await sendOne(push, claimed);
      if (mustStop) stop.abort();
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
}

/** True where no other send can succeed either. */
async function sendOne(push: PushRun, claimed: Claimed): Promise<boolean> {
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
    return storeFailure(push, claimed, thrown);
  }
  await storeVerdict(push, claimed, verdict);
  return false;
}

async function storeVerdict(push: PushRun, claimed: Claimed, verdict: Verdict): Promise<void> {
  const { entry } = claimed;
  const { redact } = push.context.parts.redactor;
  if (verdict.is === 'unclear') {
    return store(push, claimed, { outcome: 'unclear', message: verdict.message }, (tx) =>
      lose(tx, push, claimed, verdict.message),
    );
  }
  const reasons = verdict.reasons.map(redact);
  if (verdict.is === 'refused') return storeRefusal(push, claimed, reasons, null);
  const message = reasons.length === 0 ? null : `Accepted in part; ${reasons.length} refused`;
  const evidence = { id: verdict.id, status: null, isSeen: false, message, reasons };
  await store(push, claimed, { outcome: 'accepted', message }, (tx) =>
    confirmEntry(tx, push, entry, evidence),
  );
}

async function storeFailure(push: PushRun, claimed: Claimed, thrown: unknown): Promise<boolean> {
  const { signal, parts, log } = push.context;
  const isAbort = signal.aborted && thrown === signal.reason;
  const failure = sendFailure(thrown, isAbort);
  const error = asRoadbookError(thrown);
  const message = isAbort ? 'Stopped before it was sent' : parts.redactor.redact(error.message);
  const end = { message, error_code: isAbort ? 'stopped' : error.code, http_status: statusOf(thrown) };
  if (failure.is === 'refused') {
    await storeRefusal(push, claimed, failure.reasons.map(parts.redactor.redact), error);
    return false;
  }
  if (failure.is === 'unclear') {
    log.warn({ external_code: claimed.entry.external_code, err: error }, 'outcome of a send is not known');
    await store(push, claimed, { ...end, outcome: 'unclear' }, (tx) => lose(tx, push, claimed, message));
    return false;
  }
  const delayMs = isAbort ? 0 : retryDelayMs(claimed.entry.attempts);
  const next_attempt_at = isoInstant(parts.clock.now() + delayMs);
  const kept = { message, next_attempt_at, sent_hash: claimed.sentBefore };
  await store(push, claimed, { ...end, outcome: 'not-sent' }, (tx) =>
    moveEntry(tx, claimed.entry, 'release', push.now(), kept),
  );
  if (!isAbort) push.failures.push(error);
  return failure.stop;
}

function storeRefusal(push: PushRun, claimed: Claimed, reasons: string[], error: RoadbookError | null) {
  const message = 'The service refused it';
  const end = { message: reasons.join('; '), error_code: error?.code ?? null, http_status: statusOf(error) };
  push.context.counts.rejected++;
  return store(push, claimed, { ...end, outcome: 'refused' }, (tx) =>
    moveEntry(tx, claimed.entry, 'refuse', push.now(), {
      message,
      reasons: JSON.stringify(reasons),
      sent_hash: claimed.sentBefore,
    }),
  );
}

function lose(tx: Transaction, push: PushRun, { entry }: Claimed, message: string): Promise<boolean> {
  push.context.counts.unknown++;
  const unclear_sends = entry.unclear_sends + 1;
  return moveEntry(tx, entry, 'lose', push.now(), { message, unknown_since: push.now(), unclear_sends });
}

async function store(
  push: PushRun,
  { entry, attempt }: Claimed,
  end: AttemptEnd,
  move: (tx: Transaction) => Promise<unknown>,
): Promise<void> {
  await push.context.parts.engine.write(async (tx) => {
    await move(tx);
    await closeAttempt(tx, entry, attempt, end, push.now());
  });
}
