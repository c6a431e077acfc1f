// Entries of one key, over every engine: which of them another one casts doubt on, and what a person's look is worth.
import { describe, expect, it } from 'vitest';
import type { OutboxEntry } from '../../src/warehouse/outbox-entry.ts';
import { arrivedTwins } from '../../src/warehouse/outbox-twins.ts';
import { noteOrder } from '../../src/warehouse/push-attempts.ts';
import { engineCases } from '../support/engines.ts';
import { hour, KIND, useOutbox } from '../support/outbox-place.ts';

describe.each(engineCases)('twins on $name', (engineCase) => {
  const outbox = useOutbox(engineCase);
  const { put } = outbox;
  const twinsOf = async (...entries: OutboxEntry[]): Promise<Record<string, string>> =>
    Object.fromEntries(await outbox.engine.read((sql) => arrivedTwins(sql, entries)));

  it.each<[string, Partial<OutboxEntry>]>([
    ['is on its way', { state: 'sending' }],
    ['may have arrived', { state: 'unknown' }],
    ['was confirmed', { state: 'confirmed', seen_at: hour(1) }],
    ['was turned away', { is_doubtful: true }],
    ['is sent once more', { unclear_sends: 1 }],
    ['was refused by a status', { state: 'rejected', is_doubtful: true }],
    ['was given up while it was unknown', { state: 'cancelled', unclear_sends: 1 }],
  ])('one that %s casts doubt on the ready ones of its key, and on none else', async (_, change) => {
    const other = await put('other', { ...change, remote_key: 'K' });
    const [A, B] = [await put('A', { remote_key: 'K' }), await put('B', { remote_key: 'K' })];
    const refused = await put('refused', { remote_key: 'K', state: 'rejected' });
    const agent = await put('agent', { remote_key: 'K', kind: 'agents' });
    const L = await put('L', { remote_key: 'L' });
    expect(await twinsOf(A, other, L, refused)).toEqual({ A: 'other' });
    expect(await twinsOf(A, B)).toEqual({ A: 'other', B: 'other' });
    expect(await twinsOf(agent)).toEqual({});
    expect(await twinsOf(other)).toEqual({});
  });

  it.each<[string, Partial<OutboxEntry>]>([
    ['was not sent', {}],
    ['was not sent for certain', { attempts: 1, is_doubtful: false }],
    ['breaks the rules', { state: 'rejected' }],
    ['was given up', { state: 'cancelled' }],
  ])('one that %s casts none', async (_, change) => {
    await put('other', { ...change, remote_key: 'K' });
    expect(await twinsOf(await put('A', { remote_key: 'K' }))).toEqual({});
  });

  it('one in doubt waits for a confirmed one alone: two in doubt would wait for each other', async () => {
    const A = await put('A', { remote_key: 'K', is_doubtful: true });
    await put('unknown', { remote_key: 'K', state: 'unknown' });
    expect(await twinsOf(A)).toEqual({});
    await put('there', { remote_key: 'K', state: 'confirmed', seen_at: hour(1) });
    expect(await twinsOf(A)).toEqual({ A: 'there' });
  });

  it('one that was claimed since it was read is none of itself', async () => {
    const A = await put('A', { remote_key: 'K', state: 'sending' });
    expect(await twinsOf({ ...A, state: 'ready' })).toEqual({});
  });

  const vouched = { outcome: 'vouched', message: null } as const;
  const look = (external_code: string, at: number, kind = KIND): Promise<void> =>
    outbox.engine.write((tx) => noteOrder(tx, { kind, external_code }, vouched, hour(at)));

  it.each<[string, Partial<OutboxEntry>]>([
    ['sent', { state: 'cancelled', is_doubtful: true, sent_at: hour(5) }],
    ['confirmed', { state: 'confirmed', seen_at: hour(2), sent_at: hour(1), confirmed_at: hour(5) }],
  ])('a person who looked since it was %s takes the doubt', async (_, change) => {
    await put('other', { ...change, remote_key: 'K' });
    const A = await put('A', { remote_key: 'K' });
    await look('A', 4);
    await look('other', 6);
    await look('A', 6, 'agents');
    await outbox.engine.write((tx) => noteOrder(tx, A, { ...vouched, outcome: 'revived' }, hour(6)));
    expect(await twinsOf(A)).toEqual({ A: 'other' });
    await look('A', 5);
    await look('A', 3);
    expect(await twinsOf(A)).toEqual({});
    expect(await twinsOf({ ...A, updated_at: hour(5) })).toEqual({});
    expect(await twinsOf({ ...A, updated_at: hour(5.01) }), 'it is another content since').toEqual({
      A: 'other',
    });
  });

  it('a look takes the doubt of one that nobody sent and that is there', async () => {
    await put('other', { state: 'confirmed', seen_at: hour(1), remote_key: 'K' });
    const A = await put('A', { remote_key: 'K' });
    expect(await twinsOf(A)).toEqual({ A: 'other' });
    await look('A', 1);
    expect(await twinsOf(A)).toEqual({});
  });
});
