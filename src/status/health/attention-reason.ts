// Why an outbox entry needs a person, by the same rule that counts such entries: a reason stored by a read-back or the
// feed, no clear answer for ten minutes, or an ERP that was not notified for ten minutes.
import type { OutboxEntry } from '../../warehouse/outbox/entry.ts';
import { type AttentionReason, GRACE_MS } from '../../warehouse/outbox/lists.ts';
import { FINAL } from '../../warehouse/outbox/queries.ts';

type Judged = Pick<
  OutboxEntry,
  'kind' | 'state' | 'attention' | 'period_end' | 'unknown_since' | 'remote_id' | 'told_at' | 'updated_at'
>;

/** Null if the entry needs nobody. `waiting`: the kinds with a file that waits for its result. */
export function attentionReason(entry: Judged, nowMs: number, waiting: ReadonlySet<string>): AttentionReason | null {
  const { kind, state, attention, period_end } = entry;
  const isLate = (since: string | null): boolean => since !== null && Date.parse(since) < nowMs - GRACE_MS;
  if (attention !== null) {
    // A plan whose period is over cannot be sent any more.
    const isOver = period_end !== null && Date.parse(period_end) <= nowMs;
    return attention === 'code_reused' && isOver ? null : attention;
  }
  if (state === 'unknown') return isLate(entry.unknown_since) ? 'unknown' : null;
  // A confirmed entry may still wait for its identifier, or for the result of its file: then no notification is due.
  const isAwaited = (state === 'confirmed' && entry.remote_id === null) || waiting.has(kind);
  return FINAL.includes(state) && !isAwaited && entry.told_at === null && isLate(entry.updated_at)
    ? 'not_acknowledged'
    : null;
}
