// The decisions of the push engine as pure functions: what an offer of the ERP, a search of the service and a
// failed send mean for an entry.
import { describe, expect, it } from 'vitest';
import { Ambiguous, Fatal, Retriable, Skippable } from '../../src/core/errors.ts';
import type { JsonObject } from '../../src/core/glossary.ts';
import { FleetHttpError } from '../../src/fleet/failures.ts';
import { judgeImport } from '../../src/sync/push/kinds/route-plans.ts';
import { isSameValue } from '../../src/sync/push/kinds/same-value.ts';
import { guardedDay } from '../../src/sync/push/push-deadline.ts';
import { effectOf, type Offered } from '../../src/sync/push/push-effects.ts';
import { isPassing, retryDelayMs, sendFailure, statusOf } from '../../src/sync/push/push-failure.ts';
import { confirmedAs, intakeStep, type Step } from '../../src/sync/push/push-intake.ts';
import type { Seen } from '../../src/sync/push/push-kind.ts';
import { seenRecords } from '../../src/sync/push/push-listing.ts';
import { isBefore, isSettled, needsWitness, sightOf } from '../../src/sync/push/push-sight.ts';
import { isOf, joinPeriods, type SearchWindow, searchWindows } from '../../src/sync/push/search-windows.ts';
import type { OutboxEntry } from '../../src/warehouse/outbox-entry.ts';
import type { OutboxState } from '../../src/warehouse/outbox-states.ts';

describe('an offer of the ERP', () => {
  const known = (state: OutboxState) => ({ state, content_hash: 'new', sent_hash: 'sent', noted_hash: null });
  const step = (state: OutboxState, hash: string, isValid = true, canChange = false): Step =>
    intakeStep(known(state), { hash, isValid }, canChange);

  it('is queued or refused where it is not known', () => {
    expect(intakeStep(undefined, { hash: 'a', isValid: true }, false)).toBe('queue');
    expect(intakeStep(undefined, { hash: 'a', isValid: false }, false)).toBe('refuse');
  });

  it.each(['ready', 'sending', 'unknown', 'confirmed', 'rejected', 'cancelled'] as const)(
    'with a content that is known leads to nothing in state %s',
    (state) => expect(step(state, 'new')).toBe('nothing'),
  );

  it.each([
    ['ready', 'queue', 'refuse'],
    ['rejected', 'queue', 'refuse'],
    ['cancelled', 'queue', 'refuse'],
    ['sending', 'hold', 'note'],
    ['unknown', 'hold', 'note'],
    ['confirmed', 'flag', 'flag'],
  ] as const)(
    'with another content in state %s leads to %s, or to %s where it is invalid',
    (state, valid, invalid) => {
      expect(step(state, 'other')).toBe(valid);
      expect(step(state, 'other', false)).toBe(invalid);
    },
  );

  it('changes what the service has where a call can', () => {
    expect(step('confirmed', 'other', true, true)).toBe('change');
    expect(step('confirmed', 'other', false, true)).toBe('note');
    expect(step('confirmed', 'sent')).toBe('unflag');
  });

  it('that breaks the rules is noted once for each content, and cleared when the ERP is back', () => {
    const noted = { ...known('confirmed'), noted_hash: 'bad' };
    const again = (hash: string, isValid: boolean): Step => intakeStep(noted, { hash, isValid }, true);
    expect(again('bad', false)).toBe('nothing');
    expect(again('worse', false)).toBe('note');
    expect(again('new', true)).toBe('unflag');
    expect(again('other', true)).toBe('change');
    const back = (state: OutboxState): Step =>
      intakeStep({ ...noted, state }, { hash: 'new', isValid: true }, true);
    for (const state of ['ready', 'sending', 'unknown', 'confirmed'] as const)
      expect(back(state)).toBe('unflag');
    for (const state of ['rejected', 'cancelled'] as const) expect(back(state)).toBe('nothing');
    // Once it is absent and ready again, what the ERP gives counts anew.
    expect(intakeStep({ ...noted, state: 'ready' }, { hash: 'bad', isValid: false }, true)).toBe('refuse');
  });

  it('that is back at the content that counts is flagged where the service has another, and it cannot be changed', () => {
    const noted = { ...known('confirmed'), noted_hash: 'bad' };
    const offer = { hash: 'new', isValid: true };
    expect(intakeStep(noted, offer, false)).toBe('flag');
    expect(intakeStep({ ...noted, sent_hash: 'new' }, offer, false)).toBe('unflag');
    expect(intakeStep({ ...noted, state: 'unknown' }, offer, false)).toBe('unflag');
    // What was found after it was refused here may have a content that breaks the rules.
    const invalid = { hash: 'new', isValid: false };
    expect(intakeStep(noted, invalid, true)).toBe('note');
    expect(intakeStep({ ...noted, noted_hash: 'new' }, invalid, true)).toBe('nothing');
    expect(intakeStep({ ...noted, sent_hash: 'new' }, invalid, true)).toBe('unflag');
  });

  it('that breaks the rules leaves the reasons of what the service has', () => {
    const entry = { ...known('confirmed'), reasons: '["stop 2: no such address"]' } as OutboxEntry;
    const offered = {
      content: { content_hash: 'bad' },
      erp_code: null,
      reasons: ['title: is missing'],
      flags: true,
    };
    const { change } = effectOf('note', entry, offered as unknown as Offered);
    expect(change).toMatchObject({ noted_hash: 'bad', told_at: null });
    expect(JSON.parse(change.reasons ?? '')).toEqual([
      'stop 2: no such address',
      'not taken: title: is missing',
    ]);
    const back = effectOf('unflag', { ...entry, ...change } as OutboxEntry, offered as unknown as Offered);
    expect(back.change).toMatchObject({ noted_hash: null, reasons: entry.reasons });
  });

  it('that came while another content was on its way is flagged, or queued where it can be changed', () => {
    expect(confirmedAs({ content_hash: 'b', sent_hash: 'a' }, false)).toBe('changed-after-push');
    expect(confirmedAs({ content_hash: 'b', sent_hash: 'a' }, true)).toBe('to-change');
    expect(confirmedAs({ content_hash: 'a', sent_hash: null }, false)).toBe('confirmed');
    expect(confirmedAs({ content_hash: 'a', sent_hash: 'a' }, true)).toBe('confirmed');
  });
});

describe('a search of the service', () => {
  const at = (seconds: number): string => new Date(1_700_000_000_000 + seconds * 1_000).toISOString();
  const entry = (change: object = {}) => ({
    state: 'unknown' as const,
    unknown_since: at(0),
    absent_since: null as string | null,
    updated_at: at(0),
    remote_id: null as number | null,
    unclear_sends: 1,
    is_doubtful: false,
    content_hash: 'a',
    sent_hash: 'a' as string | null,
    ...change,
  });
  const seen = (id: number): Seen => ({ id, key: 'P', status: 'P', record: { id, title: 'there' } });
  /** `passed`: seconds since it was first not found, by a clock that cannot be set. */
  const look = (what: object, found: Seen[], seconds: number, passed?: number, isWhole = false) =>
    sightOf(
      entry(what),
      found,
      undefined,
      {},
      {
        readAt: at(seconds),
        now: at(seconds),
        settleMs: 120_000,
        absentForMs: passed === undefined ? undefined : passed * 1_000,
        isWhole,
      },
    );

  it('confirms what it finds, and names the others', () => {
    expect(look({}, [seen(7), seen(5)], 1)).toMatchObject({ is: 'there', seen: { id: 5 }, others: [7] });
  });

  it('does not believe the first absence, however late', () => {
    expect(look({}, [], 1)).toEqual({ is: 'maybe-absent', since: at(1) });
    expect(look({}, [], 10_000)).toEqual({ is: 'maybe-absent', since: at(10_000) });
  });

  it('believes a second absence a settling time after the first', () => {
    expect(look({ absent_since: at(1) }, [], 120, 119)).toEqual({ is: 'maybe-absent', since: at(1) });
    expect(look({ absent_since: at(1) }, [], 121, 120)).toEqual({ is: 'absent' });
  });

  it('believes no wait that the wall clock alone tells of', () => {
    expect(look({ absent_since: at(1) }, [], 9_000, 3)).toEqual({ is: 'maybe-absent', since: at(1) });
    expect(look({ absent_since: at(1) }, [], 9_000)).toEqual({ is: 'maybe-absent', since: at(1) });
    const atOnce = { readAt: at(9), now: at(9), settleMs: 0 };
    expect(sightOf(entry({ absent_since: at(1) }), [], undefined, {}, atOnce), 'nor none at all').toEqual({
      is: 'maybe-absent',
      since: at(1),
    });
  });

  it('believes no wait that the other clocks alone tell of', () => {
    expect(look({ absent_since: at(1) }, [], 50, 9_000)).toEqual({ is: 'maybe-absent', since: at(1) });
  });

  it('believes that a known identifier is gone as slowly, and only where it lists everything', () => {
    const known = { state: 'ready', remote_id: 7, unclear_sends: 0 };
    expect(look(known, [], 1, undefined, true)).toEqual({ is: 'maybe-absent', since: at(1) });
    expect(look({ ...known, absent_since: at(1) }, [], 121, 120, true)).toEqual({ is: 'absent' });
    expect(look(known, [], 1)).toEqual({ is: 'clear' });
    expect(look({ ...known, remote_id: null }, [], 1, undefined, true)).toEqual({ is: 'clear' });
    const search = { readAt: at(1), now: at(1), settleMs: 120_000, hasTwin: true };
    const twin = sightOf(entry({ ...known, remote_id: null }), [], undefined, {}, search);
    expect(twin, 'another one of the same thing').toEqual({ is: 'maybe-absent', since: at(1) });
  });

  it('believes that a refused one is not there a settling time after the refusal', () => {
    expect(look({ state: 'rejected' }, [], 119.999)).toEqual({ is: 'nothing' });
    const refused = { is: 'refused', isProven: false };
    expect(look({ state: 'rejected' }, [], 120)).toEqual(refused);
    expect(look({ state: 'rejected', remote_id: 1 }, [seen(1)], 120), 'a change').toEqual(refused);
    expect(look({ state: 'rejected', remote_id: 1 }, [seen(1)], 119.999)).toEqual({ is: 'nothing' });
    const older = { state: 'rejected', remote_id: 1, sent_hash: 'older' };
    expect(look(older, [seen(1)], 1), 'refused here').toMatchObject({ is: 'there' });
    expect(look({ remote_id: 1 }, [seen(1)], 1), 'not refused').toMatchObject({ is: 'there' });
    const kept = { state: 'rejected', remote_id: 1 };
    const compare = (isSame: boolean) =>
      sightOf(
        entry(kept),
        [seen(1)],
        {},
        { isSame: () => isSame, change: () => Promise.reject() },
        { readAt: at(1), now: at(1), settleMs: 0 },
      );
    expect([compare(true).is, compare(false).is], 'its content is kept').toEqual(['there', 'differs']);
    expect(look({ state: 'rejected' }, [seen(1)], 1)).toMatchObject({ is: 'there' });
    expect(isSettled(at(5), { readAt: at(4), settleMs: 0 })).toBe(false);
  });

  it.each(['sending', 'confirmed', 'cancelled'])('says nothing where one that is %s is not shown', (state) =>
    expect(look({ state }, [], 10_000)).toEqual({ is: 'nothing' }),
  );

  it('needs a witness wherever something that may be there would be sent', () => {
    const needs = (what: object, seconds = 1) => needsWitness(entry(what), look(what, [], seconds, seconds));
    expect(needs({})).toBe(true);
    expect(needs({ absent_since: at(0) }, 200)).toBe(true);
    expect(needs({ state: 'ready' })).toBe(true);
    expect(needs({ state: 'ready', unclear_sends: 0, is_doubtful: true })).toBe(true);
    expect(needs({ state: 'ready', unclear_sends: 0 })).toBe(false);
    expect(needsWitness(entry(), look({}, [seen(1)], 1)), 'what is there needs none').toBe(false);
  });

  it('says nothing where it began before the outcome became unknown', () => {
    const search = { readAt: at(9), now: at(11), settleMs: 0 };
    expect(sightOf(entry({ unknown_since: at(10) }), [], undefined, {}, search)).toEqual({ is: 'nothing' });
    const ready = entry({ state: 'ready', updated_at: at(10) });
    expect(sightOf(ready, [], undefined, {}, search)).toEqual({ is: 'nothing' });
    expect(isBefore(at(9), search), 'it had happened when the search began').toBe(true);
    expect(isBefore(at(11), search), 'it happened since').toBe(false);
  });

  it('starts to wait anew where the clock was set back', () => {
    expect(look({ unknown_since: at(900) }, [], 1)).toEqual({ is: 'maybe-absent', since: at(1) });
    expect(look({ absent_since: at(900) }, [], 1)).toEqual({ is: 'maybe-absent', since: at(1) });
    expect(look({ state: 'ready', updated_at: at(900) }, [], 1)).toEqual({ is: 'clear' });
  });

  it('clears a ready entry that is not there, and tells one that differs', () => {
    expect(look({ state: 'ready' }, [], 1)).toEqual({ is: 'clear' });
    const changeable = { change: async () => ({ is: 'unclear', message: '' }) as const, isSame: () => false };
    const search = { readAt: at(1), now: at(1), settleMs: 0 };
    const sight = (payload: object | undefined, kind: object) =>
      sightOf(entry({ state: 'ready' }), [seen(1)], payload as JsonObject, kind, search).is;
    const { change, isSame } = changeable;
    expect(sight({}, changeable)).toBe('differs');
    expect(sight({}, { change }), 'nobody can tell that it is the same').toBe('differs');
    expect(sight({}, { change, isSame: () => true })).toBe('there');
    expect(sight(undefined, changeable), 'there is nothing to change it to').toBe('there');
    expect(sight({}, { isSame }), 'no call changes it').toBe('there');
  });

  it('is no listing where a record has no identifier', () => {
    expect(() => seenRecords([{ items: 'none' }], () => 'P')).toThrow(/no list of records/);
    expect(seenRecords([{ id: '7' }, { id: 7 }], () => 'P')).toHaveLength(1);
  });
});

describe('the periods of many entries', () => {
  const day = (n: number, hours = 8) => ({
    start: new Date(Date.UTC(2026, 0, n, 8)).toISOString(),
    end: new Date(Date.UTC(2026, 0, n, 8 + hours)).toISOString(),
  });

  it('are searched together where they are close, padded by a day', () => {
    const [window, ...others] = searchWindows([day(2), day(1), day(2)]);
    expect(others).toEqual([]);
    expect(window).toEqual({
      covers: { start: day(1).start, end: day(2).end },
      search: { start: '2025-12-31T08:00:00.000Z', end: '2026-01-03T16:00:00.000Z' },
      isLong: false,
    });
  });

  it('are searched apart where they are not, and each lies in its window', () => {
    const periods = Array.from({ length: 28 }, (_, i) => day(1 + i, i === 5 ? 24 * 40 : 8));
    const windows = searchWindows(periods);
    expect(windows.length).toBeGreaterThan(2);
    for (const { start, end } of periods) {
      expect(windows.some(({ covers }) => covers.start <= start && end <= covers.end)).toBe(true);
    }
  });
});

describe('the periods of many entries, at their edges', () => {
  const HOUR = 3_600_000;
  const hours = (start: number, end: number) => ({
    start: new Date(start * HOUR).toISOString(),
    end: new Date(end * HOUR).toISOString(),
  });
  const covers = (...periods: ReturnType<typeof hours>[]) =>
    searchWindows(periods).map((each) => each.covers);

  it('are searched together up to a day between them and three days in all', () => {
    expect(covers(hours(0, 8), hours(32, 40))).toEqual([hours(0, 40)]);
    expect(covers(hours(0, 8), hours(32.1, 40))).toHaveLength(2);
    expect(covers(hours(0, 60), hours(61, 72))).toEqual([hours(0, 72)]);
    expect(covers(hours(0, 60), hours(61, 72.1))).toHaveLength(2);
  });

  it('are searched apart from one that is longer than that, which may not be answered, and before it', () => {
    expect(covers(hours(0, 960), hours(96, 104), hours(100, 120))).toEqual([hours(96, 120), hours(0, 960)]);
    expect(covers(hours(0, 72), hours(1, 8), hours(60, 72))).toEqual([hours(0, 72)]);
    expect(covers(hours(0, 8), hours(1, 80), hours(2, 10))).toEqual([hours(0, 10), hours(1, 80)]);
  });

  it('are searched with a longer one that holds them where they are long themselves', () => {
    expect(covers(hours(0, 100), hours(0, 200), hours(20, 200))).toEqual([hours(0, 200)]);
    expect(covers(hours(0, 100), hours(20, 101))).toHaveLength(2);
  });

  it('are each of the window that is as long as they are', () => {
    const [short, long] = searchWindows([hours(0, 8), hours(0, 73)]) as [SearchWindow, SearchWindow];
    const entry = (start: number, end: number) => {
      const period = hours(start, end);
      return { period_start: period.start, period_end: period.end };
    };
    expect([isOf(short, entry(0, 72)), isOf(long, entry(0, 72))]).toEqual([true, false]);
    expect([isOf(short, entry(0, 72.1)), isOf(long, entry(0, 72.1))]).toEqual([false, true]);
  });

  it('are joined to one that holds both', () => {
    expect(joinPeriods(hours(1, 3), hours(2, 4))).toEqual(hours(1, 4));
    expect(joinPeriods(hours(2, 4), hours(1, 3))).toEqual(hours(1, 4));
    expect(joinPeriods(hours(1, 4), hours(2, 3))).toEqual(hours(1, 4));
  });
});

describe('a failed send', () => {
  const details = { code: 'x' };
  const answered = (kind: 'read' | 'write', status: number, said?: string): FleetHttpError =>
    new FleetHttpError({ kind, method: 'POST', path: '/x' }, status, said);

  it.each([
    ['an unclear answer', new Ambiguous('x', details), { is: 'unclear' }],
    [
      'an unclear answer with a status',
      new Ambiguous('x', { ...details, cause: answered('write', 502) }),
      { is: 'unclear' },
    ],
    ['something unforeseen', new TypeError('x'), { is: 'unclear' }],
    ['something unforeseen, wrapped', new Fatal('x', { code: 'unexpected' }), { is: 'unclear' }],
    ['a refusal', new Skippable('refused', details), { is: 'refused', reasons: ['refused'], isAnswer: true }],
    [
      'a refusal that says why',
      new Skippable('refused', { ...details, cause: answered('write', 422, 'no such vehicle') }),
      { is: 'refused', reasons: ['refused: no such vehicle'], isAnswer: true },
    ],
    [
      'a request that breaks a rule',
      new Fatal('bad', { code: 'request_invalid' }),
      { is: 'refused', reasons: ['bad'], isAnswer: false },
    ],
    ['a refused login', new Fatal('x', { code: 'login_refused' }), { is: 'not-sent', stop: true }],
    ['an outage', new Retriable('x', { code: 'service_unreachable' }), { is: 'not-sent', stop: true }],
    [
      'throttling of the write',
      new Retriable('x', { code: 'throttled', cause: answered('write', 429) }),
      { is: 'turned-away', stop: false },
    ],
    [
      'throttling of the login before it',
      new Retriable('x', { code: 'throttled', cause: answered('read', 429) }),
      { is: 'not-sent', stop: false },
    ],
    [
      'a refused token',
      new Fatal('x', { code: 'unauthorised', cause: answered('write', 401) }),
      { is: 'turned-away', stop: true },
    ],
  ])('by %s', (_what, error, meaning) => expect(sendFailure(error, false)).toEqual(meaning));

  it('by a stop that came before it is not sent', () => {
    expect(sendFailure(new Error('abort'), true)).toEqual({ is: 'not-sent', stop: true });
  });

  it('has the status of its answer, where there was one', () => {
    expect(statusOf(new Ambiguous('x', { ...details, cause: answered('write', 502) }))).toBe(502);
    expect(statusOf(new Fatal('x', details))).toBeNull();
    expect(statusOf('x')).toBeNull();
  });

  it('may pass in the next round of the run, or not', () => {
    const codes = ['unauthorised', 'throttled', 'forbidden', 'service_unreachable'];
    expect(codes.filter((code) => isPassing(new Fatal('x', { code })))).toEqual([
      'unauthorised',
      'throttled',
    ]);
  });

  it('waits longer each time, an hour at most', () => {
    expect([1, 2, 3, 30].map(retryDelayMs)).toEqual([30_000, 60_000, 120_000, 3_600_000]);
  });
});

describe('the answer to an import', () => {
  const answer = (change: object) =>
    judgeImport({
      routePoints: undefined,
      wrongLines: [],
      wrongRoutePlans: [],
      unassignedPoints: [],
      id: undefined,
      raw: null,
      ...change,
    });

  it('is a success where points were routed, whatever was refused beside them', () => {
    expect(answer({ routePoints: 2 })).toEqual({ is: 'accepted', id: undefined, reasons: [] });
    const part = answer({
      routePoints: 2,
      wrongLines: [{ line: 3, message: 'no' }],
      unassignedPoints: [{ name: 'B' }],
    });
    expect(part).toMatchObject({
      is: 'accepted',
      reasons: ['point refused: line 3, message no', 'point not assigned: B'],
    });
  });

  it('is a refusal where nothing was', () => {
    expect(answer({ routePoints: 0, wrongRoutePlans: [{ message: 'no' }] })).toMatchObject({ is: 'refused' });
    expect(answer({ routePoints: 0, wrongLines: ['no'] })).toMatchObject({ is: 'refused' });
  });

  it('is unclear where it does not tell', () => {
    expect(answer({})).toMatchObject({ is: 'unclear' });
    expect(answer({ routePoints: 0 })).toMatchObject({ is: 'unclear' });
  });
});

describe('a field that comes back', () => {
  it.each([
    [-23.5, -23.50000001, true],
    ['-23.5', -23.5, true],
    [-23.5, -23.6, false],
    [undefined, 1, false],
    ['2026-01-01T11:00:00Z', '2026-01-01T08:00:00-03:00', true],
    ['a', 'b', false],
  ])('%s is %s: %s', (returned, sent, same) => expect(isSameValue(returned, sent)).toBe(same));
});

describe('the deadline', () => {
  const ZONE = 'America/Sao_Paulo';

  it('guards the local tomorrow once it has passed', () => {
    expect(guardedDay('18:00', Date.parse('2026-01-10T20:59:00Z'), ZONE)).toBeUndefined();
    expect(guardedDay('18:00', Date.parse('2026-01-10T21:00:00Z'), ZONE)).toEqual({
      start: '2026-01-11T03:00:00.000Z',
      end: '2026-01-12T03:00:00.000Z',
    });
  });
});
