// Several sends at once: when the run stops sending, and that it does not end before the last send has.
import { expect, it } from 'vitest';
import { isChangedAfterPush } from '../../../src/warehouse/outbox/entry.ts';
import { makePushPlace } from '../../support/push/push-place.ts';
import { plans } from '../../support/push/push-samples.ts';

const JOB = 'push-route-plans';
const CALL = 'import-route-plan' as const;

it.each([
  // Twice as many in a row as there are slots, and one more; the others may have one in flight. Two rounds.
  [1, 6, 6],
  [3, 14, 18],
])('%i slots stop sending to a service that turns everything away', async (concurrency, fewest, most) => {
  const place = await makePushPlace();
  place.dependencies.concurrency = concurrency;
  place.sandbox.addFault({ call: CALL, fault: '429' });
  place.drop('route_plans', 'a.json', plans(100));
  const { sent, error } = await place.run(JOB);
  expect(error).toMatchObject({ code: 'throttled' });
  expect(sent).toBeGreaterThanOrEqual(fewest);
  expect(sent).toBeLessThanOrEqual(most);
  expect(place.sandbox.ledger().requests[CALL]).toBe(sent);
  expect(new Set((await place.outbox()).map(({ state }) => state))).toEqual(new Set(['ready']));
});

it('nothing is sent when the service accepts no login', async () => {
  const place = await makePushPlace();
  place.sandbox.addFault({ call: 'login', fault: '503' });
  place.drop('route_plans', 'a.json', plans(40));
  expect(await place.run(JOB)).toMatchObject({ status: 'partial', sent: 0 });
  expect((await place.outbox()).filter(({ attempts }) => attempts > 0)).toEqual([]);
});

it('the slots continue when only some plans are turned away', async () => {
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
  place.dependencies.concurrency = 1;
  place.drop('route_plans', 'a.json', plans(20));
  expect(await place.run(JOB)).toMatchObject({ status: 'ok', sent: 30, confirmed: 20 });
  expect((await place.outbox()).filter(isChangedAfterPush)).toEqual([]);
});

it('the slots end when outcomes cannot be stored, and the next runs find the plans that had arrived', async () => {
  const place = await makePushPlace();
  place.drop('route_plans', 'a.json', plans(70));
  await place.engine.write(({ sql }) =>
    sql.raw(`create trigger jam before insert on push_attempt when new.external_code = 'P00'
      begin select raise(abort, 'no room for it'); end`),
  );
  const { status, error } = await place.run(JOB);
  expect(status).toBe('failed');
  expect(error?.message).toContain('no room for it');
  const left = (await place.outbox()).filter(({ state }) => state !== 'ready');
  expect(left.find(({ external_code }) => external_code === 'P00')).toMatchObject({ state: 'sending' });
  expect(left.map(({ external_code }) => external_code)).toEqual(
    expect.arrayContaining(Object.keys(place.sandbox.ledger().plans)),
  );
  await place.engine.write(({ sql }) => sql.raw('drop trigger jam'));
  await place.runs(JOB, 3);
  expect(new Set((await place.outbox()).map(({ state }) => state))).toEqual(new Set(['confirmed']));
  expect(Object.values(place.sandbox.ledger().plans)).toEqual(Array(70).fill(1));
});

it('the outcomes of a batch are stored even if the next batch cannot be claimed', async () => {
  const place = await makePushPlace();
  place.drop('route_plans', 'a.json', plans(300));
  await place.engine.write(({ sql }) =>
    sql.raw(`create trigger jam before update on push_outbox when new.external_code = 'P99' and new.state = 'sending'
      begin select raise(abort, 'no room for it'); end`),
  );
  const { status, error } = await place.run(JOB);
  expect(status).toBe('failed');
  expect(error?.message).toContain('no room for it');
  const sent = Object.keys(place.sandbox.ledger().plans);
  const confirmed = (await place.outbox()).filter(({ state }) => state === 'confirmed');
  expect(sent).toHaveLength(256);
  expect(new Set(confirmed.map(({ external_code }) => external_code))).toEqual(new Set(sent));
});
