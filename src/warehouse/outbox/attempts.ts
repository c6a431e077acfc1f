// The history of an entry: every send, read-back and action of a person, in order. A read-back with the same result
// as the one before it is counted in the same row.
import type { Knex } from 'knex';
import type { Transaction } from '../engine.ts';
import { controlTable, instant, integer, text } from '../schema/table.ts';
import { type EntryKey, keyOf, nameOf, type OutboxEntry } from './entry.ts';
import { storeEntries } from './transitions.ts';

export const pushAttempt = controlTable({
  name: 'push_attempt',
  meaning: 'Every send and read-back of an outbox entry, and every action of a person on it.',
  key: ['kind', 'external_code', 'code_use', 'number'],
  columns: {
    kind: text('Kind of the entry.'),
    external_code: text('Code of the entry.'),
    code_use: integer('Which use of the code.', { default: 1 }),
    number: integer('Place in its history, from 1.'),
    what: text('create, change, read-back or action.', { required: true }),
    run_id: text('The run that made it; null for a person.'),
    started_at: instant('When it began.', { required: true }),
    finished_at: instant('When its outcome was stored.'),
    outcome: text(
      'accepted, rejected, unclear, turned-away, not-sent, found, absent, inconclusive, unreadable, or what a person did.',
    ),
    error_code: text('Stable word for the failure.'),
    http_status: integer('Status of the answer, where there was one.'),
    message: text('What happened, in plain words.'),
    times: integer('How often in a row.', { required: true }),
  },
});

/** `turned-away`: the answer is 401, 403 or 429. `not-sent`: nothing left. */
type SendOutcome = 'accepted' | 'rejected' | 'unclear' | 'turned-away' | 'not-sent';
/** `unreadable`: the service did not answer. */
type ReadBackOutcome = 'found' | 'absent' | 'inconclusive' | 'unreadable';
type ActionOutcome = 'retried' | 'asserted-absent' | 'cancelled';
export type AttemptOutcome = SendOutcome | ReadBackOutcome | ActionOutcome;

/** A line of the history, in its columns. */
export interface Attempt {
  entry: EntryKey;
  what: 'create' | 'change' | 'read-back' | 'action';
  outcome: AttemptOutcome;
  message: string | null;
  /** Null for a person. */
  run_id: string | null;
  started_at: string;
  error_code?: string | null;
  http_status?: number | null;
}

/** One statement to read the ends of the histories, one to write. No entry may occur twice in `attempts`. */
export async function recordAttempts(
  { sql, store }: Pick<Transaction, 'sql' | 'store'>,
  attempts: readonly Attempt[],
  at: string,
): Promise<void> {
  if (attempts.length === 0) return;
  const entries = attempts.map(({ entry }) => entry);
  const rows: AttemptRow[] = await sql('push_attempt as attempt')
    .whereIn('kind', [...new Set(entries.map(({ kind }) => kind))])
    .whereIn(
      'external_code',
      entries.map(({ external_code }) => external_code),
    )
    .whereRaw(
      `number = (select max(number) from push_attempt as later where later.kind = attempt.kind
       and later.external_code = attempt.external_code and later.code_use = attempt.code_use)`,
    );
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

/** An entry as a step leaves it, and what its history says of that. */
export interface Step {
  entry: OutboxEntry;
  attempt?: Omit<Attempt, 'entry' | 'run_id'>;
}

/** Writes entries with their histories. Gives those that were stored; a person changed the others meanwhile. */
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
