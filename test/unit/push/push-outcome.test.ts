// State × answer and state × decision: how an entry changes, as a table of pure cases.
import { describe, expect, it } from 'vitest';
import { Ambiguous, Fatal, Retriable, Skippable } from '../../../src/core/errors.ts';
import { zeroCounts } from '../../../src/core/glossary.ts';
import { FleetHttpError } from '../../../src/fleet/transport/failures.ts';
import type { Decision } from '../../../src/sync/push/decide.ts';
import { nextPlace, type PushRun, type Verdict } from '../../../src/sync/push/kind.ts';
import { isSameValue } from '../../../src/sync/push/kinds/answers.ts';
import { judgeImport } from '../../../src/sync/push/kinds/route-plans.ts';
import {
  afterReadBack,
  afterSend,
  CHANGED_AFTER_PUSH,
  countOutcomes,
  type Facts,
  sendDelayMs,
} from '../../../src/sync/push/outcome.ts';
import type { AttemptOutcome } from '../../../src/warehouse/outbox/attempts.ts';
import type { OutboxEntry, OutboxState } from '../../../src/warehouse/outbox/entry.ts';
import { OUTBOX_STATES, shownEntry, shownState } from '../../../src/warehouse/outbox/entry.ts';
import { TRANSITIONS, type TransitionName, transition } from '../../../src/warehouse/outbox/transitions.ts';
import { AT, entryIn, minutesAfter } from '../../support/push/outbox-samples.ts';

const plans: Facts = { kind: { noun: 'plan' }, at: AT, redact: (text) => text };
const points: Facts = {
  ...plans,
  kind: { noun: 'point', change: async () => ({ is: 'unclear', message: '' }) },
};
const OWN = { remote_key: 'P1', period_start: null, period_end: null };

describe('an answer to a send', () => {
  const before = entryIn('ready');
  const claimed = entryIn('sending');
  const verdict = (given: Verdict, entry = claimed) => afterSend(entry, before, { verdict: given }, plans);

  it('that accepts confirms the entry, drops its content and has the ERP notified', () => {
    const { entry, attempt } = verdict({ is: 'accepted', id: undefined, reasons: [] });
    expect(entry).toMatchObject({
      state: 'confirmed',
      confirmed_at: AT,
      payload: null,
      told_at: null,
      seen_at: null,
      remote_id: null,
    });
    expect(attempt).toMatchObject({ what: 'create', outcome: 'accepted', message: null, started_at: AT });
  });

  it('that takes an item without some stops has every reason', () => {
    const { entry, attempt } = verdict({ is: 'accepted', id: 9, reasons: ['point rejected: x'] });
    expect(entry).toMatchObject({ state: 'confirmed', remote_id: 9, reasons: '["point rejected: x"]' });
    expect(attempt?.message).toBe('Accepted in part; 1 rejected; point rejected: x');
  });

  it('that rejects in its body counts as nothing sent', () => {
    const { entry, attempt } = verdict({ is: 'rejected', reasons: ['no such plate'] });
    expect(attempt).toMatchObject({ outcome: 'rejected', message: 'no such plate' });
    expect(verdict({ is: 'rejected', reasons: ['a', 'b'] }).attempt?.message).toBe('a; b');
    expect(entry).toMatchObject({
      state: 'rejected',
      sent_hash: null,
      reasons: '["no such plate"]',
      payload: claimed.payload,
    });
  });

  it('without a clear outcome leaves the entry unknown', () => {
    const { entry, attempt, failure } = verdict({ is: 'unclear', message: 'hm' });
    expect(entry).toMatchObject({ state: 'unknown', unknown_since: AT, unclear_sends: 1, told_at: null });
    expect(attempt).toMatchObject({ what: 'create', outcome: 'unclear', message: 'hm' });
    expect(failure).toBeUndefined();
    const again = entryIn('sending', { unknown_since: minutesAfter(-9), unclear_sends: 1, sent_at: null });
    const then = verdict({ is: 'unclear', message: 'hm' }, again);
    expect(then.entry).toMatchObject({ unknown_since: minutesAfter(-9), unclear_sends: 2 });
    expect(then.attempt?.started_at).toBe(AT);
  });

  it('to a change without a clear outcome has the change made again', () => {
    const update = entryIn('sending', { remote_id: 7, sent_at: minutesAfter(-1) });
    const { entry, attempt, failure } = verdict({ is: 'unclear', message: 'hm' }, update);
    const waits = { state: 'ready', next_attempt_at: minutesAfter(0.5), attention: null };
    expect(entry).toMatchObject({ ...waits, remote_id: 7, unclear_sends: 0, message: 'hm' });
    expect(attempt).toMatchObject({ what: 'change', started_at: minutesAfter(-1) });
    expect(failure).toMatchObject({ code: 'answer_unclear', message: 'hm' });
  });

  it('to a fifth send of a change without a clear outcome asks for a person, except where one was asked before', () => {
    const attention = (failed_sends: number, given: OutboxEntry['attention'] = null) =>
      verdict({ is: 'unclear', message: 'hm' }, entryIn('sending', { remote_id: 7, failed_sends, attention: given }))
        .entry.attention;
    const expected = [attention(3), attention(4), attention(3, 'found_twice'), attention(3, 'invalid_change')];
    expect(expected).toEqual([null, 'retries_exhausted', 'found_twice', null]);
  });
});

describe('a send that fails', () => {
  const answered = (status: number, said?: string, kind: 'write' | 'read' = 'write') =>
    new FleetHttpError({ kind, method: 'POST', path: '/' }, status, said);
  const details = (code: string, cause?: unknown) => ({ code, ...(cause !== undefined && { cause }) });
  const failed = (thrown: unknown, { isAbort = false, failed_sends = 0 } = {}) =>
    afterSend(entryIn('sending', { failed_sends }), entryIn('ready', { failed_sends }), { thrown, isAbort }, plans);

  const unforeseen = new Fatal('x', details('unexpected'));
  const ambiguous = (cause?: unknown) => new Ambiguous('no answer', details('answer_unclear', cause));

  it.each<[string, unknown, OutboxState, AttemptOutcome, boolean]>([
    ['by a timeout', ambiguous(), 'unknown', 'unclear', false],
    ['by 500', ambiguous(answered(500)), 'unknown', 'unclear', false],
    ['by something unforeseen', new TypeError('x'), 'unknown', 'unclear', false],
    ['by what is no error at all', 'x', 'unknown', 'unclear', false],
    ['by something unforeseen that was wrapped', unforeseen, 'unknown', 'unclear', false],
    ['by 422', new Skippable('422', details('rejected', answered(422))), 'rejected', 'rejected', false],
    ['by an invalid request', new Fatal('bad', details('request_invalid')), 'rejected', 'rejected', false],
    ['by 401', new Fatal('401', details('unauthorised', answered(401))), 'ready', 'turned-away', true],
    ['by 403', new Fatal('403', details('forbidden', answered(403))), 'ready', 'turned-away', true],
    ['by 429', new Retriable('429', details('throttled', answered(429))), 'ready', 'turned-away', false],
    ['by no connection', new Retriable('down', details('service_unreachable')), 'ready', 'not-sent', true],
    ['by a pause of the login', new Retriable('wait', details('throttled')), 'ready', 'not-sent', false],
    ['by a rejected login', new Fatal('login', details('login_refused')), 'ready', 'not-sent', true],
    [
      'by 401 to something that only reads',
      new Fatal('401', details('unauthorised', answered(401, undefined, 'read'))),
      'ready',
      'not-sent',
      true,
    ],
  ])('%s', (_, thrown, state, outcome, stop) => {
    expect(failed(thrown)).toMatchObject({ entry: { state }, attempt: { outcome }, stop });
  });

  it('has its code and status, and the message of the service', () => {
    const rejected = failed(new Skippable('Rejected', details('rejected', answered(422, 'no such plate'))));
    expect(rejected.attempt).toMatchObject({
      error_code: 'rejected',
      http_status: 422,
      message: 'Rejected: no such plate',
    });
    expect(rejected.entry.reasons).toBe('["Rejected: no such plate"]');
    expect(failed(new Fatal('bad', details('request_invalid'))).entry.reasons).toBe('["bad"]');
    expect(failed(ambiguous()).attempt).toMatchObject({ error_code: 'answer_unclear', http_status: null });
  });

  it('is a failure of the run where the service accepted nothing', () => {
    for (const code of ['service_unreachable', 'login_refused'])
      expect(failed(new Retriable('x', details(code))).failure).toMatchObject({ code });
    expect(failed(new Fatal('403', details('forbidden', answered(403)))).failure).toMatchObject({
      code: 'forbidden',
    });
    expect(failed(ambiguous()).failure).toBeUndefined();
  });

  it('asks for a person after the fifth time, and is still retried', () => {
    const away = (failed_sends: number) =>
      failed(new Retriable('429', details('throttled', answered(429))), { failed_sends }).entry;
    const down = (failed_sends: number) =>
      failed(new Retriable('down', details('service_unreachable')), { failed_sends }).entry;
    for (const send of [away, down]) {
      expect(send(3)).toMatchObject({ state: 'ready', attention: null });
      expect(send(4)).toMatchObject({ state: 'ready', attention: 'retries_exhausted' });
    }
  });

  it('by a status may have taken effect: it keeps the content that was sent', () => {
    expect(failed(new Skippable('422', details('request_rejected', answered(422)))).entry.sent_hash).toBe('one');
    expect(failed(new Fatal('403', details('forbidden', answered(403)))).entry.sent_hash).toBe('one');
  });

  it('before anything left counts as nothing sent', () => {
    expect(failed(new Retriable('down', details('service_unreachable'))).entry.sent_hash).toBeNull();
    expect(failed(new Fatal('bad', details('request_invalid'))).entry.sent_hash).toBeNull();
  });

  it('by an expired token or a pause is due at once, the first time', () => {
    const throttled = new Retriable('429', details('throttled', answered(429)));
    expect(failed(throttled).entry.next_attempt_at).toBeNull();
    const expired = new Fatal('401', details('unauthorised', answered(401)));
    expect(failed(expired).entry.next_attempt_at).toBeNull();
    expect(failed(throttled, { failed_sends: 1 }).entry.next_attempt_at).toBe(minutesAfter(1));
    expect(failed(new Fatal('403', details('forbidden', answered(403)))).entry.next_attempt_at).toBe(minutesAfter(0.5));
  });

  it('because the run was stopped is due at once, and not a failure', () => {
    const stopped = failed(new Error('stop'), { isAbort: true });
    expect(stopped).toMatchObject({ entry: { state: 'ready', next_attempt_at: null }, stop: true });
    expect(stopped.attempt).toMatchObject({ outcome: 'not-sent', error_code: 'stopped' });
    expect(stopped.failure).toBeUndefined();
  });

  it('waits twice as long each time, up to an hour', () => {
    expect([1, 2, 3, 7, 8, 100].map(sendDelayMs)).toEqual([30_000, 60_000, 120_000, 1_920_000, 3_600_000, 3_600_000]);
  });
});

describe('a read-back', () => {
  const found = (change: Partial<Decision & { is: 'found' }> = {}): Decision => ({
    is: 'found',
    record: { id: 9, key: 'P1', status: 'P', record: {} },
    others: [],
    isSame: true,
    ...change,
  });
  const readBack = (entry: OutboxEntry, decision: Decision, facts = plans) =>
    afterReadBack(entry, decision, facts, OWN);

  it('that finds other content of an entry that an earlier version stored changes the item at the service', () => {
    const entry = entryIn('unknown', { unknown_since: AT });
    const place = nextPlace(entry, { data: {}, options: {} });
    expect(afterReadBack(entry, found({ isSame: false }), points, place)?.entry).toMatchObject({
      state: 'ready',
      remote_id: 9,
      unknown_since: null,
    });
  });

  it('that finds an item without some parts confirms it with the reasons, without secrets', () => {
    const facts = { ...plans, redact: (text: string) => text.replace('secret', '…') };
    const then = readBack(entryIn('unknown'), found({ missing: ['point not at the service: secret'] }), facts);
    const message = 'Found at the service; parts may be missing, see the reasons';
    expect(then?.entry).toMatchObject({ state: 'confirmed', message, reasons: '["point not at the service: …"]' });
    expect(then?.attempt).toMatchObject({ what: 'read-back', outcome: 'found', message });
    expect(readBack(entryIn('unknown'), found({ missing: [] }))?.entry.reasons).toBeNull();
  });

  it.each<[OutboxState, string | null]>([
    ['ready', 'The service already had it; it was not sent'],
    ['unknown', null],
    ['rejected', 'The service has it, although it answered with a rejection'],
  ])('that shows an entry confirms it from %s', (state, message) => {
    const then = readBack(entryIn(state, { reasons: '["no"]' }), found());
    expect(then?.entry).toMatchObject({
      state: 'confirmed',
      remote_id: 9,
      seen_at: AT,
      confirmed_at: AT,
      message,
      payload: null,
      reasons: null,
    });
    expect(then?.attempt).toEqual({
      what: 'read-back',
      outcome: 'found',
      message: message ?? 'Found at the service',
      started_at: AT,
    });
  });

  it('that shows an item of other content flags it, where no call can change it', () => {
    const then = readBack(entryIn('ready'), found({ isSame: false }))?.entry;
    expect(then).toMatchObject({ state: 'confirmed', content_hash: 'one', sent_hash: '' });
    expect(then?.message).toContain('with different content');
    const changed = entryIn('unknown', { content_hash: 'two', reasons: '["no"]' });
    expect(readBack(changed, found({ isSame: false }))?.entry).toMatchObject({
      sent_hash: 'one',
      message: CHANGED_AFTER_PUSH,
      reasons: null,
    });
    const unusable = entryIn('unknown', { content_hash: 'two', reasons: '["no"]', attention: 'invalid_change' });
    expect(readBack(unusable, found())?.entry.reasons).toBe('["no"]');
    const corrected = entryIn('rejected', {
      attempts: 1,
      sent_hash: 'one',
      content_hash: 'two',
      payload: null,
      reasons: '["no"]',
    });
    expect(readBack(corrected, found())?.entry).toMatchObject({ message: CHANGED_AFTER_PUSH, reasons: null });
  });

  it('that shows an item whose present content is not kept leaves it at the content that was sent', () => {
    const noted = entryIn('unknown', { content_hash: '', payload: null, attention: 'read_error' });
    expect(afterReadBack(noted, found(), points, undefined)?.entry).toMatchObject({
      state: 'confirmed',
      sent_hash: 'one',
      attention: 'read_error',
    });
    const invalid = entryIn('unknown', { content_hash: 'two', payload: null, attention: 'invalid_change' });
    expect(afterReadBack(invalid, found(), points, undefined)?.entry.attention).toBe('invalid_change');
    const doubtful = entryIn('unknown', { attention: 'inconclusive' });
    expect(readBack(doubtful, found())?.entry.attention).toBeNull();
  });

  it.each<OutboxState>(['ready', 'unknown', 'confirmed'])(
    'that shows other content has it changed, where a call can, from %s',
    (state) => {
      const entry = entryIn(state, { payload: '{}' });
      const then = readBack(entry, found({ isSame: false }), points);
      expect(then?.entry).toMatchObject({
        state: 'ready',
        remote_id: 9,
        seen_at: expect.any(String),
        ...OWN,
      });
      expect(then?.attempt).toMatchObject({
        outcome: 'found',
        message: expect.stringContaining('different'),
      });
      const twice = readBack(entry, found({ isSame: false, others: [10] }), points);
      expect(twice?.entry.attention).toBe('found_twice');
      expect(twice?.attempt?.message).toContain('9, 10');
    },
  );

  it('that shows an item without its rejected change leaves it rejected', () => {
    const rejected = entryIn('rejected', { remote_id: 9 });
    expect(readBack(rejected, found({ isSame: false }), points)).toBeUndefined();
    expect(readBack(rejected, found(), points)?.entry.state, 'unless it has the change').toBe('confirmed');
  });

  it('that shows a confirmed entry ends the alarm that none showed it, and no other', () => {
    const known = found({ record: { id: 7, key: 'P1', status: null, record: {} } });
    const ended = readBack(entryIn('confirmed', { attention: 'never_shown' }), known)?.entry;
    expect(ended).toMatchObject({ attention: null, told_at: null });
    const unread = { attention: 'read_error', message: 'cannot be read' } as const;
    expect(readBack(entryIn('confirmed', unread), known)?.entry).toMatchObject(unread);
  });

  it('that shows an item twice is an alarm until it shows it once', () => {
    const twice = readBack(entryIn('unknown'), found({ others: [10] }))?.entry as OutboxEntry;
    expect(twice).toMatchObject({
      state: 'confirmed',
      attention: 'found_twice',
      message: expect.stringContaining('2 times: 9, 10'),
    });
    const later = readBack(entryIn('confirmed', { remote_id: null, seen_at: null }), found({ others: [10] }))?.entry;
    expect(later).toMatchObject({ state: 'confirmed', attention: 'found_twice', told_at: null });
    expect(later?.next_attempt_at).toBe(minutesAfter(10));
    const still = readBack({ ...twice, told_at: AT }, found({ others: [10] }))?.entry;
    expect(still).toMatchObject({ attention: 'found_twice', told_at: AT, next_attempt_at: minutesAfter(10) });
    expect(readBack({ ...twice, told_at: AT }, found())?.entry).toMatchObject({
      attention: null,
      message: null,
      told_at: null,
      next_attempt_at: null,
    });
  });

  it('that shows a confirmed entry for the first time has the ERP notified of its identifier', () => {
    const accepted = { seen_at: null, message: 'kept', erp_code: '529', remote_status: 'P' };
    const unnamed = readBack(entryIn('confirmed', { ...accepted, remote_id: null }), found())?.entry;
    expect(unnamed).toMatchObject({ remote_id: 9, told_at: null, erp_code: '529', message: 'kept' });
    const known = found({ record: { id: 7, key: 'P1', status: 'P', record: {} } });
    const named = readBack(entryIn('confirmed', accepted), known)?.entry;
    expect(named).toMatchObject({ seen_at: AT, told_at: AT, erp_code: null, next_attempt_at: null });
    const untold = readBack(entryIn('confirmed', { ...accepted, told_at: null }), known)?.entry;
    expect(untold).toMatchObject({ told_at: null, erp_code: '529' });
    const other = found({ record: { id: 7, key: 'P1', status: 'F', record: {} } });
    expect(readBack(entryIn('confirmed', { remote_status: 'P' }), other)?.entry.remote_status).toBe('F');
  });

  it('that shows a failed optimisation reports it once', () => {
    const facts = { ...plans, kind: { noun: 'plan', failed: { status: 'I', message: 'could not' } } };
    const failed = found({ record: { id: 7, key: 'P1', status: 'I', record: {} } });
    const then = readBack(entryIn('confirmed', { remote_status: 'W' }), failed, facts)?.entry as OutboxEntry;
    expect(then).toMatchObject({ message: 'could not', remote_status: 'I', told_at: null });
    const waiting = found({ record: { id: 7, key: 'P1', status: 'R', record: {} } });
    expect(readBack(entryIn('confirmed', { remote_status: 'W' }), waiting, facts)?.entry.message).toBeNull();
    expect(readBack({ ...then, told_at: AT }, failed, facts)).toBeUndefined();
  });

  it('that shows nothing new writes nothing', () => {
    const shown = found({ record: { id: 7, key: 'P1', status: 'P', record: {} } });
    expect(readBack(entryIn('confirmed', { remote_status: 'P' }), shown)).toBeUndefined();
    expect(readBack(entryIn('ready'), { is: 'clear' })).toBeUndefined();
  });

  it('that does not show it, too early to decide, starts the wait', () => {
    const early = (attention: OutboxEntry['attention']) =>
      readBack(entryIn('unknown', { attention }), { is: 'too-early', since: minutesAfter(-1) });
    expect(early(null)).toMatchObject({
      entry: { state: 'unknown', absent_since: minutesAfter(-1), attention: null },
      attempt: { what: 'read-back', outcome: 'absent' },
    });
    expect(early('inconclusive')?.entry.attention).toBeNull();
    expect(early('invalid_change')?.entry.attention).toBe('invalid_change');
  });

  it('that finds it absent has it sent, with the key and period of its present content', () => {
    const own = { remote_key: 'P2', period_start: 'a', period_end: 'b' };
    expect(afterReadBack(entryIn('unknown'), { is: 'absent' }, plans, own)?.entry).toMatchObject({
      state: 'ready',
      remote_key: 'P2',
      period_start: 'a',
      unknown_since: AT,
      unclear_sends: 1,
    });
  });

  it('that finds it absent rejects it, where the content that the ERP offered since cannot be sent', () => {
    const entry = entryIn('unknown', { payload: null, reasons: '["name: is missing"]' });
    const then = afterReadBack(entry, { is: 'absent' }, plans, undefined);
    expect(then?.entry).toMatchObject({
      state: 'rejected',
      reasons: '["name: is missing"]',
      sent_hash: null,
      unclear_sends: 0,
    });
    expect(then?.attempt?.outcome).toBe('absent');
  });

  it('that finds it absent after five unclear sends leaves it to a person', () => {
    const sent = (unclear_sends: number) => readBack(entryIn('unknown', { unclear_sends }), { is: 'absent' });
    const attempt = { outcome: 'absent' };
    expect(sent(4)).toMatchObject({ entry: { state: 'ready' }, attempt });
    expect(sent(5)).toMatchObject({ entry: { state: 'unknown', attention: 'retries_exhausted' }, attempt });
  });

  it('that proves nothing leaves it unchanged, starts the wait again, and asks for a person', () => {
    const entry = entryIn('unknown', { absent_since: AT });
    expect(readBack(entry, { is: 'inconclusive', why: 'x' })).toMatchObject({
      entry: { state: 'unknown', absent_since: null, attention: 'inconclusive' },
      attempt: { outcome: 'inconclusive', message: expect.stringMatching(/^x; .*--not-there/) },
    });
    const noted = { ...entry, attention: 'invalid_change' } as const;
    expect(readBack(noted, { is: 'inconclusive', why: 'x' })?.entry.attention).toBe('invalid_change');
  });

  it('of an accepted entry that is never shown asks for a person', () => {
    const accepted = entryIn('confirmed', { seen_at: null });
    expect(readBack(accepted, { is: 'never-shown' })).toMatchObject({
      entry: { state: 'confirmed', attention: 'never_shown', next_attempt_at: minutesAfter(10) },
      attempt: { outcome: 'absent' },
    });
    const noted = { ...accepted, attention: 'read_error' } as const;
    expect(readBack(noted, { is: 'never-shown' })?.entry.attention).toBe('read_error');
  });
});

describe('a transition', () => {
  const FROM: Record<TransitionName, OutboxState[]> = {
    claim: ['ready'],
    confirm: ['ready', 'sending', 'unknown', 'rejected'],
    reject: ['ready', 'sending', 'unknown', 'rejected', 'cancelled'],
    release: ['sending'],
    becomeUnknown: ['sending'],
    believeAbsent: ['unknown'],
    renew: ['ready', 'rejected', 'cancelled'],
    reopen: ['ready', 'rejected', 'cancelled'],
    update: ['confirmed', 'sending', 'unknown', 'ready'],
    note: ['ready', 'unknown', 'confirmed', 'rejected', 'cancelled'],
    retry: ['rejected'],
    assertAbsent: ['unknown', 'ready', 'rejected'],
    disprove: ['confirmed'],
    cancel: ['ready', 'unknown', 'confirmed', 'rejected'],
  };

  it.each(Object.keys(TRANSITIONS) as TransitionName[])('%s starts where the table says, and nowhere else', (name) => {
    for (const state of OUTBOX_STATES) {
      const move = () => transition(entryIn(state), name, AT);
      if (FROM[name].includes(state)) expect(move().revision).toBe(2);
      else expect(move).toThrow(/cannot/);
    }
  });

  const WAIT = ['absent_since', 'next_attempt_at', 'failed_sends'];
  const DOUBT = [...WAIT, 'unknown_since'];
  const EMPTIES: Record<TransitionName, string[]> = {
    claim: ['absent_since', 'next_attempt_at'],
    confirm: [...DOUBT, 'told_at', 'payload', 'attention', 'unclear_sends'],
    reject: [...DOUBT, 'told_at', 'attention'],
    release: [],
    becomeUnknown: ['told_at', 'absent_since', 'next_attempt_at'],
    believeAbsent: [...WAIT, 'attention'],
    renew: [...DOUBT, 'told_at', 'attention', 'reasons', 'message'],
    reopen: [...DOUBT, 'told_at', 'attention', 'reasons'],
    update: [...DOUBT, 'told_at', 'attention', 'reasons', 'message', 'unclear_sends'],
    note: [],
    retry: [...DOUBT, 'told_at', 'attention', 'reasons'],
    assertAbsent: [...DOUBT, 'told_at', 'attention', 'remote_id', 'sent_hash', 'seen_at', 'unclear_sends'],
    disprove: [...DOUBT, 'told_at', 'attention', 'remote_id', 'sent_hash', 'seen_at', 'content_hash'],
    cancel: [...DOUBT, 'told_at', 'attention', 'payload', 'remote_id', 'seen_at'],
  };

  it.each(Object.keys(TRANSITIONS) as TransitionName[])('%s clears the columns that the table says', (name) => {
    const columns = [...new Set(Object.values(EMPTIES).flat())];
    const full = Object.fromEntries(columns.map((column) => [column, column.endsWith('_sends') ? 1 : 'x']));
    const from = { ...entryIn(FROM[name][0] ?? 'ready'), ...full } as OutboxEntry;
    const then = transition(from, name, minutesAfter(1));
    const changed = columns.filter((column) => then[column as keyof OutboxEntry] !== from[column as keyof OutboxEntry]);
    expect(changed.toSorted()).toEqual(EMPTIES[name].toSorted());
    expect(changed.every((column) => !then[column as keyof OutboxEntry])).toBe(true);
    expect(then.updated_at).toBe(name === 'note' ? AT : minutesAfter(1));
  });

  it('keeps the time since which an entry needs a person while it is tried again, until the reason changes', () => {
    const needing = transition(entryIn('unknown'), 'note', AT, { attention: 'retries_exhausted' });
    expect(needing.attention_since).toBe(AT);
    const tried = transition({ ...needing, state: 'ready' }, 'claim', minutesAfter(1));
    expect(transition(tried, 'release', minutesAfter(2)).attention_since).toBe(AT);
    expect(transition(needing, 'note', minutesAfter(3), { attention: 'never_shown' }).attention_since).toBe(
      minutesAfter(3),
    );
    expect(transition(needing, 'confirm', minutesAfter(4)).attention_since).toBeNull();
  });

  it('is the only way out of `sending`: to confirmed, rejected, unknown, or ready', () => {
    const ends = (Object.keys(TRANSITIONS) as TransitionName[])
      .filter((name) => FROM[name].includes('sending'))
      .map((name) => transition(entryIn('sending'), name, AT).state);
    expect(new Set(ends)).toEqual(new Set(['confirmed', 'rejected', 'unknown', 'ready']));
  });
});

describe('an answer to an import', () => {
  const answer = {
    routePoints: undefined,
    wrongLines: [],
    wrongRoutePlans: [],
    unassignedPoints: [],
    id: undefined,
  };

  it.each([
    [{ routePoints: 3 }, 'accepted'],
    [{ routePoints: 0, wrongLines: [{ message: 'x' }] }, 'rejected'],
    [{ wrongRoutePlans: ['no'] }, 'rejected'],
    [{ routePoints: 0 }, 'unclear'],
    [{}, 'unclear'],
    [{ routePoints: 2, wrongRoutePlans: ['no'] }, 'accepted'],
  ])('of %j says %s', (given, is) => {
    expect(judgeImport({ ...answer, ...given } as never).is).toBe(is);
  });

  it.each([
    [{ external_code: 'P1', message: 'No vehicle has this plate' }, 'No vehicle has this plate'],
    [{ external_code: 'P2', message: 'No vehicle has this plate' }, 'No vehicle has this plate (external_code P2)'],
    [{ external_code: 'P1', motivo: 'placa', linha: 3, mais: {} }, 'motivo placa, linha 3'],
    [{ message: 7, line: 3 }, 'message 7, line 3'],
    [{ external_code: 'P1' }, 'The service gave no reason'],
    ['no', 'no'],
  ])('has the reason of %j', (wrong, reason) => {
    const rejected = { ...answer, raw: null, wrongRoutePlans: [wrong] };
    expect(judgeImport(rejected, 'P1')).toEqual({ is: 'rejected', reasons: [reason] });
  });
});

describe('a returned value', () => {
  it.each([
    [1.0000001, 1, true],
    [{ toString: 1 }, 1, false],
    ['1', 1, true],
    [1.1, 1, false],
    ['2025-03-13T08:00:00-03:00', '2025-03-13T11:00:00Z', true],
    ['a', 'b', false],
    [undefined, 'b', false],
    [true, true, true],
  ] as const)('%j is the sent %j: %s', (returned, sent, isSame) => {
    expect(isSameValue(returned, sent)).toBe(isSame);
  });
});

describe('an entry as people see it', () => {
  const reasons = '["stop 3: unknown"]';

  it('has neither its content nor its clear code, but what became of it', () => {
    const changed = shownEntry(entryIn('confirmed', { content_hash: 'two', reasons, erp_code: '529' }));
    expect(changed).toMatchObject({ changed_after_push: true, is_partial: true, reasons: ['stop 3: unknown'] });
    for (const hidden of ['payload', 'erp_code', 'revision']) expect(changed).not.toHaveProperty(hidden);
    expect(shownEntry(entryIn('confirmed'))).toMatchObject({
      changed_after_push: false,
      is_partial: false,
      reasons: [],
    });
    expect(shownEntry(entryIn('rejected', { content_hash: 'two', reasons }))).toMatchObject({
      changed_after_push: false,
      is_partial: false,
    });
  });

  it.each<[string, OutboxEntry, string]>([
    ['was confirmed', entryIn('confirmed'), 'confirmed'],
    ['is partial', entryIn('confirmed', { reasons }), 'partial'],
    ['was rejected', entryIn('rejected', { reasons }), 'rejected'],
    ['is partial and needs a person', entryIn('confirmed', { reasons, attention: 'found_twice' }), 'confirmed'],
  ])('that %s', (_, entry, state) => {
    expect(shownState(entry)).toBe(state);
  });
});

it('a run counts the entries that became confirmed or rejected, and names the partial ones', () => {
  const counts = zeroCounts();
  const partial: string[] = [];
  const step = (from: OutboxState, to: OutboxState, change?: Partial<OutboxEntry>) => ({
    before: entryIn(from),
    entry: entryIn(to, change),
  });
  const stored = [
    step('sending', 'confirmed'),
    step('sending', 'confirmed', { external_code: 'P2', reasons: '["stop 3: unknown"]' }),
    step('sending', 'rejected'),
    step('sending', 'rejected'),
    step('sending', 'rejected'),
    step('sending', 'unknown'),
    step('sending', 'unknown'),
    step('confirmed', 'confirmed', { reasons: '["stop 3: unknown"]' }),
  ];
  countOutcomes({ context: { counts }, partial } as unknown as PushRun, stored);
  expect(counts).toEqual({ ...zeroCounts(), confirmed: 2, rejected: 3 });
  expect(partial).toEqual(['P2']);
});
