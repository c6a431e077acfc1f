// The states of an outbox entry as one table: from which states each transition may start, in which state it ends, and
// which columns it always sets. A transition is a pure function. `storeEntries` writes the result, and only over the
// revision that was read.
import type { StoreOptions, Transaction } from '../engine.ts';
import { type EntryKey, nameOf, type OutboxEntry, type OutboxState, pushOutbox } from './entry.ts';

export type EntryChange = Partial<Omit<OutboxEntry, keyof EntryKey | 'state' | 'revision'>>;

interface Transition {
  readonly from: readonly OutboxState[];
  /** `same`: columns change, the state does not. */
  readonly to: OutboxState | 'same';
  readonly sets: EntryChange;
}

/** Nothing is waited for, and the entry needs no person. */
const DUE = { absent_since: null, next_attempt_at: null, attention: null, failed_sends: 0 } as const;
/** Clears every doubt: the outcome is known. */
const RESOLVED = { ...DUE, unknown_since: null } as const;
const NOTIFY = { told_at: null } as const;
/** As if the item had never been sent. */
const NEVER_SENT = { remote_id: null, sent_hash: null, seen_at: null } as const;

export const TRANSITIONS = {
  /** A run is about to send the item. The claim is on disk before the first byte leaves. */
  claim: { from: ['ready'], to: 'sending', sets: { absent_since: null, next_attempt_at: null } },
  /** The service has the item: it answered so, or a read-back shows the item. */
  confirm: {
    from: ['ready', 'sending', 'unknown', 'rejected'],
    to: 'confirmed',
    sets: { ...RESOLVED, ...NOTIFY, payload: null, unclear_sends: 0 },
  },
  /** The service rejected the item, or the item is invalid. */
  reject: {
    from: ['ready', 'sending', 'unknown', 'rejected', 'cancelled'],
    to: 'rejected',
    sets: { ...RESOLVED, ...NOTIFY },
  },
  /** The item is sent again: the send did not reach the service, was turned away, or is a change that is safe to repeat. */
  release: { from: ['sending'], to: 'ready', sets: {} },
  /** The item may have reached the service: there was no clear answer, or the process died. */
  becomeUnknown: {
    from: ['sending'],
    to: 'unknown',
    sets: { ...NOTIFY, absent_since: null, next_attempt_at: null },
  },
  /** Two conclusive read-backs did not show the item. `unknown_since` stays: it is the time of the first unclear send. */
  believeAbsent: { from: ['unknown'], to: 'ready', sets: DUE },
  /** The ERP offered new content for an item that is not at the service. */
  renew: {
    from: ['ready', 'rejected', 'cancelled'],
    to: 'ready',
    sets: { ...RESOLVED, ...NOTIFY, reasons: null, message: null },
  },
  /** As `renew`, but an earlier send may have reached the service. */
  reopen: {
    from: ['ready', 'rejected', 'cancelled'],
    to: 'unknown',
    sets: { ...RESOLVED, ...NOTIFY, reasons: null },
  },
  /** The service has older content, and a call can change it. */
  update: {
    from: ['confirmed', 'sending', 'unknown', 'ready'],
    to: 'ready',
    sets: { ...RESOLVED, ...NOTIFY, reasons: null, message: null, unclear_sends: 0 },
  },
  /** Records other facts about the entry. */
  note: { from: ['ready', 'unknown', 'confirmed', 'rejected', 'cancelled'], to: 'same', sets: {} },
  /** A person wants a rejected item sent again. */
  retry: { from: ['rejected'], to: 'ready', sets: { ...RESOLVED, ...NOTIFY, reasons: null } },
  /** A person asserts that the item is not at the service. It is sent as if for the first time. */
  assertAbsent: {
    from: ['unknown', 'ready', 'rejected'],
    to: 'ready',
    sets: { ...RESOLVED, ...NOTIFY, ...NEVER_SENT, unclear_sends: 0 },
  },
  /** As `assertAbsent` for a confirmed item. Its content is no longer stored, so the ERP has to offer the item again. */
  disprove: {
    from: ['confirmed'],
    to: 'rejected',
    sets: { ...RESOLVED, ...NOTIFY, ...NEVER_SENT, content_hash: '' },
  },
  /** A person cancels the item. */
  cancel: {
    from: ['ready', 'unknown', 'confirmed', 'rejected'],
    to: 'cancelled',
    sets: { ...RESOLVED, ...NOTIFY, payload: null, remote_id: null, seen_at: null },
  },
} as const satisfies Record<string, Transition>;

export type TransitionName = keyof typeof TRANSITIONS;

export const mayMove = (name: TransitionName, { state }: Pick<OutboxEntry, 'state'>): boolean =>
  (TRANSITIONS[name].from as readonly OutboxState[]).includes(state);

/** The entry after the transition. `change` overrides the columns that the transition sets. */
export function transition(
  entry: OutboxEntry,
  name: TransitionName,
  at: string,
  change: EntryChange = {},
): OutboxEntry {
  if (!mayMove(name, entry)) throw new Error(`an entry that is ${entry.state} cannot ${name}`);
  const { to, sets } = TRANSITIONS[name];
  const state = to === 'same' ? entry.state : to;
  const after = { ...entry, ...sets, ...change, state, revision: entry.revision + 1 };
  const hasSameNeed = after.attention === entry.attention;
  const need = hasSameNeed ? {} : { attention_since: after.attention === null ? null : at };
  const updated = to === 'same' && hasSameNeed ? {} : { updated_at: change.updated_at ?? at };
  return { ...after, ...need, ...updated };
}

export type NewEntry = EntryKey & EntryChange & Pick<OutboxEntry, 'state' | 'content_hash' | 'remote_key'>;

export function newEntry(entry: NewEntry, at: string): OutboxEntry {
  const columns = Object.fromEntries(pushOutbox.columns.map(({ name }) => [name, null]));
  const counted = { attempts: 0, unclear_sends: 0, failed_sends: 0, revision: 1, created_at: at, updated_at: at };
  const attention_since = entry.attention == null ? null : at;
  return { ...columns, ...counted, attention_since, ...entry } as OutboxEntry;
}

/**
 * Writes each entry only over the revision it was derived from, so that a concurrent change by a person is kept.
 * Returns the names of the entries that were written.
 */
export async function storeEntries(
  { store }: Pick<Transaction, 'store'>,
  entries: readonly OutboxEntry[],
  set: StoreOptions['set'] = {},
): Promise<Set<string>> {
  const where = 'push_outbox.revision = excluded.revision - 1';
  const keys = await store(pushOutbox, entries, { where, set });
  return new Set(keys.map((key) => nameOf({ ...key, code_use: Number(key.code_use) })));
}

/** As `storeEntries`, but leaves the stored payload: it is most of an entry's text. */
export function storeWithoutPayload(tx: Pick<Transaction, 'store'>, entries: readonly OutboxEntry[]) {
  const light = entries.map((entry) => ({ ...entry, payload: null }));
  return storeEntries(tx, light, { payload: 'push_outbox.payload' });
}
