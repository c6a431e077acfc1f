// An entry of the outbox as its row, and the one way to move it: guarded by the state it comes from, so that of
// two processes that move the same entry only one does.
import type { Knex } from 'knex';
import type { Transaction } from './engine.ts';
import { MOVES, type MoveName, type OutboxState } from './outbox-states.ts';

export interface EntryKey {
  kind: string;
  external_code: string;
}

export interface OutboxEntry extends EntryKey {
  state: OutboxState;
  content_hash: string;
  sent_hash: string | null;
  noted_hash: string | null;
  remote_id: number | null;
  remote_key: string;
  message: string | null;
  /** JSON list of sentences. */
  reasons: string | null;
  /** JSON of what is sent. */
  payload: string | null;
  erp_code: string | null;
  origin: string | null;
  batch: string | null;
  period_start: string | null;
  period_end: string | null;
  is_async: boolean | null;
  remote_status: string | null;
  is_watched: boolean | null;
  changed_after_push: boolean | null;
  uncoded_stops: number | null;
  attempts: number;
  unclear_sends: number;
  is_doubtful: boolean | null;
  next_attempt_at: string | null;
  unknown_since: string | null;
  absent_since: string | null;
  absent_since_there: string | null;
  checked_run_id: string | null;
  owner_run_id: string | null;
  created_at: string;
  updated_at: string;
  sent_at: string | null;
  confirmed_at: string | null;
  seen_at: string | null;
  told_at: string | null;
  revision: number;
}

export type EntryChange = Partial<Omit<OutboxEntry, 'kind' | 'external_code' | 'state' | 'revision'>>;

export const keyOf = ({ kind, external_code }: EntryKey): EntryKey => ({ kind, external_code });

/** A search may have to find a send of it before it is sent again. */
export const isInDoubt = ({
  unclear_sends,
  is_doubtful,
}: Pick<OutboxEntry, 'unclear_sends' | 'is_doubtful'>): boolean => unclear_sends > 0 || Boolean(is_doubtful);

/** It was found, or nothing is known of it any more. */
export const NOT_ABSENT = { absent_since: null, absent_since_there: null } as const;

const CERTAIN = { ...NOT_ABSENT, unknown_since: null, is_doubtful: false, unclear_sends: 0 } as const;

/** Nothing that was sent of it under its key is at the service. */
export const UNSENT = { sent_hash: null, unclear_sends: 0, is_doubtful: false, is_watched: false } as const;

/** What a move implies whoever makes it; the change that comes with it has the last word. */
const IMPLIED: Partial<Record<MoveName, EntryChange>> = {
  release: { owner_run_id: null },
  confirm: { ...CERTAIN, payload: null, owner_run_id: null, told_at: null },
  confirmOlder: { ...CERTAIN, owner_run_id: null, checked_run_id: null, confirmed_at: null },
  refuse: { owner_run_id: null, told_at: null },
  lose: { ...NOT_ABSENT, owner_run_id: null, told_at: null },
  absent: { ...NOT_ABSENT, unknown_since: null, checked_run_id: null, confirmed_at: null },
  withdraw: {
    ...NOT_ABSENT,
    unknown_since: null,
    payload: null,
    told_at: null,
    is_watched: false,
    confirmed_at: null,
  },
  doubt: { ...NOT_ABSENT, told_at: null },
  // As if it had never been sent: a search is asked as for any first send. What it may show after all is what was
  // sent, so that stays.
  vouch: {
    ...CERTAIN,
    is_watched: false,
    noted_hash: null,
    confirmed_at: null,
    remote_id: null,
    next_attempt_at: null,
    checked_run_id: null,
    told_at: null,
  },
  renew: { next_attempt_at: null, checked_run_id: null },
  change: { next_attempt_at: null, checked_run_id: null, confirmed_at: null },
  retry: { next_attempt_at: null, checked_run_id: null, reasons: null, noted_hash: null },
  cancel: { payload: null, told_at: null },
  disown: { ...NOT_ABSENT, payload: null, told_at: null, unknown_since: null },
};

/** False where the entry was not in a state that allows the move, or is not as `only` says. */
export async function moveEntry(
  { sql }: Pick<Transaction, 'sql'>,
  key: EntryKey,
  move: MoveName,
  at: string,
  change: EntryChange = {},
  only: Partial<OutboxEntry> = {},
): Promise<boolean> {
  const { from, to } = MOVES[move];
  const moved = await sql('push_outbox')
    .where({ ...keyOf(key), ...only })
    .whereIn('state', [...from])
    .update({ ...IMPLIED[move], ...change, state: to, updated_at: at, revision: nextRevision(sql) });
  return moved > 0;
}

/** Changes what is known of an entry without moving it; only while it is as it was read. */
export async function noteEntry(
  { sql }: Pick<Transaction, 'sql'>,
  entry: OutboxEntry,
  change: EntryChange,
): Promise<boolean> {
  const noted = await sql('push_outbox')
    .where({ ...keyOf(entry), revision: entry.revision })
    .update({ ...change, revision: nextRevision(sql) });
  return noted > 0;
}

export const nextRevision = (sql: Knex): Knex.Raw => sql.raw('revision + 1');

/** No entry waits longer than this for its next attempt; one that seems to was written before a clock change. */
const LONGEST_WAIT_MS = 2 * 3_600_000;

/** No send of it is in doubt, as a condition of a query. */
export const isCertain = (and: Knex.QueryBuilder): void => {
  and.where('unclear_sends', 0).where((or) => or.whereNull('is_doubtful').orWhere('is_doubtful', false));
};

/** Whether an entry may be sent at `at`, as a condition of a query. */
export const isDue =
  (at: string) =>
  (or: Knex.QueryBuilder): void => {
    const beyond = new Date(Date.parse(at) + LONGEST_WAIT_MS).toISOString();
    or.whereNull('next_attempt_at')
      .orWhere('next_attempt_at', '<=', at)
      .orWhere('next_attempt_at', '>', beyond);
  };
