// Stores that the service has a thing: by its answer, or because it was found there. The payload leaves in the
// same transaction; what the ERP changed meanwhile is flagged, or queued where a call can bring it.
import type { Transaction } from '../../warehouse/engine.ts';
import { type EntryChange, moveEntry, type OutboxEntry } from '../../warehouse/outbox-entry.ts';
import { CHANGED_AFTER_PUSH, INVALID_CHANGE, stillNotTaken, UNNAMED } from './push-effects.ts';
import { confirmedAs } from './push-intake.ts';
import { ownPeriod, type PushKind } from './push-kind.ts';
import type { PushRun } from './push-run.ts';

export interface Evidence {
  /** Undefined where the answer named none: it is looked up later. */
  id: number | undefined;
  /** Status at the service, where it was seen. */
  status: string | null;
  /** A search showed it; an answer alone is verified by one. */
  isSeen: boolean;
  message: string | null;
  /** What was refused of it. */
  reasons: string[];
}

/** False where somebody else moved the entry first. */
export async function confirmEntry(
  tx: Transaction,
  push: PushRun,
  entry: OutboxEntry,
  evidence: Evidence,
): Promise<boolean> {
  const { kind, context } = push;
  const at = push.now();
  // The feed may have brought a newer content while this one was on its way.
  const now: OutboxEntry = await tx
    .sql('push_outbox')
    .where({ kind: entry.kind, external_code: entry.external_code })
    .first();
  const { content_hash } = now;
  const sent_hash = entry.sent_hash ?? content_hash;
  const as = confirmedAs({ content_hash, sent_hash }, kind.change !== undefined);
  const known = {
    remote_id: evidence.id ?? entry.remote_id,
    remote_status: evidence.status,
    sent_hash,
    ...(evidence.isSeen && { seen_at: entry.seen_at ?? at }),
  };
  // A process that was stalled must not overwrite what the next owner of the entry has stored.
  const only = { owner_run_id: entry.owner_run_id };
  if (as === 'to-change' && entry.state !== 'rejected')
    return known.remote_id === null
      ? moveEntry(tx, entry, 'lose', at, { ...known, ...UNNAMED, confirmed_at: at, unknown_since: at }, only)
      : moveEntry(tx, entry, 'confirmOlder', at, known, only);
  const change = {
    ...known,
    confirmed_at: at,
    is_watched: isWatched(push, entry, evidence),
    ...(as === 'confirmed' && ownPeriod(kind, entry)),
    ...toldOf(push, evidence, as === 'changed-after-push', now),
  };
  const moved = await moveEntry(tx, entry, 'confirm', at, change, only);
  if (moved) context.counts.confirmed++;
  return moved;
}

function toldOf(
  { settings }: PushRun,
  evidence: Evidence,
  isChanged: boolean,
  now: OutboxEntry,
): EntryChange {
  const isFlagged = isChanged && settings.after_confirmation === 'flag';
  const reasons = [...evidence.reasons, ...stillNotTaken(now)];
  const message = evidence.message ?? (now.noted_hash === null ? null : INVALID_CHANGE);
  return {
    changed_after_push: isFlagged,
    message: isFlagged ? CHANGED_AFTER_PUSH : message,
    reasons: reasons.length === 0 ? null : JSON.stringify(reasons),
  };
}

/** No search has shown it yet, or the service has not finished with it. */
const isWatched = ({ kind }: PushRun, entry: OutboxEntry, { isSeen, status }: Evidence): boolean =>
  !isSeen || isUnfinished(kind, entry, status);

/** The service still optimises it. */
export const isUnfinished = (kind: PushKind, { is_async }: OutboxEntry, status: string | null): boolean =>
  Boolean(is_async) && kind.unfinished?.some((each) => each === status) === true;
