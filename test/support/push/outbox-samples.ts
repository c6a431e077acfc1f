// An outbox entry for tests of pure decisions, whole and in a given state.
import type { OutboxEntry, OutboxState } from '../../../src/warehouse/outbox/entry.ts';
import { newEntry } from '../../../src/warehouse/outbox/transitions.ts';

export const AT = '2025-03-12T15:00:00.000Z';

export const minutesAfter = (minutes: number, at = AT): string =>
  new Date(Date.parse(at) + minutes * 60_000).toISOString();

/** A plan of the day after, as it is in that state by itself. */
export function entryIn(state: OutboxState, change: Partial<OutboxEntry> = {}): OutboxEntry {
  const isSent = state === 'sending' || state === 'unknown' || state === 'confirmed';
  return {
    ...newEntry(
      {
        kind: 'route_plans',
        external_code: 'P1',
        code_use: 1,
        state,
        content_hash: 'one',
        remote_key: 'P1',
        payload: state === 'confirmed' || state === 'cancelled' ? null : '{"data":{},"options":{}}',
        period_start: '2025-03-13T11:00:00.000Z',
        period_end: '2025-03-13T21:00:00.000Z',
      },
      AT,
    ),
    ...(isSent && { sent_hash: 'one', sent_at: AT, attempts: 1 }),
    ...(state === 'unknown' && { unknown_since: AT, unclear_sends: 1 }),
    ...(state === 'confirmed' && { confirmed_at: AT, remote_id: 7, seen_at: AT, told_at: AT }),
    ...change,
  };
}
