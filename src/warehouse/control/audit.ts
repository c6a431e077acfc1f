// The audit log: each action is written before it runs, and updated with its outcome.
import { randomBytes } from 'node:crypto';
import type { Engine } from '../engine.ts';
import { controlTable, instant, type RowOf, text } from '../schema/table.ts';

export const syncAudit = controlTable({
  name: 'sync_audit',
  meaning: 'Every action that was requested through the status server.',
  key: ['id'],
  columns: {
    id: text('Identifier; sorts by time.'),
    at: instant('When the action was requested.', { required: true }),
    action: text(
      'run, pause, resume, retry, cancel, retry many, assert absent many, cancel many or retry quarantine.',
      { required: true },
    ),
    subject: text('Job, outbox entry, search for outbox entries, or quarantined record.', { required: true }),
    by: text('Address of the client that requested the action.', { required: true, personal: true }),
    outcome: text('The outcome in plain words; `begun` if the process ended first.', { required: true }),
  },
});

type AuditEntry = RowOf<typeof syncAudit>;

/** Runs the action between the two writes. A failure is recorded and rethrown. */
export async function audited<T>(
  engine: Engine,
  action: Omit<AuditEntry, 'id' | 'outcome'>,
  perform: () => Promise<{ words: string; result: T }>,
  wordsOfFailure: (thrown: unknown) => string,
): Promise<T> {
  const id = Date.parse(action.at).toString(16).padStart(12, '0') + randomBytes(4).toString('hex');
  await engine.write(({ sql }) => sql('sync_audit').insert({ id, ...action, outcome: 'begun' }));
  const close = (outcome: string) => engine.write(({ sql }) => sql('sync_audit').where({ id }).update({ outcome }));
  try {
    const { words, result } = await perform();
    await close(words);
    return result;
  } catch (thrown) {
    await close(`failed: ${wordsOfFailure(thrown)}`);
    throw thrown;
  }
}

/** Oldest first. */
export const actionsOn = (engine: Pick<Engine, 'read'>, subject: string): Promise<AuditEntry[]> =>
  engine.read((sql) => sql('sync_audit').where({ subject }).orderBy('id'));

export const newestActions = (engine: Pick<Engine, 'read'>, limit: number): Promise<AuditEntry[]> =>
  engine.read((sql) => sql('sync_audit').orderBy('id', 'desc').limit(limit));
