// The book of orders: each is written down before it is carried out and closed with what came of it.
import { randomBytes } from 'node:crypto';
import type { Engine } from '../engine.ts';
import { controlTable, instant, text } from '../schema/table.ts';

export const syncAudit = controlTable({
  name: 'sync_audit',
  meaning: 'Every action that was ordered through the status server.',
  key: ['id'],
  columns: {
    id: text('Identifier; sorts by time.'),
    at: instant('When it was ordered.', { required: true }),
    action: text('run, pause, resume, retry, cancel or retry quarantine.', { required: true }),
    subject: text('Job, entry of the outbox, or record in quarantine.', { required: true }),
    by: text('Where the order came from: the address of the client.', { required: true }),
    outcome: text('What came of it, in plain words; `begun` where the process ended first.', {
      required: true,
    }),
  },
});

export interface AuditEntry {
  id: string;
  at: string;
  action: string;
  subject: string;
  by: string;
  outcome: string;
}

export type AuditedAction = Omit<AuditEntry, 'id' | 'outcome'>;

/** Carries the order out between its two lines; a failure is written down and thrown on. */
export async function audited<T>(
  engine: Engine,
  order: AuditedAction,
  carryOut: () => Promise<{ words: string; result: T }>,
  wordsOfFailure: (thrown: unknown) => string,
): Promise<T> {
  const id = Date.parse(order.at).toString(16).padStart(12, '0') + randomBytes(4).toString('hex');
  await engine.write(({ sql }) => sql('sync_audit').insert({ id, ...order, outcome: 'begun' }));
  const close = (outcome: string) =>
    engine.write(({ sql }) => sql('sync_audit').where({ id }).update({ outcome }));
  try {
    const { words, result } = await carryOut();
    await close(words);
    return result;
  } catch (thrown) {
    await close(`refused: ${wordsOfFailure(thrown)}`);
    throw thrown;
  }
}

export const newestOrders = (engine: Pick<Engine, 'read'>, limit: number): Promise<AuditEntry[]> =>
  engine.read((sql) => sql('sync_audit').orderBy('id', 'desc').limit(limit));
