// The history of an entry: every send, read-back and manual action, in order. Consecutive read-backs with the same
// outcome share one row, which counts them.
import type { Knex } from 'knex';
import type { Transaction } from '../engine.ts';
import { controlTable, instant, integer, text } from '../schema/table.ts';
import { type EntryKey, keyOf, nameOf, type OutboxEntry } from './entry.ts';
import { storeEntries } from './transitions.ts';

export const pushAttempt = controlTable({
  name: 'push_attempt',
  meaning: 'Every send, read-back and manual action of an outbox entry.',
  key: ['kind', 'external_code', 'code_use', 'number'],
  columns: {
    kind: text('Kind of the entry.'),
    external_code: text('Code of the entry.'),
    code_use: integer('Which use of the code this is, from 1.', { default: 1 }),
    number: integer('Position in the history of the entry, from 1.'),
    what: text('create, change, read-back or action.', { required: true }),
    run_id: text('The run that made the attempt; null for a manual action.'),
    started_at: instant('When the attempt began.', { required: true }),
    finished_at: instant('When the outcome was stored.'),
    outcome: text(
      'accepted, rejected, unclear, turned-away, not-sent, found, absent, inconclusive, unreadable, retried, asserted-absent, cancelled or acknowledged-again.',
    ),
    error_code: text('Stable code of the failure.'),
    http_status: integer('HTTP status of the response; null if there was none.'),
    message: text('What happened, in plain words.', { personal: true }),
    times: integer('Number of consecutive attempts with this outcome.', { required: true }),
  },
});

/** `turned-away`: the service answered 401, 403 or 429. `not-sent`: no byte left this machine. */
type SendOutcome = 'accepted' | 'rejected' | 'unclear' | 'turned-away' | 'not-sent';
/** `unreadable`: the service did not answer. */
type ReadBackOutcome = 'found' | 'absent' | 'inconclusive' | 'unreadable';
type ActionOutcome = 'retried' | 'asserted-absent' | 'cancelled' | 'acknowledged-again';
export type AttemptOutcome = SendOutcome | ReadBackOutcome | ActionOutcome;

/** A row of the history. */
export interface Attempt {
  entry: EntryKey;
  what: 'create' | 'change' | 'read-back' | 'action';
  outcome: AttemptOutcome;
  message: string | null;
  /** Null for a manual action. */
  run_id: string | null;
  started_at: string;
  error_code?: string | null;
  http_status?: number | null;
}

/** Appends to the histories with one read and one write statement. No entry may occur twice in `attempts`. */
export async function recordAttempts(
  { sql, store }: Pick<Transaction, 'sql' | 'store'>,
  attempts: readonly Attempt[],
  at: string,
): Promise<void> {
  const entries = attempts.map(({ entry }) => entry);
  const rows: AttemptRow[] = await sql('push_attempt')
    .whereIn('kind', [...new Set(entries.map(({ kind }) => kind))])
    .whereIn(
      'external_code',
      entries.map(({ external_code }) => external_code),
    )
    // The last attempt of each entry comes last, and stays in the map.
    .orderBy('number');
  const last = new Map(rows.map((row) => [nameOf({ ...row, code_use: Number(row.code_use) }), row]));
  await store(
    pushAttempt,
    attempts.map((attempt) => rowOf(attempt, last.get(nameOf(attempt.entry)), at)),
  );
}

type AttemptRow = EntryKey & Omit<Attempt, 'entry'> & { number: number; times: number };

function rowOf({ entry, ...attempt }: Attempt, last: AttemptRow | undefined, at: string) {
  const row = { error_code: null, http_status: null, ...attempt, ...keyOf(entry), finished_at: at };
  const number = Number(last?.number ?? 0);
  const isRepeated = row.what === 'read-back' && last?.what === row.what && last.outcome === row.outcome;
  if (!isRepeated) return { ...row, number: number + 1, times: 1 };
  return { ...row, number, started_at: last.started_at, times: Number(last.times) + 1 };
}

/** The entry after a step, and the attempt to add to its history. */
export interface Step {
  entry: OutboxEntry;
  attempt?: Omit<Attempt, 'entry' | 'run_id'>;
}

/** Writes entries and their histories. Returns the stored steps; the other entries changed since they were read. */
export async function storeSteps<T extends Step>(
  tx: Transaction,
  steps: readonly T[],
  run_id: string | null,
  at: string,
): Promise<T[]> {
  const entries = steps.map(({ entry }) => entry);
  const names = await storeEntries(tx, entries);
  const stored = steps.filter(({ entry }) => names.has(nameOf(entry)));
  const attempts = stored.flatMap(({ entry, attempt }) => (attempt ? [{ ...attempt, entry, run_id }] : []));
  await recordAttempts(tx, attempts, at);
  return stored;
}

export const attemptsOf = (sql: Knex, entry: EntryKey): Promise<Record<string, unknown>[]> =>
  sql(pushAttempt.name).where(keyOf(entry)).orderBy('number');
