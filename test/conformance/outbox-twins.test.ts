// Entries of one key, over every engine: which of them another one casts doubt on, and what a person's look is worth.
import { describe, expect, it } from 'vitest';
import type { OutboxEntry } from '../../src/warehouse/outbox-entry.ts';
import { codesWithTwins } from '../../src/warehouse/outbox-twins.ts';
import { noteOrder } from '../../src/warehouse/push-attempts.ts';
import { engineCases } from '../support/engines.ts';
import { hour, KIND, useOutbox } from '../support/outbox-place.ts';

describe.each(engineCases)('twins on $name', (engineCase) => {
  const outbox = useOutbox(engineCase);
  const { put } = outbox;
  const withTwins = async (...entries: OutboxEntry[]): Promise<string[]> =>
    [...(await outbox.engine.read((sql) => codesWithTwins(sql, entries)))].toSorted();

  it.each<[string, Partial<OutboxEntry>]>([
    ['is on its way', { state: 'sending' }],
    ['may have arrived', { state: 'unknown' }],
    ['was confirmed', { state: 'confirmed', seen_at: hour(1) }],
    ['was turned away', { is_doubtful: true }],
    ['is sent once more', { unclear_sends: 1 }],
    ['was refused by a status', { state: 'rejected', is_doubtful: true }],
    ['was given up while it was unknown', { state: 'cancelled', unclear_sends: 1 }],
  ])('one that %s casts doubt on the others of its key, and on none else', async (_, change) => {
    const other = await put('other', { ...change, remote_key: 'K' });
    const [A, B] = [await put('A', { remote_key: 'K' }), await put('B', { remote_key: 'K' })];
    const agent = await put('agent', { remote_key: 'K', kind: 'agents' });
    const L = await put('L', { remote_key: 'L' });
    expect(await withTwins(A, other, L)).toEqual(['A']);
    expect(await withTwins(A, B)).toEqual(['A', 'B']);
    expect(await withTwins(agent)).toEqual([]);
    expect(await withTwins()).toEqual([]);
  });

  it.each<[string, Partial<OutboxEntry>]>([
    ['was not sent', {}],
    ['was not sent for certain', { attempts: 1, is_doubtful: false }],
    ['breaks the rules', { state: 'rejected' }],
    ['was given up', { state: 'cancelled' }],
  ])('one that %s casts none', async (_, change) => {
    await put('other', { ...change, remote_key: 'K' });
    expect(await withTwins(await put('A', { remote_key: 'K' }))).toEqual([]);
  });

  it.each<[string, Partial<OutboxEntry>]>([
    ['sent', { state: 'unknown', sent_at: hour(5) }],
    ['confirmed', { state: 'confirmed', sent_at: hour(1), confirmed_at: hour(5) }],
  ])('a person who looked since it was %s takes the doubt', async (_, change) => {
    const vouched = { outcome: 'vouched', message: null } as const;
    await put('other', { ...change, remote_key: 'K' });
    const A = await put('A', { remote_key: 'K' });
    const look = (external_code: string, at: number, kind = KIND): Promise<void> =>
      outbox.engine.write((tx) => noteOrder(tx, { kind, external_code }, vouched, hour(at)));
    await look('A', 4);
    await look('other', 6);
    await look('A', 6, 'agents');
    await outbox.engine.write((tx) => noteOrder(tx, A, { ...vouched, outcome: 'revived' }, hour(6)));
    expect(await withTwins(A)).toEqual(['A']);
    await look('A', 5);
    expect(await withTwins(A)).toEqual([]);
  });

  it('a look takes the doubt of one that nobody sent and that is there', async () => {
    await put('other', { state: 'confirmed', remote_key: 'K' });
    const A = await put('A', { remote_key: 'K' });
    expect(await withTwins(A)).toEqual(['A']);
    await outbox.engine.write((tx) => noteOrder(tx, A, { outcome: 'vouched', message: null }, hour(1)));
    expect(await withTwins(A)).toEqual([]);
  });
});
