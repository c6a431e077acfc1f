// Decides what a search of the service says about an entry. Pure. Absence is believed only after two searches a
// settling time apart, both begun after the outcome had become unknown: a service may show a new plan late.
import type { JsonObject } from '../../core/glossary.ts';
import type { OutboxEntry } from '../../warehouse/outbox-entry.ts';
import type { PushKind, Seen } from './push-kind.ts';

export type Sight =
  /** The service has it. `others` are further ones under the same key. */
  | { is: 'there'; seen: Seen; others: number[] }
  /** The service has it with another content, which a call can change. */
  | { is: 'differs'; seen: Seen }
  /** A ready entry that the service does not have: it may be created. */
  | { is: 'clear' }
  /** Not found, but not for long enough. */
  | { is: 'maybe-absent'; since: string }
  | { is: 'absent' }
  /** The search began before the entry was as it is now, or says nothing new. */
  | { is: 'nothing' };

export interface Search {
  /** ISO instant at which the search began. */
  readAt: string;
  /** ISO instant of now; what lies after it was written before the clock was set back. */
  now: string;
  settleMs: number;
}

type Sought = Pick<OutboxEntry, 'state' | 'unknown_since' | 'absent_since' | 'updated_at'>;

export function sightOf(
  entry: Sought,
  found: readonly Seen[],
  payload: JsonObject | undefined,
  kind: Pick<PushKind, 'change' | 'isSame'>,
  search: Search,
): Sight {
  const [seen, ...others] = found.toSorted((a, b) => a.id - b.id);
  if (seen !== undefined) {
    const isSame =
      kind.change === undefined || payload === undefined || kind.isSame?.(seen.record, payload) === true;
    return isSame ? { is: 'there', seen, others: others.map(({ id }) => id) } : { is: 'differs', seen };
  }
  if (entry.state === 'ready')
    return isBefore(entry.updated_at, search) ? { is: 'clear' } : { is: 'nothing' };
  if (entry.state !== 'unknown') return { is: 'nothing' };
  return absence(entry, search);
}

/** The search began after this. */
export const isBefore = (at: string, { readAt, now }: Pick<Search, 'readAt' | 'now'>): boolean =>
  at <= readAt || at > now;

function absence({ unknown_since, absent_since }: Sought, search: Search): Sight {
  const { readAt, settleMs } = search;
  if (unknown_since === null || !isBefore(unknown_since, search)) return { is: 'nothing' };
  if (absent_since === null || absent_since > readAt) return { is: 'maybe-absent', since: readAt };
  const waitedMs = Date.parse(readAt) - Date.parse(absent_since);
  return waitedMs >= settleMs ? { is: 'absent' } : { is: 'maybe-absent', since: absent_since };
}
