// The story of an entry: each attempt opened in the transaction that lets it begin and closed in the one that
// stores its outcome, so that an open attempt always means a process that died with it.
import type { Transaction } from './engine.ts';
import { type EntryKey, keyOf } from './outbox-entry.ts';

export type AttemptKind = 'create' | 'change' | 'read-back' | 'order';
export type AttemptOutcome =
  | 'accepted'
  | 'refused'
  | 'unclear'
  /** The answer says that nothing was done, but may have come from something in between. */
  | 'turned-away'
  | 'not-sent'
  | 'found'
  | 'absent'
  /** Not found, by a search that does not show what it should. */
  | 'blind'
  | 'unreadable'
  /** Orders of a person. */
  | 'vouched'
  | 'revived';

export interface AttemptEnd {
  outcome: AttemptOutcome;
  message: string | null;
  error_code?: string | null;
  http_status?: number | null;
}

interface AttemptStart {
  what: AttemptKind;
  runId: string | null;
  at: string;
}

/** Gives the number of the attempt. */
export async function openAttempt(
  { sql }: Transaction,
  key: EntryKey,
  { what, runId, at }: AttemptStart,
): Promise<number> {
  const [last] = await sql('push_attempt').where(keyOf(key)).max({ number: 'number' });
  const number = Number(last?.number ?? 0) + 1;
  await sql('push_attempt').insert({
    ...keyOf(key),
    number,
    what,
    run_id: runId,
    started_at: at,
    times: 1,
  });
  return number;
}

export async function closeAttempt(
  { sql }: Transaction,
  key: EntryKey,
  number: number,
  end: AttemptEnd,
  at: string,
): Promise<void> {
  await sql('push_attempt')
    .where({ ...keyOf(key), number })
    .update({ ...end, finished_at: at });
}

/** Closes what a dead process left open. */
export async function closeOpenAttempts({ sql }: Transaction, key: EntryKey, end: AttemptEnd): Promise<void> {
  await sql('push_attempt').where(keyOf(key)).whereNull('outcome').update(end);
}

/** What a person ordered. */
export async function noteOrder(tx: Transaction, key: EntryKey, end: AttemptEnd, at: string): Promise<void> {
  const number = await openAttempt(tx, key, { what: 'order', runId: null, at });
  await closeAttempt(tx, key, number, end, at);
}

/** A reading with the same result as the one before it is counted there. */
export async function noteReading(
  tx: Transaction,
  key: EntryKey,
  end: AttemptEnd,
  { runId, at }: Omit<AttemptStart, 'what'>,
): Promise<void> {
  const last = await tx.sql('push_attempt').where(keyOf(key)).orderBy('number', 'desc').first();
  if (last?.what === 'read-back' && last.outcome === end.outcome) {
    await tx
      .sql('push_attempt')
      .where({ ...keyOf(key), number: last.number })
      .update({ ...end, finished_at: at, run_id: runId, times: last.times + 1 });
    return;
  }
  const number = await openAttempt(tx, key, { what: 'read-back', runId, at });
  await closeAttempt(tx, key, number, end, at);
}
