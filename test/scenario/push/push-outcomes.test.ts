// The outbox and the history of an entry after each way in which a send can end: a person reads there why a plan did
// not arrive, and the next run decides by it.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Answering, OwnAnswer } from '../../support/fleet/front.ts';
import { makePushPlace } from '../../support/push/push-place.ts';
import { plan, plans } from '../../support/push/push-samples.ts';

const JOB = 'push-route-plans';
const MINUTE = 60_000;

const isSend = (pathname: string, method: string): boolean => method === 'POST' && pathname.startsWith('/import/');

/** Every import is answered by `own` and never reaches the sandbox. */
const importAnswers =
  (own: OwnAnswer): Answering =>
  ({ pathname }, _original, { method }) =>
    isSend(pathname, method) ? own : undefined;

const REASONS = 'point rejected: no such street; point rejected: no such town';

describe('a send that is answered', () => {
  it.each<[string, OwnAnswer, { state: string; readBacks: number; attempt: Record<string, unknown> }]>([
    [
      'by a rejection in its body',
      { body: { route_points: 0, wrong_lines: ['no such street', 'no such town'] } },
      { state: 'rejected', readBacks: 1, attempt: { outcome: 'rejected', message: REASONS } },
    ],
    [
      'by a status that rejects it',
      { status: 409, body: {} },
      { state: 'rejected', readBacks: 2, attempt: { outcome: 'rejected', error_code: 'conflict' } },
    ],
    [
      'by an inconclusive body',
      { body: { said: 'thanks' } },
      { state: 'unknown', readBacks: 2, attempt: { outcome: 'unclear', error_code: null } },
    ],
    [
      'by a failure',
      { status: 502, body: {} },
      { state: 'unknown', readBacks: 2, attempt: { outcome: 'unclear', error_code: 'answer_unclear' } },
    ],
    [
      'by a status that turns it away',
      { status: 403, body: {} },
      { state: 'ready', readBacks: 1, attempt: { outcome: 'turned-away', error_code: 'forbidden' } },
    ],
  ])('%s', async (_, answer, { state, readBacks, attempt }) => {
    const place = await makePushPlace({ answering: importAnswers(answer) });
    place.drop('route_plans', 'a.json', plan('P1'));
    expect((await place.run(JOB)).status).toBe('partial');
    expect(await place.entry('P1')).toMatchObject({ state });
    const [sent, ...later] = await place.story('P1');
    expect(sent).toMatchObject({ what: 'create', http_status: answer.status ?? null, ...attempt });
    expect(later.map(({ what }) => what)).toEqual(state === 'unknown' ? ['read-back'] : []);
    expect(place.sandbox.ledger().requests['route-plans']).toBe(readBacks);
  });

  it('by an acceptance is confirmed, and read back until a listing shows it', async () => {
    const place = await makePushPlace();
    place.sandbox.addFault({ call: 'route-plans', fault: '400', skip: 1, times: 1 });
    place.drop('route_plans', 'a.json', plan('P1'));
    expect(await place.run(JOB)).toMatchObject({ status: 'partial', sent: 1, confirmed: 1 });
    const accepted = { what: 'create', outcome: 'accepted', message: null, error_code: null };
    expect(await place.story('P1')).toMatchObject([accepted]);
    const { content_hash } = await place.entry('P1');
    expect(await place.entry('P1')).toMatchObject({
      state: 'confirmed',
      seen_at: null,
      sent_hash: content_hash,
    });
    await place.clock.advance(MINUTE);
    expect(await place.run(JOB)).toMatchObject({ status: 'ok', sent: 0 });
    expect(await place.entry('P1')).toMatchObject({ seen_at: place.now(), told_at: place.now() });
  });
});

describe('a send that did not happen', () => {
  it('because the service is unreachable leaves all entries ready', async () => {
    const place = await makePushPlace();
    place.drop('route_plans', 'a.json', plans(3));
    await place.sandbox.close();
    expect(await place.run(JOB)).toMatchObject({
      status: 'partial',
      sent: 0,
      error: { code: 'service_unreachable' },
    });
    for (const { state, sent_hash } of await place.outbox()) expect([state, sent_hash]).toEqual(['ready', null]);
  });

  it('because the run was stopped is due at once, and is no failure', async () => {
    const stop = new AbortController();
    let arrived = 0;
    const place = await makePushPlace({
      answering: async ({ pathname }, _original, { method }) => {
        if (!isSend(pathname, method)) return undefined;
        // Four calls have arrived and hold all slots of the client; the fifth waits for one.
        arrived++;
        while (arrived < 4) await nextTurn();
        stop.abort();
        return { status: 409, body: {} };
      },
    });
    place.dependencies.concurrency = 5;
    place.drop('route_plans', 'a.json', plans(5));
    const { error } = await place.run(JOB, {}, stop.signal);
    expect(error).toMatchObject({ code: 'stopped' });
    const waited = await place.engine.read((sql) => sql('push_attempt').where({ outcome: 'not-sent' }));
    expect(waited).toMatchObject([{ message: 'Stopped before it was sent', error_code: 'stopped' }]);
    expect(await place.entry(waited[0]?.external_code)).toMatchObject({
      state: 'ready',
      sent_hash: null,
      next_attempt_at: null,
    });
  });
});
