// Answers that say that nothing was done, and may come from something in between after it was: the next thing is
// a search, and only then a send. The look before a first send is off, so nothing else can catch it.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { HOUR_MS } from '../support/push-faults.ts';
import { makePushPlace } from '../support/push-place.ts';
import { plan, plans } from '../support/push-samples.ts';

const JOB = 'push-route-plans';
const BLINDLY = { check_before_send: false };
const CALL = 'import-route-plan';

describe('a send that is turned away', () => {
  it.each(['401', '429'] as const)('by %s after the commit is found, and not sent again', async (fault) => {
    const place = await makePushPlace();
    place.sandbox.addFault({ call: CALL, fault, after_commit: true, times: 1 });
    place.drop('route_plans', 'a.json', plan('P1'));
    expect(await place.run(JOB, BLINDLY)).toMatchObject({ sent: 1, confirmed: 1, unknown: 0 });
    expect(place.sandbox.ledger().plans).toEqual({ P1: 1 });
  });

  it.each(['401', '429', 'expired-token'] as const)(
    'by %s before it is sent again in the same run, after one search',
    async (fault) => {
      const place = await makePushPlace();
      place.sandbox.addFault({ call: CALL, fault, times: 1 });
      place.drop('route_plans', 'a.json', plan('P1'));
      expect(await place.run(JOB, BLINDLY)).toMatchObject({ status: 'ok', sent: 2, confirmed: 1 });
      expect((await place.story('P1')).map(({ outcome }) => outcome)).toEqual(['turned-away', 'accepted']);
      // By period and by code before the second send, and for its identifier after it.
      expect(place.sandbox.ledger().requests['route-plans']).toBe(3);
      expect(place.sandbox.ledger().plans).toEqual({ P1: 1 });
    },
  );

  it('does not have the others searched for again', async () => {
    const place = await makePushPlace();
    place.parts.concurrency = 1;
    const april = {
      date_time_start: '2025-04-13T08:00:00-03:00',
      date_time_end: '2025-04-13T18:00:00-03:00',
    };
    place.sandbox.addFault({ call: CALL, fault: '401', times: 1 });
    place.drop('route_plans', 'a.json', [plan('P1'), plan('P2', april)]);
    expect(await place.run(JOB)).toMatchObject({ sent: 3, confirmed: 2 });
    // Two periods before the sends and two after them; and P1 by its period and by its code before it is sent again.
    expect(place.sandbox.ledger().requests['route-plans']).toBe(6);
  });

  it.each(['400', '403', '409', '429'] as const)(
    'by %s after the commit, at every send, is never sent twice',
    async (fault) => {
      const place = await makePushPlace();
      place.sandbox.addFault({ call: CALL, fault, after_commit: true });
      place.drop('route_plans', 'a.json', [plan('P1'), plan('P2'), plan('P3')]);
      for (let runs = 0; runs < 4; runs++) {
        await place.run(JOB, BLINDLY);
        await place.clock.advance(HOUR_MS);
      }
      expect(Object.values(place.sandbox.ledger().plans).every((count) => count === 1)).toBe(true);
      expect((await place.outbox()).map(({ state }) => state)).toEqual(Array(3).fill('confirmed'));
    },
  );

  it('is parked where no search can tell', async () => {
    const place = await makePushPlace();
    place.sandbox.addFault({ call: CALL, fault: '429', after_commit: true, times: 1 });
    place.sandbox.addFault({ call: 'route-plans', fault: 'no-records' });
    place.drop('route_plans', 'a.json', plan('P1'));
    for (let runs = 0; runs < 4; runs++) {
      await place.run(JOB, BLINDLY);
      await place.clock.advance(HOUR_MS);
    }
    expect((await place.outbox())[0]).toMatchObject({ state: 'unknown', attempts: 1 });
    expect(place.sandbox.ledger().plans).toEqual({ P1: 1 });
  });

  it('by every token ends the run after a second try, and does not log in again and again', async () => {
    const place = await makePushPlace();
    place.sandbox.addFault({ call: CALL, fault: '401' });
    place.drop('route_plans', 'a.json', plans(40));
    expect((await place.run(JOB, BLINDLY)).error).toMatchObject({ code: 'unauthorised' });
    const { requests, logins, renewals } = place.sandbox.ledger();
    expect(requests[CALL]).toBeLessThanOrEqual(8);
    // The first one, and one for each token that was refused.
    expect(logins + renewals).toBeLessThanOrEqual(9);
  });
});

describe('a process that was stalled', () => {
  it.each(['hang', '400'] as const)('overwrites nothing of the next owner of an entry: %s', async (fault) => {
    const place = await makePushPlace();
    const latency = { call: CALL, fault: 'latency', ms: 300, after_commit: true } as const;
    place.sandbox.addFault(fault === 'hang' ? { call: CALL, fault } : latency);
    if (fault !== 'hang') place.sandbox.addFault({ call: CALL, fault });
    place.drop('route_plans', 'a.json', plan('P1'));
    const stop = new AbortController();
    const run = place.run(JOB, {}, stop.signal);
    while ((await place.outbox())[0]?.state !== 'sending') await nextTurn();
    await place.engine.write(({ sql }) => sql('push_outbox').update({ owner_run_id: 'another' }));
    if (fault === 'hang') stop.abort();
    expect(await run).toMatchObject({ rejected: 0 });
    expect((await place.outbox())[0]).toMatchObject({ state: 'sending', owner_run_id: 'another' });
  });

  it('does not confirm what its next owner is sending, when its own send is answered at last', async () => {
    const place = await makePushPlace({
      answering: async (_url, _original, { body }) => {
        if (body.includes('"P1"'))
          await place.engine.write(({ sql }) => sql('push_outbox').update({ owner_run_id: 'another' }));
        return undefined;
      },
    });
    place.drop('route_plans', 'a.json', plan('P1'));
    const { confirmed } = await place.run(JOB, BLINDLY);
    expect(place.sandbox.ledger().plans).toEqual({ P1: 1 });
    expect(await place.outbox()).toMatchObject([{ state: 'sending', owner_run_id: 'another' }]);
    expect(confirmed).toBe(0);
  });
});
