// Several sends at once: when the others are left alone, and that a run does not end before the last one has.
import { describe, expect, it } from 'vitest';
import { makePushPlace, type PushPlace } from '../support/push-place.ts';
import { plans } from '../support/push-samples.ts';

const JOB = 'push-route-plans';
const CALL = 'import-route-plan' as const;

describe('the lanes of a push', () => {
  it.each([
    // Twice as many in a row as there are lanes, and one more; the others may have one under way. Two rounds.
    [1, 6, 6],
    [3, 14, 18],
  ])('of %i leave a service alone that turns everything away', async (concurrency, fewest, most) => {
    const place = await makePushPlace();
    place.parts.concurrency = concurrency;
    place.sandbox.addFault({ call: CALL, fault: '429' });
    place.drop('route_plans', 'a.json', plans(40));
    const { sent, error } = await place.run(JOB);
    expect(error).toMatchObject({ code: 'throttled' });
    expect(sent).toBeGreaterThanOrEqual(fewest);
    expect(sent).toBeLessThanOrEqual(most);
    expect(place.sandbox.ledger().requests[CALL]).toBe(sent);
  });

  it('leave a service alone that lets nobody log in', async () => {
    const place = await makePushPlace();
    place.parts.concurrency = 2;
    place.sandbox.addFault({ call: 'login', fault: '503' });
    place.drop('route_plans', 'a.json', plans(40));
    expect(await place.run(JOB, { check_before_send: false })).toMatchObject({ status: 'partial', sent: 0 });
    const tried = (await place.outbox()).filter(({ attempts }) => attempts > 0);
    // Four in a row are borne with, and the other lane may have one under way.
    expect(tried.length).toBeLessThanOrEqual(6);
    expect(tried.length).toBeGreaterThan(0);
  });

  it('go on where only some are turned away', async () => {
    const turned = new Set<string>();
    const place = await makePushPlace({
      answering: ({ pathname }, _original, { method, body }) => {
        if (method !== 'POST' || !pathname.startsWith('/import/')) return undefined;
        const code = /"P\d*[13579]"/.exec(body)?.[0];
        if (code === undefined || turned.has(code)) return undefined;
        turned.add(code);
        return { status: 429, body: {} };
      },
    });
    place.parts.concurrency = 1;
    place.drop('route_plans', 'a.json', plans(20));
    expect(await place.run(JOB)).toMatchObject({ status: 'ok', sent: 30, confirmed: 20 });
    // Each is held against its own content.
    expect((await place.outbox()).filter(({ changed_after_push }) => changed_after_push)).toEqual([]);
  });

  it('end where one cannot store what it was answered, and the next run finds that one', async () => {
    const place = await makePushPlace();
    place.parts.concurrency = 2;
    place.drop('route_plans', 'a.json', plans(30));
    await jamOutcome(place, 'P00');
    const { status, sent, error } = await place.run(JOB);
    expect(status).toBe('failed');
    expect(error?.message).toContain('no room for it');
    expect(sent).toBeLessThan(30);
    const stored = (await place.outbox()).filter(({ state }) => state !== 'ready');
    expect(stored.filter(({ state }) => state === 'sending')).toMatchObject([{ external_code: 'P00' }]);
    expect(Object.keys(place.sandbox.ledger().plans).sort()).toEqual(
      stored.map(({ external_code }) => external_code),
    );
    await place.engine.write(({ sql }) => sql.raw('drop trigger jam'));
    expect(await place.run(JOB)).toMatchObject({ status: 'ok' });
    const { plans: there } = place.sandbox.ledger();
    expect([Object.keys(there).length, ...new Set(Object.values(there))]).toEqual([30, 1]);
  });

  it('tell in a run that failed what it left unknown', async () => {
    const place = await makePushPlace();
    place.parts.concurrency = 1;
    place.sandbox.addFault({ call: CALL, fault: 'reset-after-commit', times: 1 });
    place.drop('route_plans', 'a.json', plans(2));
    await jamOutcome(place, 'P01');
    expect(await place.run(JOB)).toMatchObject({ status: 'failed', sent: 2, unknown: 1 });
  });
});

/** No outcome of this entry can be stored. */
const jamOutcome = ({ engine }: PushPlace, code: string): Promise<unknown> =>
  engine.write(({ sql }) =>
    sql.raw(`create trigger jam before update of outcome on push_attempt when new.external_code = '${code}'
      begin select raise(abort, 'no room for it'); end`),
  );
