// Decides what a search of the service says about an entry. Pure. Absence is believed only after two searches a
// settling time apart, both begun after the outcome had become unknown: a service may show a new plan late.
import type { JsonObject } from '../../core/glossary.ts';
import { isInDoubt, type OutboxEntry } from '../../warehouse/outbox-entry.ts';
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
  /** A refused one that is not there, as was said; proven where the search has a witness. */
  | { is: 'refused'; isProven: boolean }
  /** The search began before the entry was as it is now, or says nothing new. */
  | { is: 'nothing' };

export interface Search {
  /** ISO instant at which the search began. */
  readAt: string;
  /** ISO instant of now; what lies after it was written before the clock was set back. */
  now: string;
  settleMs: number;
  /** For how long the entry has not been found, by a clock that cannot be set; undefined where none tells. */
  absentForMs?: number | undefined;
  /** The search lists all there is: an identifier that it does not show is gone. */
  isWhole?: boolean;
  /** Another entry of the same thing may have arrived. */
  hasTwin?: boolean;
}

type Sought = Pick<
  OutboxEntry,
  | 'state'
  | 'unknown_since'
  | 'absent_since'
  | 'updated_at'
  | 'remote_id'
  | 'unclear_sends'
  | 'is_doubtful'
  | 'content_hash'
  | 'sent_hash'
>;

export function sightOf(
  entry: Sought,
  found: readonly Seen[],
  payload: JsonObject | undefined,
  kind: Pick<PushKind, 'change' | 'isSame'>,
  search: Search,
): Sight {
  const [seen, ...others] = found.toSorted((a, b) => a.id - b.id);
  if (seen !== undefined && !(isRefusedChange(entry) && payload === undefined)) {
    const isSame =
      kind.change === undefined || payload === undefined || kind.isSame?.(seen.record, payload) === true;
    return isSame ? { is: 'there', seen, others: others.map(({ id }) => id) } : { is: 'differs', seen };
  }
  switch (entry.state) {
    case 'ready':
      if (!isBefore(entry.updated_at, search)) return { is: 'nothing' };
      return isKnownGone(entry, search) || search.hasTwin === true ? absence(entry, search) : { is: 'clear' };
    case 'unknown':
      if (entry.unknown_since === null || !isBefore(entry.unknown_since, search)) return { is: 'nothing' };
      return absence(entry, search);
    case 'rejected':
      return isSettled(entry.updated_at, search) ? { is: 'refused', isProven: false } : { is: 'nothing' };
    default:
      return { is: 'nothing' };
  }
}

/** That the thing is there does not tell whether the change is, once its content is not kept. */
const isRefusedChange = ({ state, remote_id, content_hash, sent_hash }: Sought): boolean =>
  state === 'rejected' && remote_id !== null && content_hash === sent_hash;

const isKnownGone = ({ remote_id }: Sought, { isWhole }: Search): boolean =>
  remote_id !== null && isWhole === true;

/** Whether this sight would have something sent that the service may have: it takes a witness. */
export const needsWitness = (entry: Sought, sight: Sight): boolean =>
  sight.is === 'maybe-absent' || sight.is === 'absent' || (sight.is === 'clear' && isInDoubt(entry));

/** The search began after this. */
export const isBefore = (at: string, { readAt, now }: Pick<Search, 'readAt' | 'now'>): boolean =>
  at <= readAt || at > now;

/** The search began a settling time after this: what had arrived by then is shown. */
export const isSettled = (at: string, { readAt, settleMs }: Pick<Search, 'readAt' | 'settleMs'>): boolean =>
  Date.parse(readAt) - Date.parse(at) >= settleMs;

function absence({ absent_since }: Sought, { readAt, settleMs, absentForMs }: Search): Sight {
  if (absent_since === null || absent_since > readAt) return { is: 'maybe-absent', since: readAt };
  const waitedMs = Math.min(Date.parse(readAt) - Date.parse(absent_since), absentForMs ?? -1);
  return waitedMs >= settleMs ? { is: 'absent' } : { is: 'maybe-absent', since: absent_since };
}
