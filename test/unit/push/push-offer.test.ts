// State × offer: how an item that the ERP offers changes its entry, as a table of pure cases.
import { describe, expect, it } from 'vitest';
import { localDay } from '../../../src/erp/items/moments.ts';
import { type Offer, type OfferRules, offeredStill, takeOffer } from '../../../src/sync/push/offer.ts';
import { type OutboxEntry, type OutboxState, reasonsOf } from '../../../src/warehouse/outbox/entry.ts';
import { AT, entryIn, minutesAfter } from '../../support/push/outbox-samples.ts';

const ON_13 = { period_start: '2025-03-13T11:00:00.000Z', period_end: '2025-03-13T21:00:00.000Z' };
const ON_14 = { period_start: '2025-03-14T11:00:00.000Z', period_end: '2025-03-14T21:00:00.000Z' };
const OFFER: Omit<Offer, 'day'> = {
  kind: 'route_plans',
  external_code: 'P1',
  erp_code: null,
  origin: 'a.json',
  content_hash: 'two',
  reasons: [],
  payload: '{"data":{"n":2},"options":{}}',
  remote_key: 'P1',
  ...ON_13,
};
const INVALID = { reasons: ['name: is missing'] };
const UNREAD = {
  content_hash: '',
  payload: null,
  remote_key: '',
  period_start: null,
  period_end: null,
  reasons: ['is not JSON'],
};
const RULES: OfferRules = {
  canChange: false,
  reuseCodes: false,
  flagsChanges: true,
  inFiles: false,
  at: AT,
  settleMs: 120_000,
  dayOf: (instant) => localDay(instant, 'America/Sao_Paulo'),
};
const take = (
  uses: OutboxEntry[],
  offer: Partial<Offer> = {},
  rules: Partial<OfferRules> = {},
): OutboxEntry | undefined => {
  const whole = { ...OFFER, ...offer };
  const day = whole.period_start === null ? '' : RULES.dayOf(whole.period_start);
  return takeOffer(uses, { day, ...whole }, { ...RULES, ...rules });
};

describe('an offer', () => {
  it('of a code that is not known is ready, or rejected for its reasons', () => {
    expect(take([])).toMatchObject({
      state: 'ready',
      code_use: 1,
      content_hash: 'two',
      payload: OFFER.payload,
    });
    expect(take([], INVALID)).toMatchObject({
      state: 'rejected',
      payload: null,
      reasons: '["name: is missing"]',
      message: expect.stringContaining('is invalid'),
    });
    expect(take([], UNREAD)).toMatchObject({
      state: 'rejected',
      content_hash: '',
      message: expect.stringContaining('could not be read'),
    });
  });

  it('for another day counts as the first one, unless the service has the item', () => {
    const before = { created_at: minutesAfter(-90), confirmed_at: minutesAfter(-80), remote_id: null };
    const moved = { created_at: AT, confirmed_at: null };
    expect(take([entryIn('cancelled', before)], ON_14)).toMatchObject({ state: 'ready', ...moved });
    expect(take([entryIn('rejected', before)], { ...ON_14, ...INVALID })).toMatchObject({
      state: 'rejected',
      ...moved,
    });
    expect(take([entryIn('cancelled', before)])).toMatchObject({ state: 'ready', ...before });
    const there = { ...before, remote_id: 7 };
    expect(take([entryIn('confirmed', there)], ON_14, { canChange: true })).toMatchObject({ state: 'ready', ...there });
  });

  it.each<OutboxState>(['ready', 'unknown', 'confirmed', 'rejected', 'cancelled'])(
    'of the known content changes nothing in state %s',
    (state) => expect(take([entryIn(state, { told_at: AT })], { content_hash: 'one' })).toBeUndefined(),
  );

  it.each<[OutboxState, boolean, OutboxState | undefined, OutboxState | undefined]>([
    // state, can be changed, state after other content, state after invalid content
    ['ready', false, 'ready', 'rejected'],
    ['rejected', false, 'ready', 'rejected'],
    ['cancelled', false, 'ready', 'rejected'],
    ['unknown', false, 'unknown', 'unknown'],
    ['confirmed', false, 'confirmed', 'confirmed'],
    ['ready', true, 'ready', 'rejected'],
    ['unknown', true, 'unknown', 'unknown'],
    ['confirmed', true, 'ready', 'confirmed'],
  ])('of other content in state %s (can be changed: %s)', (state, canChange, valid, invalid) => {
    expect(take([entryIn(state)], {}, { canChange })?.state).toBe(valid);
    expect(take([entryIn(state)], INVALID, { canChange })?.state).toBe(invalid);
  });

  it('leaves key and period of an unknown entry as they were sent, and keeps the newer content', () => {
    const then = take([entryIn('unknown')], {
      remote_key: 'P2',
      period_end: '2025-03-13T23:00:00.000Z',
    });
    expect(then).toMatchObject({
      remote_key: 'P1',
      period_end: ON_13.period_end,
      content_hash: 'two',
      payload: OFFER.payload,
      sent_hash: 'one',
    });
  });

  it('of other content has a ready entry read back for the content that was sent', () => {
    const notAccepted = entryIn('ready', { sent_hash: 'one' });
    expect(take([notAccepted])).toMatchObject({ state: 'ready', sent_hash: 'one', content_hash: 'two' });
    const waiting = entryIn('ready', { sent_hash: 'one', remote_id: 7, attention: 'invalid_change' });
    const renamed = { remote_key: 'P2', sent_hash: 'one', attention: null };
    expect(take([waiting], { remote_key: 'P2' }, { canChange: true })).toMatchObject(renamed);
    const rejected = entryIn('rejected', { sent_hash: 'one', updated_at: minutesAfter(-60) });
    expect(take([rejected])).toMatchObject({ state: 'ready', sent_hash: 'one' });
    expect(take([rejected], { remote_key: 'P2' })).toMatchObject({ state: 'ready', sent_hash: null });
  });

  it('that is invalid rejects a ready entry, with the known facts of its sends', () => {
    const ready = entryIn('ready', { sent_hash: 'one' });
    const invalid = { state: 'rejected', payload: null, sent_hash: 'one', content_hash: 'two' };
    const place = { remote_key: 'P1', ...ON_13 };
    expect(take([ready], { ...INVALID, remote_key: 'P2', period_end: null })).toMatchObject({
      ...invalid,
      ...place,
      reasons: '["name: is missing"]',
    });
    expect(take([ready], UNREAD)).toMatchObject({ ...invalid, content_hash: '', ...place });
    const neverSent = entryIn('ready', { sent_hash: null });
    expect(take([neverSent], { ...INVALID, remote_key: 'P2' })).toMatchObject({ remote_key: 'P2' });
    const rejected = (minutes: number) => entryIn('rejected', { sent_hash: 'one', updated_at: minutesAfter(-minutes) });
    const moved = { ...INVALID, remote_key: 'P2' };
    expect(take([rejected(1)], moved)).toMatchObject({ remote_key: 'P1', sent_hash: 'one' });
    expect(take([rejected(60)], moved)).toMatchObject({ remote_key: 'P2', sent_hash: null });
    expect(take([rejected(60)], { ...moved, period_end: null })).toMatchObject({ ...place, sent_hash: 'one' });
    const known = { ...rejected(60), remote_id: 7 };
    expect(take([known], moved, { canChange: true })).toMatchObject({ remote_key: 'P2', sent_hash: 'one' });
  });

  it.each<OutboxState>(['rejected', 'cancelled'])(
    'that is invalid updates the reasons of an entry that is %s; one that cannot be read changes nothing',
    (state) => {
      const then = { content_hash: 'two', reasons: '["name: is missing"]', attention: null, payload: null };
      expect(take([entryIn(state, { attention: 'inconclusive' })], INVALID)).toMatchObject(then);
      expect(take([entryIn(state)], UNREAD)).toBeUndefined();
    },
  );

  it('that is invalid is an alarm for a confirmed entry where a call could have changed it', () => {
    const alarm = { content_hash: 'two', attention: 'invalid_change', reasons: '["name: is missing"]', told_at: null };
    expect(take([entryIn('confirmed')], INVALID, { canChange: true })).toMatchObject(alarm);
  });

  it('that is invalid flags a confirmed entry that no call can change, says why, and keeps what was not taken', () => {
    const reasons = '["stop 2"]';
    expect(take([entryIn('confirmed', { reasons })], INVALID)).toMatchObject({
      ...{ content_hash: 'two', attention: null, told_at: null, reasons },
      message: 'The ERP changed it in an invalid way after it was pushed: name: is missing',
    });
  });

  it('that is invalid in several ways names the first for a confirmed entry', () => {
    const { message } = take([entryIn('confirmed')], { ...INVALID, reasons: ['a', 'b', 'c'] }) ?? {};
    expect(message).toBe('The ERP changed it in an invalid way after it was pushed; the first of its errors: a');
  });

  it('that is invalid changes nothing of a confirmed entry whose changes are ignored', () => {
    expect(take([entryIn('confirmed')], INVALID, { flagsChanges: false })).toBeUndefined();
  });

  it.each<OutboxState>(['unknown', 'confirmed'])('of other content is a change of an entry that is %s', (state) => {
    const entry = entryIn(state, { updated_at: minutesAfter(-60) });
    for (const offer of [{}, INVALID, UNREAD]) expect(take([entry], offer)?.updated_at).toBe(AT);
  });

  it('that cannot be read is reported again only where its reasons differ', () => {
    const unread = entryIn('rejected', { content_hash: '', reasons: '["is not JSON"]', told_at: AT });
    expect(take([unread], UNREAD)).toBeUndefined();
    expect(take([unread], { ...UNREAD, reasons: ['is empty'], erp_code: '529' })).toMatchObject({
      state: 'rejected',
      reasons: '["is empty"]',
      told_at: null,
      erp_code: '529',
    });
  });

  it('that is rejected as before is another rejection in another file, and no other content', () => {
    const rejected = entryIn('rejected', { updated_at: minutesAfter(-60), origin: 'old.json' });
    const inFiles = { inFiles: true };
    expect(take([rejected], { content_hash: 'one' })).toBeUndefined();
    expect(take([rejected], { content_hash: 'one' }, inFiles)).toMatchObject({ updated_at: AT, origin: 'a.json' });
    expect(take([rejected], UNREAD, inFiles)).toMatchObject({
      updated_at: AT,
      origin: 'old.json',
      content_hash: 'one',
    });
    expect(take([{ ...rejected, state: 'cancelled' }], UNREAD, inFiles)).toBeUndefined();
  });

  it('that can be sent clears an alarm about the content, and no other', () => {
    const left = (attention: OutboxEntry['attention']) => take([entryIn('unknown', { attention })])?.attention;
    expect(left('invalid_change')).toBeNull();
    expect(left('read_error')).toBeNull();
    expect(left('inconclusive')).toBe('inconclusive');
  });

  it('changes the item at the service, and keeps the alarm that the service has it twice', () => {
    const change = (attention: OutboxEntry['attention']) =>
      take([entryIn('confirmed', { attention })], { remote_key: 'P2' }, { canChange: true });
    expect(change('found_twice')).toMatchObject({
      state: 'ready',
      remote_id: 7,
      remote_key: 'P2',
      content_hash: 'two',
      payload: OFFER.payload,
      attention: 'found_twice',
    });
    expect(change('never_shown')).toMatchObject({ attention: null });
  });

  it('that is invalid leaves an unknown entry nothing to send, and is reported', () => {
    expect(take([entryIn('unknown')], INVALID)).toMatchObject({
      payload: null,
      attention: 'invalid_change',
      sent_hash: 'one',
    });
  });

  it.each<OutboxState>(['unknown', 'confirmed'])('that cannot be read is recorded on an entry that is %s', (state) => {
    const then = take([entryIn(state)], UNREAD);
    expect(then).toMatchObject({ state, attention: 'read_error', content_hash: '', told_at: null });
    expect(reasonsOf(then as OutboxEntry)).toEqual(['is not JSON']);
    expect(take([then as OutboxEntry], UNREAD)).toBeUndefined();
    expect(take([then as OutboxEntry], { content_hash: 'one' })?.attention).toBeNull();
  });

  it('flags a confirmed entry that no call can change, once, or is ignored', () => {
    const then = take([entryIn('confirmed')]);
    expect(then).toMatchObject({ content_hash: 'two', sent_hash: 'one', told_at: null });
    expect(take([{ ...(then as OutboxEntry), told_at: AT }])).toBeUndefined();
    expect(take([then as OutboxEntry], { content_hash: 'one' })).toMatchObject({
      content_hash: 'one',
      message: null,
    });
    expect(take([entryIn('confirmed')], {}, { flagsChanges: false })).toBeUndefined();
    const unread = entryIn('confirmed', { content_hash: '', payload: null, attention: 'read_error' });
    expect(take([unread], {}, { flagsChanges: false })).toMatchObject({ attention: null, content_hash: 'two' });
  });

  it('changes an entry without a known identifier only once the identifier is known', () => {
    const unnamed = entryIn('confirmed', { remote_id: null, seen_at: null });
    expect(take([unnamed], { remote_key: 'P2' }, { canChange: true })).toMatchObject({
      state: 'confirmed',
      remote_key: 'P1',
      payload: OFFER.payload,
      content_hash: 'two',
    });
  });

  it('of an entry that was cancelled while its outcome was unknown is read back first', () => {
    expect(take([entryIn('cancelled', { unclear_sends: 1 })])).toMatchObject({
      state: 'unknown',
      unknown_since: AT,
    });
  });

  it.each<[string, OutboxEntry, { remote_key?: string }, OutboxState]>([
    ['was not accepted, under the same key', entryIn('ready', { sent_hash: 'one' }), {}, 'ready'],
    ['was not accepted, under another key', entryIn('ready', { sent_hash: 'one' }), { remote_key: 'P2' }, 'unknown'],
    ['was never sent, under another key', entryIn('ready'), { remote_key: 'P2' }, 'ready'],
    [
      'a status rejected a moment ago',
      entryIn('rejected', { sent_hash: 'one', updated_at: minutesAfter(-1) }),
      {},
      'unknown',
    ],
    [
      'a status rejected a settling time ago',
      entryIn('rejected', { sent_hash: 'one', updated_at: minutesAfter(-2) }),
      {},
      'ready',
    ],
    ['the service rejected in its answer', entryIn('rejected', { updated_at: minutesAfter(-1) }), {}, 'ready'],
  ])('of other content, of an entry that %s', (_, known, offer, state) => {
    expect(take([known], offer)?.state).toBe(state);
  });

  it.each<OutboxState>(['confirmed', 'rejected', 'cancelled'])(
    'notifies the ERP again of an entry that is %s and that it still offers after an hour',
    (state) => {
      const known = (minutes: number) => entryIn(state, { told_at: minutesAfter(-minutes) });
      const offer = { ...OFFER, content_hash: 'one', day: '2025-03-13', erp_code: '529' };
      expect(offeredStill([known(59)], offer, RULES)).toBeUndefined();
      expect(offeredStill([known(60)], offer, RULES)).toEqual({ ...known(60), erp_code: '529' });
      expect(offeredStill([known(60)], { ...offer, content_hash: 'two' }, RULES)).toBeUndefined();
      expect(take([known(60)], offer)).toBeUndefined();
    },
  );

  it('notifies the ERP once of an entry that is not final', () => {
    const known = entryIn('unknown', { told_at: minutesAfter(-60) });
    expect(offeredStill([known], { ...OFFER, content_hash: 'one', day: '2025-03-13' }, RULES)).toBeUndefined();
  });

  it('of a code that is not known notifies the ERP of nothing', () => {
    expect(offeredStill([], { ...OFFER, day: '2025-03-13' }, RULES)).toBeUndefined();
  });

  it('with a tax number as its code refreshes the clear code', () => {
    const then = take([entryIn('ready')], { content_hash: 'one', erp_code: '52998224725' });
    expect(then).toMatchObject({ erp_code: '52998224725', state: 'ready' });
    const rejected = entryIn('rejected', { erp_code: '111', told_at: null });
    expect(take([rejected], { content_hash: 'one', erp_code: '529' })).toMatchObject({ erp_code: '529' });
    expect(take([rejected], { content_hash: 'one', erp_code: '111' })).toBeUndefined();
  });
});

describe('a code that is reused on another day', () => {
  const again = ON_14;

  it.each<OutboxState>(['unknown', 'confirmed'])('is rejected while the first use is %s', (state) => {
    const then = take([entryIn(state, { remote_id: 7 })], again);
    expect(then).toMatchObject({ state: 'rejected', code_use: 2, attention: 'code_reused', payload: null });
    expect(reasonsOf(then as OutboxEntry)[0]).toMatch(/^code_reused: .*2025-03-13.*the id 7/);
    expect(take([entryIn(state), then as OutboxEntry], again)).toBeUndefined();
    expect(take([entryIn(state), then as OutboxEntry], { ...again, content_hash: 'three' })).toMatchObject({
      state: 'rejected',
      code_use: 2,
      content_hash: 'three',
      attention: 'code_reused',
    });
  });

  it('is rejected without an identifier of the first use, where none is known', () => {
    const then = take([entryIn('unknown')], again);
    expect(reasonsOf(then as OutboxEntry)[0]).toMatch(/for 2025-03-13; give/);
  });

  it('is sent where the first use is gone', () => {
    const rejected = take([entryIn('confirmed')], again) as OutboxEntry;
    expect(take([rejected], again)).toMatchObject({ state: 'ready', code_use: 2, attention: null });
  });

  it.each([
    ['was sent before', { sent_hash: 'one' }, { state: 'unknown', period_start: ON_13.period_start }],
    ['was never sent', {}, { state: 'ready', period_start: ON_14.period_start }],
  ])('moves the first use where that is ready again and %s, so that not both are sent', (_, first, then) => {
    const second = take([entryIn('unknown')], again) as OutboxEntry;
    const moved = take([entryIn('ready', first), second], again) as OutboxEntry;
    expect(moved).toMatchObject({ code_use: 1, content_hash: 'two', ...then });
    expect(take([moved, second], again)).toBeUndefined();
  });

  it('is the same plan where the days of the first use are not known', () => {
    const unread = entryIn('rejected', { content_hash: '', period_start: null, period_end: null });
    expect(take([unread], again)).toMatchObject({
      state: 'ready',
      code_use: 1,
      period_start: ON_14.period_start,
    });
    for (const unknown of [{ period_start: null }, { period_end: null }])
      expect(take([entryIn('confirmed', unknown)], again)).toMatchObject({ code_use: 1, state: 'confirmed' });
  });

  it.each<OutboxState>(['ready', 'rejected', 'cancelled'])('is the same plan, moved, while that is %s', (state) => {
    expect(take([entryIn(state)], again)).toMatchObject({
      code_use: 1,
      state: 'ready',
      period_start: ON_14.period_start,
    });
  });

  it('is the same plan where the periods overlap', () => {
    const longer = { period_start: '2025-03-13T20:00:00.000Z', period_end: '2025-03-14T20:00:00.000Z' };
    expect(take([entryIn('confirmed')], longer)).toMatchObject({ code_use: 1, state: 'confirmed' });
    const overnight = entryIn('confirmed', { period_end: '2025-03-14T05:00:00.000Z' });
    const nextDay = { period_start: '2025-03-14T04:00:00.000Z', period_end: '2025-03-14T20:00:00.000Z' };
    expect(take([overnight], nextDay)).toMatchObject({ code_use: 1, state: 'confirmed' });
  });

  it('is a change where a call can make it', () => {
    expect(take([entryIn('confirmed')], again, { canChange: true })).toMatchObject({
      code_use: 1,
      state: 'ready',
    });
  });

  it('is a separate entry where codes are reused', () => {
    const then = take([entryIn('confirmed')], again, { reuseCodes: true });
    expect(then).toMatchObject({ state: 'ready', code_use: 2, period_start: ON_14.period_start });
    const uses = [entryIn('confirmed'), then as OutboxEntry];
    expect(take(uses, { ...ON_13, content_hash: 'three' }, { reuseCodes: true })).toMatchObject({
      code_use: 1,
    });
    expect(take(uses, { ...again, content_hash: 'three' }, { reuseCodes: true })).toMatchObject({
      code_use: 2,
    });
  });

  it('is sent once codes may be reused, or the first use is cancelled', () => {
    const rejected = take([entryIn('confirmed')], again) as OutboxEntry;
    expect(take([entryIn('confirmed'), rejected], again, { reuseCodes: true })).toMatchObject({
      code_use: 2,
      state: 'ready',
      attention: null,
    });
    expect(take([entryIn('cancelled'), rejected], again)).toMatchObject({ code_use: 2, state: 'ready' });
  });

  it('belongs to its own use, where the service has that and it was moved within its day', () => {
    const evening = { period_start: '2025-03-13T22:00:00.000Z', period_end: '2025-03-13T23:00:00.000Z' };
    expect(take([entryIn('confirmed')], evening)).toMatchObject({ code_use: 1, state: 'confirmed' });
    const uses = [entryIn('cancelled'), entryIn('ready', { code_use: 2, ...ON_14 })];
    expect(take(uses)).toMatchObject({ code_use: 1, state: 'ready' });
  });

  it('stays rejected while the service has another use, although one more is to be sent', () => {
    const on15 = { period_start: '2025-03-15T11:00:00.000Z', period_end: '2025-03-15T21:00:00.000Z' };
    const rejected = { ...(take([entryIn('confirmed')], again) as OutboxEntry), code_use: 3 };
    expect(take([entryIn('confirmed'), entryIn('ready', { code_use: 2, ...on15 }), rejected], again)).toBeUndefined();
  });

  it('has the deadline of its own use', () => {
    const created_at = minutesAfter(-60);
    const uses = [entryIn('ready'), entryIn('ready', { code_use: 2, ...ON_14, created_at })];
    expect(take(uses, again, { reuseCodes: true })).toMatchObject({ code_use: 2, created_at });
  });
});

describe('an offer that cannot be read', () => {
  const both = [entryIn('confirmed'), entryIn('confirmed', { code_use: 2, ...ON_14 })];
  const on15 = { ...UNREAD, day: '2025-03-15' };

  it('belongs to the latest use of its code', () => {
    expect(take(both, UNREAD)).toMatchObject({ code_use: 2, attention: 'read_error' });
    expect(take(both, on15)).toMatchObject({ code_use: 2, attention: 'read_error' });
    expect(take(both, UNREAD, { reuseCodes: true })).toMatchObject({ code_use: 2, attention: 'read_error' });
  });

  it('belongs to the use of its day where codes are reused, or to one entry for all other days', () => {
    const reuse = { reuseCodes: true };
    expect(take(both, { ...UNREAD, day: '2025-03-13' }, reuse)).toMatchObject({ code_use: 1, attention: 'read_error' });
    const unread = take(both, on15, reuse) as OutboxEntry;
    expect(unread).toMatchObject({ code_use: 3, state: 'rejected', period_start: null });
    const uses = [...both, unread];
    expect(take(uses, { ...on15, day: '2025-03-16', reasons: ['is cut off'] }, reuse)).toMatchObject({ code_use: 3 });
    expect(take([unread], ON_14, reuse)).toMatchObject({ code_use: 4, state: 'ready', ...ON_14 });
  });
});

it.each([{ period_start: null }, { period_end: null }, { period_start: null, period_end: null }])(
  'an offer with %o may be the content that was sent',
  (period) => {
    expect(take([entryIn('ready', { sent_hash: 'one' })], period)).toMatchObject({ state: 'ready', sent_hash: 'one' });
  },
);
