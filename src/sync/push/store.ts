// Stores what a step of the run made of entries: the entries, a line in the history of each, and the counts of the run.
import type { Transaction } from '../../warehouse/engine.ts';
import { type Attempt, recordAttempts } from '../../warehouse/outbox/attempts.ts';
import { nameOf, type OutboxEntry } from '../../warehouse/outbox/entry.ts';
import { storeEntries } from '../../warehouse/outbox/transitions.ts';
import type { PushRun } from './kind.ts';

/** An entry before and after a step, and what its history says of it. */
export interface Outcome {
  before: OutboxEntry;
  entry: OutboxEntry;
  attempt?: Omit<Attempt, 'entry' | 'runId'>;
}

/** Gives those that were stored; the others were changed by a person meanwhile. */
export async function storeOutcomes<T extends Outcome>(
  tx: Transaction,
  { context, now }: PushRun,
  outcomes: readonly T[],
): Promise<T[]> {
  const { counts, log, runId } = context;
  const names = await storeEntries(
    tx,
    outcomes.map(({ entry }) => entry),
  );
  const stored = outcomes.filter(({ entry }) => names.has(nameOf(entry)));
  const attempts = stored.flatMap(({ entry, attempt }) => (attempt ? [{ ...attempt, entry, runId }] : []));
  await recordAttempts(tx, attempts, now());
  for (const { before, entry } of stored) {
    if (before.state === entry.state) continue;
    if (entry.state === 'confirmed') counts.confirmed++;
    if (entry.state === 'rejected') counts.rejected++;
  }
  if (stored.length < outcomes.length)
    log.warn({ entries: outcomes.length - stored.length }, 'entries changed before their outcome was stored');
  return stored;
}
