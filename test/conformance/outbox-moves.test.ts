// The moves of an outbox entry over every engine: where each may start, what it leaves behind whoever makes it, and that
// of two who move one entry only one does.
import { describe, expect, it } from 'vitest';
import {
  type EntryChange,
  isInDoubt,
  moveEntry,
  noteEntry,
  type OutboxEntry,
} from '../../src/warehouse/outbox-entry.ts';
import type { MoveName, OutboxState } from '../../src/warehouse/outbox-states.ts';
import { engineCases } from '../support/engines.ts';
import { hour, KIND, useOutbox } from '../support/outbox-place.ts';

const AT = hour(12);

/** Everything there is to forget. */
const FULL: Partial<OutboxEntry> = {
  sent_hash: 'sent',
  noted_hash: 'noted',
  remote_id: 7,
  message: 'old',
  reasons: '["why"]',
  payload: '{}',
  changed_after_push: true,
  unclear_sends: 2,
  is_doubtful: true,
  is_watched: true,
  next_attempt_at: hour(1),
  unknown_since: hour(2),
  absent_since: hour(3),
  absent_since_there: hour(4),
  checked_run_id: 'checked',
  owner_run_id: 'owner',
  confirmed_at: hour(5),
  seen_at: hour(6),
  told_at: hour(7),
};

const found = { absent_since: null, absent_since_there: null };
const certain = { ...found, unknown_since: null, is_doubtful: 0, unclear_sends: 0 };
const again = { next_attempt_at: null, checked_run_id: null };

/** Where each may start, and where it ends with what changed. */
const LEFT: Record<MoveName, { from: OutboxState[]; to: OutboxState; change: Record<string, unknown> }> = {
  claim: { from: ['ready'], to: 'sending', change: {} },
  release: { from: ['sending'], to: 'ready', change: { owner_run_id: null } },
  confirm: {
    from: ['ready', 'sending', 'unknown', 'rejected'],
    to: 'confirmed',
    change: { ...certain, payload: null, owner_run_id: null, told_at: null },
  },
  confirmOlder: {
    from: ['ready', 'sending', 'unknown'],
    to: 'ready',
    change: { ...certain, owner_run_id: null, checked_run_id: null, confirmed_at: null },
  },
  refuse: { from: ['ready', 'sending'], to: 'rejected', change: { owner_run_id: null, told_at: null } },
  lose: { from: ['sending'], to: 'unknown', change: { ...found, owner_run_id: null, told_at: null } },
  absent: {
    from: ['unknown'],
    to: 'ready',
    change: { ...found, unknown_since: null, checked_run_id: null, confirmed_at: null },
  },
  withdraw: {
    from: ['unknown'],
    to: 'rejected',
    change: {
      ...found,
      unknown_since: null,
      payload: null,
      told_at: null,
      is_watched: 0,
      confirmed_at: null,
    },
  },
  doubt: { from: ['ready'], to: 'unknown', change: { ...found, told_at: null } },
  vouch: {
    from: ['ready', 'unknown'],
    to: 'ready',
    change: {
      ...certain,
      ...again,
      is_watched: 0,
      noted_hash: null,
      confirmed_at: null,
      remote_id: null,
      told_at: null,
    },
  },
  renew: { from: ['ready', 'rejected', 'cancelled'], to: 'ready', change: again },
  change: { from: ['confirmed'], to: 'ready', change: { ...again, confirmed_at: null } },
  retry: { from: ['rejected'], to: 'ready', change: { ...again, reasons: null, noted_hash: null } },
  cancel: { from: ['ready', 'rejected'], to: 'cancelled', change: { payload: null, told_at: null } },
  disown: {
    from: ['unknown'],
    to: 'cancelled',
    change: { ...found, payload: null, told_at: null, unknown_since: null },
  },
};
const STATES = ['ready', 'sending', 'unknown', 'confirmed', 'rejected', 'cancelled'] as const;

describe.each(engineCases)('moves on $name', (engineCase) => {
  const outbox = useOutbox(engineCase);
  const { put, row } = outbox;
  const key = { kind: KIND, external_code: 'A' };
  const move = (name: MoveName, change?: EntryChange, only?: Partial<OutboxEntry>): Promise<boolean> =>
    outbox.engine.write((tx) => moveEntry(tx, key, name, AT, change, only));

  it.each(Object.entries(LEFT))(
    '%s starts where it may and leaves what it should',
    async (name, { from, to, change }) => {
      for (const state of STATES) {
        await outbox.engine.write(({ sql }) => sql('push_outbox').delete());
        const before = await put('A', { ...FULL, state });
        const other = await put('B', { ...FULL, state });
        const isAllowed = from.includes(state);
        expect(await move(name as MoveName)).toBe(isAllowed);
        const moved = { ...change, state: to, updated_at: AT, revision: 2 };
        expect(await row('A')).toEqual(isAllowed ? { ...before, ...moved } : before);
        expect(await row('B')).toEqual(other);
      }
    },
  );

  it('the change that comes with a move has the last word', async () => {
    await put('A', { ...FULL, state: 'sending' });
    await move('release', { owner_run_id: 'kept', message: 'new' });
    expect(await row('A')).toMatchObject({ state: 'ready', owner_run_id: 'kept', message: 'new' });
  });

  it('nothing is moved that is not as it was seen', async () => {
    await put('A', { state: 'sending', owner_run_id: 'r2' });
    expect(await move('lose', {}, { owner_run_id: 'r1' })).toBe(false);
    expect(await move('lose', {}, { owner_run_id: 'r2' })).toBe(true);
  });

  it('of two who move or note what both have read, one does', async () => {
    const read = await put('A');
    await put('B');
    const note = (message: string) => outbox.engine.write((tx) => noteEntry(tx, read, { message }));
    expect(await note('first')).toBe(true);
    expect(await note('second')).toBe(false);
    expect(await row('A')).toMatchObject({ message: 'first', revision: 2, updated_at: hour(0) });
    expect(await row('B')).toMatchObject({ message: null, revision: 1 });
    expect(await Promise.all([move('claim'), move('claim')])).toEqual([true, false]);
  });
});

describe('doubt', () => {
  it.each([
    [{ unclear_sends: 0, is_doubtful: null }, false],
    [{ unclear_sends: 0, is_doubtful: false }, false],
    [{ unclear_sends: 1, is_doubtful: false }, true],
    [{ unclear_sends: 0, is_doubtful: true }, true],
  ])('of %o is %s', (entry, inDoubt) => expect(isInDoubt(entry)).toBe(inDoubt));
});
