// The outbox as a queue, over every engine: what may be claimed and in which order, what a dead process left, and the
// story that each attempt leaves behind.
import { describe, expect, it } from 'vitest';
import {
  type Claim,
  claimNext,
  dropOldPayloads,
  forgetChecks,
  oldestUnknown,
  outboxCounts,
  recoverSending,
} from '../../src/warehouse/outbox.ts';
import type { OutboxEntry } from '../../src/warehouse/outbox-entry.ts';
import { closeAttempt, noteOrder, noteReading, openAttempt } from '../../src/warehouse/push-attempts.ts';
import { engineCases } from '../support/engines.ts';
import { hour, KIND, useOutbox } from '../support/outbox-place.ts';

const AT = hour(12);

describe.each(engineCases)('claims on $name', (engineCase) => {
  const outbox = useOutbox(engineCase);
  const { put, row, attempts, run } = outbox;

  const claim = async (change: Partial<Claim> = {}) => {
    const usual = {
      kind: KIND,
      runId: 'r1',
      at: AT,
      checkedOnly: false,
      isOneAKey: false,
      keyOf: (payload: string) => `key ${payload}`,
    };
    return claimNext(outbox.engine, { ...usual, ...change });
  };
  /** The codes in the order in which they are claimed. */
  const claimAll = async (change: Partial<Claim> = {}): Promise<string[]> => {
    const codes: string[] = [];
    for (;;) {
      const claimed = await claim(change);
      if (claimed === undefined) return codes;
      codes.push(claimed.entry.external_code);
    }
  };

  it('an entry is sending on disk, with its owner and its attempt, before anybody may send it', async () => {
    const remote_key = 'key {"a":1}';
    await put('A', { payload: '{"a":1}', remote_key, sent_hash: 'older', attempts: 2, message: 'kept' });
    const claimed = await claim();
    const stored = await row('A');
    expect(stored).toMatchObject({
      state: 'sending',
      owner_run_id: 'r1',
      sent_hash: 'hash A',
      sent_at: AT,
      updated_at: AT,
      remote_key,
      attempts: 3,
      revision: 2,
      message: 'kept',
    });
    const { revision: _, updated_at: __, ...same } = stored;
    expect(claimed).toMatchObject({ entry: same, sentBefore: 'older', attempt: 1 });
    expect(await attempts('A')).toMatchObject([
      {
        kind: KIND,
        number: 1,
        what: 'create',
        run_id: 'r1',
        started_at: AT,
        finished_at: null,
        outcome: null,
        times: 1,
      },
    ]);
  });

  it('one that the service has is changed, not created', async () => {
    await put('A', { remote_id: 7 });
    await claim();
    expect(await attempts('A')).toMatchObject([{ what: 'change' }]);
  });

  it('those that start first go first, then by code', async () => {
    await put('B', { period_start: hour(20) });
    await put('A', { period_start: hour(20) });
    await put('C', { period_start: hour(19) });
    await put('D');
    expect(await claimAll()).toEqual(['D', 'C', 'A', 'B']);
  });

  it('only what is ready, of the kind, and has a content is claimed', async () => {
    await put('agent', { kind: 'agents' });
    await put('empty', { payload: null });
    for (const state of ['sending', 'unknown', 'confirmed', 'rejected', 'cancelled'] as const)
      await put(state, { state });
    expect(await claimAll()).toEqual([]);
    expect(await attempts('agent')).toEqual([]);
  });

  it('what waits is claimed when its time has come, or where it waits longer than anything may', async () => {
    await put('now', { next_attempt_at: AT });
    await put('soon', { next_attempt_at: hour(12.01) });
    await put('latest', { next_attempt_at: hour(14) });
    await put('clock was set back', { next_attempt_at: hour(14.01) });
    expect(await claimAll()).toEqual(['clock was set back', 'now']);
  });

  it('what is in doubt, or has to be checked first, is claimed by the run that has searched for it alone', async () => {
    await put('certain', { is_doubtful: false });
    const remote_key = 'key {}';
    await put('checked', { checked_run_id: 'r1', remote_key });
    await put('checked by another', { checked_run_id: 'r0' });
    await put('doubtful', { is_doubtful: true });
    await put('doubtful, checked', { is_doubtful: true, checked_run_id: 'r1', remote_key });
    await put('unclear', { unclear_sends: 1 });
    expect(await claimAll({ checkedOnly: true })).toEqual(['checked', 'doubtful, checked']);
    expect(await claimAll()).toEqual(['certain', 'checked by another']);
  });

  it('one that has another key since it was searched for is searched for by that, unless its identifier is known', async () => {
    const inDoubt = { is_doubtful: true, unclear_sends: 2, sent_hash: 'sent' };
    const sought = { ...inDoubt, checked_run_id: 'r1', remote_key: 'older' };
    await put('A', sought);
    await put('B', { ...sought, remote_id: 7 });
    expect(await claimAll({ checkedOnly: true })).toEqual(['B']);
    expect(await row('A')).toMatchObject({
      state: 'ready',
      remote_key: 'key {}',
      sent_hash: null,
      checked_run_id: null,
      is_doubtful: 0,
      unclear_sends: 0,
      attempts: 0,
    });
  });

  describe('where one key is one thing', () => {
    const sameKey = { keyOf: () => 'K', isOneAKey: true, checkedOnly: true };
    const checked = { remote_key: 'K', checked_run_id: 'r1' };
    const absent = { absent_since: hour(3), absent_since_there: hour(4) };

    it('forgets at a send since when the ready ones of its key are not found', async () => {
      await put('A', checked);
      await put('same', { remote_key: 'K', ...absent });
      await put('agent', { remote_key: 'K', kind: 'agents', ...absent });
      await put('other', { remote_key: 'L', ...absent });
      await put('refused', { remote_key: 'K', state: 'rejected', ...absent });
      expect(await claim(sameKey)).toMatchObject({ entry: { external_code: 'A' } });
      expect(await row('same')).toMatchObject({ absent_since: null, absent_since_there: null, revision: 2 });
      for (const code of ['agent', 'other', 'refused'])
        expect(await row(code), code).toMatchObject({ ...absent, revision: 1 });
    });

    it('leaves them where several things may have one key', async () => {
      await put('A', checked);
      await put('same', { remote_key: 'K', ...absent });
      expect(await claim({ ...sameKey, isOneAKey: false })).toMatchObject({ entry: { external_code: 'A' } });
      expect(await row('same')).toMatchObject(absent);
    });

    it.each<[string, Partial<OutboxEntry>]>([
      ['is on its way', { state: 'sending' }],
      ['may have arrived', { state: 'unknown' }],
      ['was turned away', { is_doubtful: true, payload: null }],
      [
        'was turned away, and another run searched',
        { is_doubtful: true, checked_run_id: 'r0', payload: null },
      ],
      ['is sent once more', { unclear_sends: 1, payload: null }],
      ['was refused by a status', { state: 'rejected', is_watched: true }],
      ['was accepted, and not shown yet', { state: 'confirmed', confirmed_at: hour(12.01 - 3 * 24) }],
    ])('another one that %s has this one searched for first', async (_, other) => {
      await put('first', { ...other, remote_key: 'K' });
      await put('second', checked);
      await put('third', checked);
      expect(await claim(sameKey)).toBeUndefined();
      const noted = { state: 'ready', checked_run_id: null, attempts: 0, updated_at: hour(0), revision: 2 };
      expect(await row('second')).toMatchObject(noted);
      expect((await row('second')).message).toContain('first is the same thing');
      expect((await row('second')).is_doubtful).toBeFalsy();
      expect(await row('third')).toMatchObject(noted);
      expect(await attempts('second')).toEqual([]);
    });

    it('the next free one is claimed instead', async () => {
      await put('first', { state: 'unknown', remote_key: 'K' });
      await put('second', { ...checked, payload: '"K"' });
      await put('third', { ...checked, payload: '"L"', remote_key: 'L' });
      const claimed = await claim({ ...sameKey, keyOf: (payload) => JSON.parse(payload) });
      expect(claimed).toMatchObject({ entry: { external_code: 'third', remote_key: 'L' } });
    });

    it('others that a search has shown or would show or that are of another kind, and it itself do not', async () => {
      await put('shown', { state: 'confirmed', seen_at: hour(1), confirmed_at: hour(1), remote_key: 'K' });
      await put('never shown', { state: 'confirmed', confirmed_at: hour(12 - 3 * 24), remote_key: 'K' });
      await put('given up', { state: 'cancelled', confirmed_at: hour(11), remote_key: 'K' });
      await put('refused', { state: 'rejected', is_watched: false, is_doubtful: true, remote_key: 'K' });
      await put('not sent', { payload: null, remote_key: 'K' });
      await put('searched for', { ...checked, is_doubtful: true, payload: null });
      await put('agent', { kind: 'agents', state: 'unknown', remote_key: 'K' });
      await put('other key', { state: 'unknown', remote_key: 'L' });
      await put('A', { ...checked, is_doubtful: true });
      expect(await claim(sameKey)).toMatchObject({ entry: { external_code: 'A' } });
    });
  });

  it('what a run has searched for is searched for again in its next round', async () => {
    await put('A', { checked_run_id: 'r1' });
    await put('B', { checked_run_id: 'r0' });
    await put('C', { checked_run_id: 'r1', state: 'sending' });
    await put('D', { checked_run_id: 'r1', kind: 'agents' });
    await forgetChecks(outbox.engine, KIND, 'r1');
    const checks = await Promise.all(['A', 'B', 'C', 'D'].map(row));
    expect(checks.map(({ checked_run_id }) => checked_run_id)).toEqual([null, 'r0', 'r1', 'r1']);
    expect(checks.map(({ revision }) => revision)).toEqual([2, 1, 1, 1]);
  });

  it('a key may be under way twice where a call can change what is there', async () => {
    await put('first', { state: 'unknown', remote_key: 'K' });
    await put('second');
    expect(await claim({ keyOf: () => 'K' })).toMatchObject({ entry: { external_code: 'second' } });
  });

  it('what a dead process was sending is unknown, and never ready', async () => {
    await run('dead', 'abandoned');
    await run('alive');
    const sending = { state: 'sending', payload: '{}', sent_at: hour(11.9) } as const;
    await put('left', { ...sending, owner_run_id: 'dead', unclear_sends: 1 });
    await put('nobody', { ...sending, owner_run_id: 'gone' });
    await put('on its way', { ...sending, owner_run_id: 'alive' });
    await put('outlived', { ...sending, owner_run_id: 'alive', sent_at: hour(11.49) });
    await put('just not', { ...sending, owner_run_id: 'alive', sent_at: hour(11.5) });
    await put('agent', { ...sending, kind: 'agents', owner_run_id: 'dead' });
    await put('ready', { owner_run_id: 'dead' });
    await outbox.engine.write(async (tx) => {
      const key = { kind: KIND, external_code: 'left' };
      const begun = { what: 'create', runId: 'dead', at: hour(11) } as const;
      await openAttempt(tx, key, begun);
      await closeAttempt(tx, key, 1, { outcome: 'not-sent', message: 'first' }, hour(11));
      await openAttempt(tx, key, begun);
      await openAttempt(tx, { ...key, external_code: 'on its way' }, { ...begun, runId: 'alive' });
    });
    const lost = await recoverSending(outbox.engine, KIND, AT);
    expect(lost.map(({ external_code }) => external_code).toSorted()).toEqual(['left', 'nobody', 'outlived']);
    expect(lost[0]).toEqual({ kind: KIND, external_code: lost[0]?.external_code });
    expect(await row('left')).toMatchObject({
      state: 'unknown',
      unknown_since: AT,
      updated_at: AT,
      unclear_sends: 2,
      owner_run_id: null,
      payload: '{}',
    });
    expect((await row('left')).message).not.toBeNull();
    for (const code of ['on its way', 'just not', 'agent'])
      expect(await row(code)).toMatchObject({ state: 'sending', revision: 1 });
    expect(await row('ready')).toMatchObject({ state: 'ready', revision: 1 });
    expect(await attempts('left')).toMatchObject([
      { outcome: 'not-sent', message: 'first' },
      { outcome: 'unclear', finished_at: null },
    ]);
    expect(await attempts('on its way')).toMatchObject([{ outcome: null }]);
  });

  it('the states are counted, those of nothing too, and the oldest doubt is told', async () => {
    expect(await oldestUnknown(outbox.engine)).toBeNull();
    await put('A');
    await put('B', { kind: 'agents' });
    await put('C', { state: 'unknown', unknown_since: hour(4) });
    await put('D', { state: 'unknown', unknown_since: hour(3) });
    await put('E', { state: 'confirmed', unknown_since: hour(2) });
    expect(await outboxCounts(outbox.engine)).toEqual({
      ready: 2,
      sending: 0,
      unknown: 2,
      confirmed: 1,
      rejected: 0,
      cancelled: 0,
    });
    expect(await oldestUnknown(outbox.engine)).toBe(hour(3));
  });

  it('the content of what was refused long ago is dropped', async () => {
    const refused = { state: 'rejected', updated_at: hour(1) } as const;
    await put('old', refused);
    await put('old, without', { ...refused, payload: null });
    await put('edge', { ...refused, updated_at: hour(2) });
    await put('agent', { ...refused, kind: 'agents' });
    await put('ready', { updated_at: hour(1) });
    expect(await dropOldPayloads(outbox.engine, KIND, hour(2))).toBe(1);
    expect(await row('old')).toMatchObject({ payload: null });
    for (const code of ['edge', 'agent', 'ready']) expect(await row(code)).toMatchObject({ payload: '{}' });
  });

  describe('the story of an entry', () => {
    const key = { kind: KIND, external_code: 'A' };
    const reading = (outcome: 'absent' | 'found', runId: string, at: string) =>
      outbox.engine.write((tx) => noteReading(tx, key, { outcome, message: `by ${runId}` }, { runId, at }));

    it('counts a reading with the same result as the one before it, and no other', async () => {
      await outbox.engine.write((tx) => {
        const other = { ...key, external_code: 'B' };
        return noteReading(tx, other, { outcome: 'absent', message: 'B' }, { runId: 'r0', at: hour(0) });
      });
      await reading('absent', 'r1', hour(1));
      await reading('absent', 'r2', hour(2));
      await reading('found', 'r3', hour(3));
      await reading('absent', 'r4', hour(4));
      expect(await attempts('A')).toMatchObject([
        {
          number: 1,
          what: 'read-back',
          outcome: 'absent',
          times: 2,
          run_id: 'r2',
          started_at: hour(1),
          finished_at: hour(2),
          message: 'by r2',
        },
        { number: 2, outcome: 'found', times: 1, run_id: 'r3', finished_at: hour(3) },
        { number: 3, outcome: 'absent', times: 1, run_id: 'r4', started_at: hour(4), finished_at: hour(4) },
      ]);
      expect(await attempts('B')).toMatchObject([{ message: 'B', times: 1, finished_at: hour(0) }]);
    });

    it('tells what a person ordered, each time', async () => {
      const order = { outcome: 'vouched', message: 'not there' } as const;
      for (const at of [hour(1), hour(2)]) await outbox.engine.write((tx) => noteOrder(tx, key, order, at));
      await outbox.engine.write((tx) => noteOrder(tx, { ...key, external_code: 'B' }, order, hour(3)));
      expect(await attempts('A')).toMatchObject(
        [1, 2].map((number) => ({
          number,
          what: 'order',
          run_id: null,
          finished_at: hour(number),
          ...order,
          times: 1,
        })),
      );
      expect(await attempts('B')).toMatchObject([{ number: 1 }]);
    });

    it('does not take an order for a reading that was made before', async () => {
      await outbox.engine.write(async (tx) => {
        const number = await openAttempt(tx, key, { what: 'create', runId: 'r1', at: hour(1) });
        await closeAttempt(tx, key, number, { outcome: 'absent', message: null, http_status: 404 }, hour(1));
      });
      await reading('absent', 'r2', hour(2));
      expect(await attempts('A')).toMatchObject([
        { what: 'create', http_status: 404, times: 1 },
        { number: 2, what: 'read-back' },
      ]);
    });
  });
});
