// The life of an outbox entry as one table: where each transition may start, where it ends, and every column that it
// sets by itself. A transition is pure; `storeEntries` writes its result, and only over the row that was read.
import type { StoreOptions, Transaction } from '../engine.ts';
import { type EntryKey, nameOf, type OutboxEntry, type OutboxState, pushOutbox } from './entry.ts';

export type EntryChange = Partial<Omit<OutboxEntry, keyof EntryKey | 'state' | 'revision'>>;

interface Transition {
  readonly from: readonly OutboxState[];
  /** `same`: what is known of the entry changes, and its state stays. */
  readonly to: OutboxState | 'same';
  readonly sets: EntryChange;
}

/** Nothing is in doubt any more, and nobody has to look. */
const SETTLED = { unknown_since: null, absent_since: null, next_attempt_at: null, attention: null } as const;
const NOTIFY = { told_at: null } as const;
/** As if it had never been sent. */
const FORGOTTEN = { remote_id: null, sent_hash: null, seen_at: null } as const;

export const TRANSITIONS = {
  /** A run is about to send it; on disk before the first byte leaves. */
  claim: { from: ['ready'], to: 'sending', sets: { absent_since: null, next_attempt_at: null } },
  /** The service has it: by its answer, or because a read-back shows it. */
  confirm: {
    from: ['ready', 'sending', 'unknown', 'rejected'],
    to: 'confirmed',
    sets: { ...SETTLED, ...NOTIFY, payload: null, unclear_sends: 0 },
  },
  /** The service rejected it, or it breaks a rule. */
  reject: {
    from: ['ready', 'sending', 'unknown', 'rejected', 'cancelled'],
    to: 'rejected',
    sets: { ...SETTLED, ...NOTIFY },
  },
  /** It is sent again: it did not reach the service, was turned away, or is a change that may be made twice. */
  release: { from: ['sending'], to: 'ready', sets: {} },
  /** It may have reached the service: no clear answer, or the process died. */
  becomeUnknown: {
    from: ['sending'],
    to: 'unknown',
    sets: { ...NOTIFY, absent_since: null, next_attempt_at: null },
  },
  /** Two conclusive read-backs did not show it. */
  believeAbsent: { from: ['unknown'], to: 'ready', sets: SETTLED },
  /** The ERP offered another content of what is not at the service. */
  renew: {
    from: ['ready', 'rejected', 'cancelled'],
    to: 'ready',
    sets: { ...SETTLED, ...NOTIFY, reasons: null, message: null },
  },
  /** The same, but an earlier send of it may have arrived. */
  reopen: {
    from: ['ready', 'rejected', 'cancelled'],
    to: 'unknown',
    sets: { ...SETTLED, ...NOTIFY, reasons: null },
  },
  /** The service has an older content, and a call can change it. */
  update: {
    from: ['confirmed', 'sending', 'unknown', 'ready'],
    to: 'ready',
    sets: { ...SETTLED, ...NOTIFY, reasons: null, message: null, unclear_sends: 0 },
  },
  /** Something else about it has become known. */
  note: { from: ['ready', 'unknown', 'confirmed', 'rejected', 'cancelled'], to: 'same', sets: {} },
  /** A person wants a rejected one sent again. */
  retry: { from: ['rejected'], to: 'ready', sets: { ...SETTLED, ...NOTIFY, reasons: null } },
  /** A person has looked: it is not at the service. It is sent as if it had never been. */
  assertAbsent: {
    from: ['unknown', 'ready', 'rejected'],
    to: 'ready',
    sets: { ...SETTLED, ...NOTIFY, ...FORGOTTEN, unclear_sends: 0 },
  },
  /** The same of a confirmed one, whose content is gone: it waits for the ERP to offer it again. */
  disprove: {
    from: ['confirmed'],
    to: 'rejected',
    sets: { ...SETTLED, ...NOTIFY, ...FORGOTTEN, content_hash: '' },
  },
  /** A person gives it up. */
  cancel: {
    from: ['ready', 'unknown', 'confirmed', 'rejected'],
    to: 'cancelled',
    sets: { ...SETTLED, ...NOTIFY, payload: null, remote_id: null, seen_at: null },
  },
} as const satisfies Record<string, Transition>;

export type TransitionName = keyof typeof TRANSITIONS;

export const mayMove = (name: TransitionName, { state }: Pick<OutboxEntry, 'state'>): boolean =>
  (TRANSITIONS[name].from as readonly OutboxState[]).includes(state);

/** The entry after the transition; `change` has the last word on its columns. */
export function transition(
  entry: OutboxEntry,
  name: TransitionName,
  at: string,
  change: EntryChange = {},
): OutboxEntry {
  if (!mayMove(name, entry)) throw new Error(`an entry that is ${entry.state} cannot ${name}`);
  const { to, sets } = TRANSITIONS[name];
  const state = to === 'same' ? entry.state : to;
  const stamped = to === 'same' ? {} : { updated_at: at };
  return { ...entry, ...sets, ...stamped, ...change, state, revision: entry.revision + 1 };
}

export type NewEntry = EntryKey & EntryChange & Pick<OutboxEntry, 'state' | 'content_hash' | 'remote_key'>;

export function newEntry(entry: NewEntry, at: string): OutboxEntry {
  const columns = Object.fromEntries(pushOutbox.columns.map(({ name }) => [name, null]));
  const counted = { attempts: 0, unclear_sends: 0, revision: 1, created_at: at, updated_at: at };
  return { ...columns, ...counted, ...entry } as OutboxEntry;
}

/**
 * Writes entries as they now are, each only over the revision it was made from: what a person changed meanwhile stays.
 * Gives the names of those that were written.
 */
export const storeEntries = (
  tx: Pick<Transaction, 'store'>,
  entries: readonly OutboxEntry[],
): Promise<Set<string>> => storeOver(tx, entries);

/** The same of entries whose payload stays, which is most of their text. */
export const storeWithoutPayload = (
  tx: Pick<Transaction, 'store'>,
  entries: readonly OutboxEntry[],
): Promise<Set<string>> =>
  storeOver(
    tx,
    entries.map((entry) => ({ ...entry, payload: null })),
    { payload: 'push_outbox.payload' },
  );

async function storeOver(
  { store }: Pick<Transaction, 'store'>,
  entries: readonly OutboxEntry[],
  set: StoreOptions['set'] = {},
): Promise<Set<string>> {
  if (entries.length === 0) return new Set();
  const where = 'push_outbox.revision = excluded.revision - 1';
  const keys = await store(pushOutbox, entries, { where, set });
  return new Set(keys.map((key) => nameOf({ ...key, code_use: Number(key.code_use) })));
}
