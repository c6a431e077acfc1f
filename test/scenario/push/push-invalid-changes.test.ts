// Items that the ERP offers several times, unreadably or against the rules: each is rejected and acknowledged, holds up
// nothing else, and is accepted as soon as it is valid. If the service may have it, it needs a person until corrected.
import { expect, it } from 'vitest';
import { makePushPlace, type PushPlace } from '../../support/push/push-place.ts';
import { agent, CPFS, plan } from '../../support/push/push-samples.ts';

const JOB = 'push-route-plans';
const MINUTE = 60_000;

const INVALID: [string, unknown, string, string][] = [
  ['breaks the rules', plan('P1', { vehicle_plate: 'bad', date_time_end: 'later' }), 'invalid_change', 'date_time_end'],
  ['cannot be read', [plan('P1'), plan('P1')], 'read_error', 'already read'],
];

/** P1 was sent without an answer, and arrived or did not; P0 is at the service. */
async function unknownPlan(fault: 'reset-before-commit' | 'reset-after-commit'): Promise<PushPlace> {
  const place = await makePushPlace();
  place.drop('route_plans', '0.json', plan('P0'));
  await place.runs(JOB, 2);
  place.sandbox.addFault({ call: 'import-route-plan', fault, times: 1 });
  place.sandbox.addFault({ call: 'route-plans', fault: '422', skip: 1 });
  place.drop('route_plans', 'a.json', plan('P1'));
  await place.runs(JOB, 1);
  expect(await place.entry('P1')).toMatchObject({ state: 'unknown' });
  return place;
}

const bothOnce = { P0: 1, P1: 1 };

it('accepts the other files when one offers a code three times', async () => {
  const place = await makePushPlace();
  place.drop('route_plans', 'a.json', [plan('P1'), plan('P1'), plan('P1'), plan('P2')]);
  place.drop('route_plans', 'b.json', plan('P3'));
  expect(await place.run(JOB)).toMatchObject({ status: 'partial', confirmed: 2 });
  expect(place.sandbox.ledger().plans).toEqual({ P2: 1, P3: 1 });
  expect(await place.entry('P1')).toMatchObject({ state: 'rejected', told_at: place.now() });
});

it('rejects an agent whose tax number is its code in two spellings, and accepts the others', async () => {
  const place = await makePushPlace();
  const [cpf, other] = CPFS;
  const spelled = cpf.replace(/(...)(...)(...)(..)/, '$1.$2.$3-$4');
  place.drop('agents', 'a.json', [
    agent(cpf, { external_code: cpf }),
    agent(cpf, { external_code: spelled }),
    agent(other, { external_code: 'A0' }),
  ]);
  await place.run('push-agents');
  expect(place.sandbox.ledger().agents).toEqual({ [other]: 1 });
  const rejected = (await place.outbox()).find(({ external_code }) => external_code !== 'A0');
  expect(rejected).toMatchObject({
    state: 'rejected',
    reasons: expect.stringContaining('different spellings'),
  });
});

it('accepts an item again that could not be read once, with the same content', async () => {
  const place = await makePushPlace();
  place.sandbox.addFault({ call: 'route-plans', fault: '503' });
  for (const [state, content] of [
    ['ready', plan('P1')],
    ['rejected', [plan('P1'), plan('P1')]],
    ['confirmed', plan('P1')],
  ] as const) {
    if (state === 'confirmed') place.sandbox.clearFaults();
    place.drop('route_plans', `${state}.json`, content);
    await place.runs(JOB, 1);
    expect(await place.entry('P1')).toMatchObject({ state });
  }
});

it.each(INVALID)(
  'does not send an unknown, absent plan when the newer offer of the ERP %s',
  async (_, newer, attention, why) => {
    const place = await unknownPlan('reset-before-commit');
    place.drop('route_plans', 'b.json', newer);
    await place.runs(JOB, 1);
    expect(await place.entry('P1')).toMatchObject({
      state: 'unknown',
      attention,
      reasons: expect.stringContaining(why),
      // Its first file waits for it.
      told_at: null,
    });
    place.sandbox.clearFaults();
    await place.runs(JOB, 1);
    expect(await place.run(JOB)).toMatchObject({ status: 'partial', sent: 0, rejected: 1 });
    expect(await place.entry('P1')).toMatchObject({
      state: 'rejected',
      attention: null,
      reasons: expect.stringContaining(why),
    });
    place.drop('route_plans', 'c.json', plan('P1'));
    await place.runs(JOB, 1);
    expect(place.sandbox.ledger().plans).toEqual(bothOnce);
    expect(await place.entry('P1')).toMatchObject({ state: 'confirmed', reasons: null });
  },
);

it.each(INVALID)(
  'reports a found plan in every run while the newer offer of the ERP %s, until it is corrected',
  async (_, newer, attention, why) => {
    const place = await unknownPlan('reset-after-commit');
    place.drop('route_plans', 'b.json', newer);
    await place.runs(JOB, 1);
    place.sandbox.clearFaults();
    for (let runs = 0; runs < 2; runs++) {
      expect(await place.run(JOB)).toMatchObject({ status: 'partial', error: { code: attention } });
      expect(await place.entry('P1')).toMatchObject({
        state: 'confirmed',
        attention,
        reasons: expect.stringContaining(why),
      });
      await place.clock.advance(15 * MINUTE);
    }
    place.drop('route_plans', 'c.json', plan('P1'));
    expect(await place.run(JOB)).toMatchObject({ status: 'ok' });
    expect(await place.entry('P1')).toMatchObject({ attention: null, reasons: null, message: null });
    expect(place.sandbox.ledger().plans).toEqual(bothOnce);
  },
);

it.each([
  ['the same', {}],
  ['another', { date_time_end: '2025-03-13T19:00:00-03:00' }],
])('sends an unknown, absent plan when the ERP offers %s valid content after an invalid one', async (_, change) => {
  const place = await unknownPlan('reset-before-commit');
  place.sandbox.clearFaults();
  place.drop('route_plans', 'b.json', plan('P1', { date_time_end: 'later' }));
  await place.run(JOB);
  place.drop('route_plans', 'c.json', plan('P1', change));
  await place.run(JOB);
  expect(await place.entry('P1')).toMatchObject({ state: 'unknown', attention: null, reasons: null });
  await place.clock.advance(5 * MINUTE);
  // Another period is read back separately before the plan is sent.
  await place.runs(JOB, 2);
  expect(place.sandbox.ledger().plans).toEqual(bothOnce);
  expect(await place.entry('P1')).toMatchObject({ state: 'confirmed' });
});
