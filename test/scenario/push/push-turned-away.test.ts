// Answers that say that nothing was done may come from a proxy after the write was done: the next step is a read-back,
// and only then a send.
import { describe, expect, it } from 'vitest';
import { HOUR_MS } from '../../support/push/push-faults.ts';
import { makePushPlace } from '../../support/push/push-place.ts';
import { plan, plans } from '../../support/push/push-samples.ts';

const JOB = 'push-route-plans';
const CALL = 'import-route-plan';

describe('a send that is turned away', () => {
  it.each(['401', '429', 'expired-token'] as const)(
    'by %s is sent again in the same run, after one read-back',
    async (fault) => {
      const place = await makePushPlace();
      place.sandbox.addFault({ call: CALL, fault, times: 1 });
      place.drop('route_plans', 'a.json', plan('P1'));
      expect(await place.run(JOB)).toMatchObject({ status: 'ok', sent: 2, confirmed: 1 });
      expect((await place.story('P1')).map(({ outcome }) => outcome)).toEqual(['turned-away', 'accepted']);
      // Before each send, and for its identifier after the second.
      expect(place.sandbox.ledger().requests['route-plans']).toBe(3);
      expect(place.sandbox.ledger().plans).toEqual({ P1: 1 });
    },
  );

  it('by 403 is sent by a later run, after one read-back, and the other plans wait for that too', async () => {
    const place = await makePushPlace();
    place.sandbox.addFault({ call: CALL, fault: '403', times: 1 });
    place.dependencies.concurrency = 1;
    place.drop('route_plans', 'a.json', plans(3));
    expect(await place.run(JOB)).toMatchObject({ status: 'partial', sent: 1, error: { code: 'forbidden' } });
    expect((await place.outbox()).map(({ attempts }) => attempts)).toEqual([1, 0, 0]);
    await place.clock.advance(HOUR_MS);
    expect(await place.run(JOB)).toMatchObject({ status: 'ok', sent: 3, confirmed: 3 });
    expect(place.sandbox.ledger().plans).toEqual({ P00: 1, P01: 1, P02: 1 });
  });

  it.each(['400', '401', '403', '409', '429'] as const)(
    'by %s after the commit, at every send, is found and never sent twice',
    async (fault) => {
      const place = await makePushPlace();
      place.sandbox.addFault({ call: CALL, fault, after_commit: true });
      place.drop('route_plans', 'a.json', plans(3));
      for (let runs = 0; runs < 4; runs++) {
        await place.run(JOB);
        await place.clock.advance(HOUR_MS);
      }
      expect(place.sandbox.ledger().plans).toEqual({ P00: 1, P01: 1, P02: 1 });
      expect((await place.outbox()).map(({ state }) => state)).toEqual(Array(3).fill('confirmed'));
    },
  );

  it('is not sent again when every listing is inconclusive, and every run says so', async () => {
    const place = await makePushPlace();
    place.sandbox.addFault({ call: CALL, fault: '429', after_commit: true, times: 1 });
    place.sandbox.addFault({ call: 'route-plans', fault: 'no-records' });
    place.drop('route_plans', 'a.json', plan('P1'));
    for (let runs = 0; runs < 4; runs++) {
      expect(await place.run(JOB)).toMatchObject({ status: 'partial', error: { code: 'inconclusive' } });
      await place.clock.advance(HOUR_MS);
    }
    expect(await place.entry('P1')).toMatchObject({ state: 'ready', attempts: 1, attention: 'inconclusive' });
    expect(place.sandbox.ledger().plans).toEqual({ P1: 1 });
  });

  it('by every token ends the run after a second attempt, without repeated logins', async () => {
    const place = await makePushPlace();
    place.sandbox.addFault({ call: CALL, fault: '401' });
    place.drop('route_plans', 'a.json', plans(40));
    expect((await place.run(JOB)).error).toMatchObject({ code: 'unauthorised' });
    const { requests, logins, renewals } = place.sandbox.ledger();
    expect(requests[CALL]).toBeLessThanOrEqual(8);
    // The first one, and one for each rejected token.
    expect(logins + renewals).toBeLessThanOrEqual(9);
  });
});

describe('a late answer', () => {
  it.each([200, 400])('of %i does not change an entry that has changed meanwhile', async (status) => {
    const place = await makePushPlace({
      answering: async ({ pathname }, _original, { method }) => {
        if (method !== 'POST' || !pathname.startsWith('/import/')) return undefined;
        await place.engine.write(({ sql }) =>
          sql('push_outbox').update({ state: 'unknown', unknown_since: place.now() }).increment('revision'),
        );
        return { status, body: { route_points: 2 } };
      },
    });
    place.drop('route_plans', 'a.json', plan('P1'));
    expect(await place.run(JOB)).toMatchObject({ sent: 1, confirmed: 0, rejected: 0, unknown: 1 });
    expect(await place.entry('P1')).toMatchObject({ state: 'unknown' });
  });
});
