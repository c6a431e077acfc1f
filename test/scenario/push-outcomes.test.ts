// What the outbox and the story of an entry say after each way in which a send can end: a person reads there why a
// plan did not arrive, and the next run decides by it.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { retryEntry } from '../../src/sync/push/outbox-orders.ts';
import type { Answering, OwnAnswer } from '../support/front.ts';
import { makePushPlace, type PushPlace } from '../support/push-place.ts';
import { type OutboxRow, plan, plans } from '../support/push-samples.ts';

const JOB = 'push-route-plans';
const CALL = 'import-route-plan' as const;
const MINUTE = 60_000;
const BLINDLY = { check_before_send: false };
/** The look before the send is answered, none after it: what is told is told by the send alone. */
const UNSEEN = { call: 'route-plans', fault: '400', skip: 1 } as const;

const isSend = (pathname: string, method: string): boolean =>
  method === 'POST' && pathname.startsWith('/import/');

/** Every import is answered by `own` and reaches nobody. */
const importAnswers =
  (own: OwnAnswer): Answering =>
  ({ pathname }, _original, { method }) =>
    isSend(pathname, method) ? own : undefined;

describe('a send that is answered', () => {
  it('by an acceptance is confirmed, and watched until a search has shown it', async () => {
    const place = await makePushPlace();
    place.sandbox.addFault({ ...UNSEEN, times: 1 });
    place.drop('route_plans', 'a.json', plan('P1'));
    expect(await place.run(JOB)).toMatchObject({ sent: 1, confirmed: 1 });
    expect((await place.story('P1'))[0]).toMatchObject({
      what: 'create',
      outcome: 'accepted',
      message: null,
      error_code: null,
      http_status: null,
    });
    const [accepted] = await place.outbox();
    expect(accepted).toMatchObject({
      state: 'confirmed',
      is_watched: 1,
      seen_at: null,
      remote_status: null,
      reasons: null,
      changed_after_push: 0,
      sent_hash: accepted?.content_hash,
    });
    await place.clock.advance(MINUTE);
    const at = new Date(place.clock.now()).toISOString();
    await place.run(JOB);
    expect((await place.outbox())[0]).toMatchObject({ is_watched: 0, seen_at: at });
  });

  it('by an acceptance in part says what was refused of it', async () => {
    const body = { route_points: 1, unassigned_points: [{ external_code: 'P1-1' }] };
    const place = await makePushPlace({ answering: importAnswers({ body }) });
    place.drop('route_plans', 'a.json', plan('P1'));
    await place.run(JOB);
    const message = 'Accepted in part; 1 refused';
    expect((await place.story('P1'))[0]).toMatchObject({ outcome: 'accepted', message });
    const reasons = JSON.stringify(['point not assigned: P1-1']);
    expect(await place.outbox()).toMatchObject([{ state: 'confirmed', message, reasons }]);
  });

  it('by a refusal says every reason, has sent nothing, and is not looked for', async () => {
    const body = { route_points: 0, wrong_lines: ['no such street', 'no such town'] };
    const place = await makePushPlace({ answering: importAnswers({ body }) });
    place.drop('route_plans', 'a.json', plan('P1'));
    expect(await place.run(JOB)).toMatchObject({ sent: 1, rejected: 1 });
    const reasons = ['point refused: no such street', 'point refused: no such town'];
    expect(await place.story('P1')).toMatchObject([
      { outcome: 'refused', message: reasons.join('; '), error_code: null, http_status: null },
    ]);
    const [entry] = await place.outbox();
    expect(entry).toMatchObject({
      state: 'rejected',
      message: 'The service refused it',
      reasons: JSON.stringify(reasons),
      sent_hash: null,
    });
    expect([entry?.is_doubtful, entry?.is_watched].some(Boolean)).toBe(false);
  });

  it('by a refusal ends the search for what a status refused before', async () => {
    const answers: OwnAnswer[] = [
      { status: 409, body: {} },
      { body: { route_points: 0, wrong_lines: ['no such street'] } },
    ];
    const place = await makePushPlace({
      answering: ({ pathname }, _original, { method }) =>
        isSend(pathname, method) ? answers.shift() : undefined,
    });
    place.drop('route_plans', 'a.json', plan('P1'));
    await place.run(JOB);
    await retryEntry(place.engine, await place.entry('P1'), place.now());
    await place.clock.advance(1_000);
    await place.runs(JOB, 2);
    expect(await place.entry('P1')).toMatchObject({ state: 'rejected', attempts: 2, is_watched: 0 });
  });

  it('by a status that refuses it is in doubt, and will be looked for once more', async () => {
    const place = await makePushPlace();
    place.sandbox.addFault(UNSEEN);
    place.sandbox.addFault({ call: CALL, fault: '409' });
    place.drop('route_plans', 'a.json', plan('P1'));
    expect(await place.run(JOB)).toMatchObject({ sent: 1, rejected: 1 });
    expect((await place.story('P1'))[0]).toMatchObject({
      outcome: 'refused',
      http_status: 409,
      error_code: 'conflict',
    });
    const [entry] = await place.outbox();
    expect(entry).toMatchObject({
      state: 'rejected',
      is_doubtful: 1,
      is_watched: 1,
      sent_hash: entry?.content_hash,
    });
  });

  it('by words that do not tell is unknown since then', async () => {
    const place = await makePushPlace({ answering: importAnswers({ body: { said: 'thanks' } }) });
    place.sandbox.addFault(UNSEEN);
    place.drop('route_plans', 'a.json', plan('P1'));
    expect(await place.run(JOB)).toMatchObject({ sent: 1, confirmed: 0, unknown: 1 });
    await expectUnknown(place, 'The answer does not tell whether the plan was accepted');
  });

  it('by nothing is unknown since then', async () => {
    const place = await makePushPlace();
    place.sandbox.addFault(UNSEEN);
    place.sandbox.addFault({ call: CALL, fault: 'reset-after-commit' });
    place.drop('route_plans', 'a.json', plan('P1'));
    expect(await place.run(JOB)).toMatchObject({ sent: 1, confirmed: 0, unknown: 1 });
    const [attempt] = await place.story('P1');
    expect(attempt).toMatchObject({ error_code: 'answer_unclear', http_status: null });
    await expectUnknown(place, expect.stringMatching(/./));
  });

  it.each([
    // Sent twice in each run.
    ['429', 'throttled', [60, 240]],
    ['403', 'forbidden', [30, 60]],
  ] as const)('by %s waits, in doubt, longer each time', async (fault, error_code, waited) => {
    const place = await makePushPlace();
    place.sandbox.addFault({ call: CALL, fault });
    place.drop('route_plans', 'a.json', plan('P1'));
    const waits: number[] = [];
    for (let runs = 0; runs < 2; runs++) {
      await place.run(JOB, BLINDLY);
      const [entry] = await place.outbox();
      expect(entry).toMatchObject({ state: 'ready', is_doubtful: 1, checked_run_id: null });
      const sent = (await place.story('P1')).findLast(({ what }) => what === 'create');
      expect(sent).toMatchObject({ outcome: 'turned-away', http_status: Number(fault), error_code });
      expect(entry?.message).toBe(sent?.message);
      waits.push(waitOf(entry, sent));
      await place.clock.advance(60 * MINUTE);
    }
    expect(waits).toEqual(waited);
  });
});

/** Whole seconds from the end of an attempt until the next one may begin. */
const waitOf = (entry: OutboxRow | undefined, attempt: { finished_at: string | null } | undefined): number =>
  Math.round((Date.parse(entry?.next_attempt_at ?? '') - Date.parse(attempt?.finished_at ?? '')) / 1_000);

async function expectUnknown(place: PushPlace, message: unknown): Promise<void> {
  const [attempt] = await place.story('P1');
  expect(attempt).toMatchObject({ outcome: 'unclear', message });
  expect((await place.outbox())[0]).toMatchObject({
    state: 'unknown',
    message: attempt?.message,
    unknown_since: attempt?.finished_at,
    unclear_sends: 1,
  });
}

describe('a send that did not happen', () => {
  it('since the service is not there is tried again later, and no other one is', async () => {
    const place = await makePushPlace();
    place.parts.concurrency = 1;
    place.drop('route_plans', 'a.json', [plan('P1'), plan('P2'), plan('P3')]);
    await place.sandbox.close();
    const { sent, error } = await place.run(JOB, BLINDLY);
    expect([sent, error?.code]).toEqual([0, 'service_unreachable']);
    expect((await place.outbox()).map(({ attempts }) => attempts)).toEqual([1, 0, 0]);
    const [attempt] = await place.story('P1');
    expect(attempt).toMatchObject({ outcome: 'not-sent', error_code: 'service_unreachable' });
    const [entry] = await place.outbox();
    expect(entry).toMatchObject({ state: 'ready', sent_hash: null, message: attempt?.message });
    expect(Boolean(entry?.is_doubtful)).toBe(false);
    expect(waitOf(entry, attempt)).toBe(30);
  });

  it('since the run was stopped is due at once, and is no failure of its own', async () => {
    const stop = new AbortController();
    let arrived = 0;
    const place = await makePushPlace({
      answering: async ({ pathname }, _original, { method }) => {
        if (!isSend(pathname, method)) return undefined;
        // Four calls have arrived and hold all places of the client; a fifth entry is claimed and waits for one.
        arrived++;
        const isAll = async () => (await place.outbox()).every(({ state }) => state === 'sending');
        while (!stop.signal.aborted && !(arrived === 4 && (await isAll()))) await nextTurn();
        stop.abort();
        return { status: 409, body: {} };
      },
    });
    place.parts.concurrency = 5;
    place.drop('route_plans', 'a.json', plans(5));
    const { error } = await place.run(JOB, BLINDLY, stop.signal);
    expect(error).toMatchObject({ code: 'stopped' });
    const waited = await place.engine.read((sql) => sql('push_attempt').where({ outcome: 'not-sent' }));
    expect(waited).toMatchObject([{ message: 'Stopped before it was sent', error_code: 'stopped' }]);
    const entry = (await place.outbox()).find(({ state }) => state === 'ready');
    expect(entry).toMatchObject({ external_code: waited[0]?.external_code, sent_hash: null });
    expect(waitOf(entry, waited[0])).toBe(0);
  });
});
