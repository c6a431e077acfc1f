// Entries that may be at the service although the first answer did not show it: none is sent twice, none is lost.
import { expect, it } from 'vitest';
import { act, cancel, retry } from '../../../src/sync/push/actions.ts';
import { isChangedAfterPush } from '../../../src/warehouse/outbox/entry.ts';
import { makePushPlace } from '../../support/push/push-place.ts';
import { plan, pointOfInterest } from '../../support/push/push-samples.ts';

const JOB = 'push-route-plans';
const CALL = 'import-route-plan' as const;
const MINUTE = 60_000;
const later = { date_time_end: '2025-03-13T19:00:00-03:00' };
const on = (day: string) => ({
  date_time_start: `2025-${day}T08:00:00-03:00`,
  date_time_end: `2025-${day}T18:00:00-03:00`,
});

it.each([
  ['changed content', later],
  ['the same content', {}],
])(
  'sends %s of an entry cancelled while unknown only after a read-back, and only if it is absent',
  async (_, change) => {
    const place = await makePushPlace({ sandbox: { importVisibleAfterMs: MINUTE } });
    place.sandbox.addFault({ call: CALL, fault: 'reset-after-commit', times: 1 });
    place.drop('route_plans', 'a.json', plan('P1'));
    await place.run(JOB);
    const { engine } = place;
    await act(engine, await place.entry('P1'), cancel({ isForced: true }), place.now());
    await act(engine, await place.entry('P1'), retry, place.now());
    place.drop('route_plans', 'b.json', plan('P1', change));
    expect(await place.run(JOB)).toMatchObject({ sent: 0, unknown: 1 });
    await place.clock.advance(MINUTE);
    await place.runs(JOB, 2);
    expect(place.sandbox.ledger().plans).toEqual({ P1: 1 });
    expect(await place.entry('P1')).toMatchObject({ state: 'confirmed' });
  },
);

it('finds a point that was turned away after it was created, and changes it once its content is valid', async () => {
  const place = await makePushPlace();
  const job = 'push-points-of-interest';
  const shop = pointOfInterest('Shop', { external_code: 'C1' });
  place.sandbox.addFault({ call: 'create-point-of-interest', fault: '403', after_commit: true, times: 1 });
  place.drop('points_of_interest', 'a.json', [shop]);
  await place.run(job);
  place.drop('points_of_interest', 'b.json', [{ ...shop, latitude: 500 }]);
  await place.runs(job, 2);
  expect(await place.entry('C1')).toMatchObject({
    state: 'rejected',
    reasons: expect.stringContaining('latitude'),
  });
  place.drop('points_of_interest', 'c.json', [{ ...shop, latitude: -23.6 }]);
  await place.runs(job, 1);
  expect(place.sandbox.ledger().points_of_interest).toEqual({ Shop: 1 });
  expect(place.sandbox.ledger().requests['change-point-of-interest']).toBe(1);
  expect(await place.entry('C1')).toMatchObject({ state: 'confirmed', message: null });
});

it.each([0, MINUTE])(
  'confirms an entry that a status rejected after it was created, when a listing shows it %i ms later',
  async (lateMs) => {
    const place = await makePushPlace({ sandbox: { importVisibleAfterMs: lateMs } });
    place.sandbox.addFault({ call: CALL, fault: '409', after_commit: true, times: 1 });
    place.drop('route_plans', 'a.json', plan('P1'));
    await place.run(JOB);
    await place.clock.advance(lateMs);
    await place.run(JOB);
    expect(place.sandbox.ledger().plans).toEqual({ P1: 1 });
    expect(await place.entry('P1')).toMatchObject({ state: 'confirmed', attempts: 1 });
  },
);

it('rejects a code that comes again for another day while it is unknown, and finds the first plan', async () => {
  const place = await makePushPlace();
  place.sandbox.addFault({ call: CALL, fault: 'reset-after-commit', times: 1 });
  place.sandbox.addFault({ call: 'route-plans', fault: '422', skip: 1, times: 2 });
  place.drop('route_plans', 'a.json', plan('P1', on('03-13')));
  await place.run(JOB);
  place.drop('route_plans', 'b.json', plan('P1', on('03-15')));
  await place.runs(JOB, 2);
  expect(await place.run(JOB)).toMatchObject({ status: 'partial', error: { code: 'code_reused' } });
  const [first, second] = await place.outbox();
  expect(first).toMatchObject({ code_use: 1, state: 'confirmed' });
  expect(first && isChangedAfterPush(first)).toBe(false);
  expect(second).toMatchObject({ code_use: 2, state: 'rejected', attention: 'code_reused' });
  expect(place.sandbox.ledger().plans).toEqual({ P1: 1 });
});

it('sends one plan of a code that came for another day before the first was found absent', async () => {
  const place = await makePushPlace();
  place.sandbox.addFault({ call: CALL, fault: 'reset-before-commit', times: 1 });
  place.drop('route_plans', 'a.json', plan('P1', on('03-13')));
  await place.run(JOB);
  const moved = plan('P1', on('03-15'));
  place.drop('route_plans', 'b.json', moved);
  // The first plan is found absent, and turned away when it is sent again.
  place.sandbox.addFault({ call: CALL, fault: '403', times: 2 });
  await place.runs(JOB, 2);
  expect(await place.outbox()).toMatchObject([{ state: 'ready' }, { state: 'rejected', attention: 'code_reused' }]);
  for (const name of ['c', 'd', 'e']) {
    place.drop('route_plans', `${name}.json`, moved);
    await place.runs(JOB, 2);
  }
  expect(place.sandbox.ledger().plans).toEqual({ P1: 1 });
  expect(await place.outbox()).toMatchObject([
    { state: 'confirmed', period_start: '2025-03-15T11:00:00.000Z' },
    { state: 'rejected' },
  ]);
});

it('rejects a date-time that names no instant, because no listing could show the plan by it', async () => {
  const place = await makePushPlace();
  place.drop('route_plans', 'a.json', plan('P1', { date_time_end: '2025-03-13T23:59:60-03:00' }));
  await place.run(JOB);
  expect(await place.entry('P1')).toMatchObject({
    state: 'rejected',
    reasons: expect.stringContaining('date_time_end'),
  });
});
