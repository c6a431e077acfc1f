// What the ERP gives several times, unreadably or against the rules: it is refused and told, nothing else waits for it, and
// it is taken as soon as it can be.
import { describe, expect, it } from 'vitest';
import { vouchAbsent } from '../../src/sync/push/outbox-orders.ts';
import { makePushPlace, type PushPlace } from '../support/push-place.ts';
import { agent, CPFS, plan, pointOfInterest } from '../support/push-samples.ts';

const JOB = 'push-route-plans';
const MINUTE = 60_000;

/** P1 was sent without an answer, as often as told, and has not arrived; P0 has. */
async function unknownAndAbsent(times = 1): Promise<PushPlace> {
  const place = await makePushPlace();
  place.drop('route_plans', '0.json', plan('P0'));
  await place.runs(JOB, 2);
  place.sandbox.addFault({ call: 'import-route-plan', fault: 'reset-before-commit', times });
  place.drop('route_plans', 'a.json', plan('P1'));
  await place.run(JOB);
  return place;
}

it('takes the other files where one gives a code three times', async () => {
  const place = await makePushPlace();
  place.drop('route_plans', 'a.json', [plan('P1'), plan('P1'), plan('P1'), plan('P2')]);
  place.drop('route_plans', 'b.json', plan('P3'));
  await place.run(JOB);
  expect(place.sandbox.ledger().plans).toEqual({ P2: 1, P3: 1 });
  expect(await place.entry('P1')).toMatchObject({
    state: 'rejected',
    message: expect.stringContaining('read'),
  });
});

it('takes the other files where the rows of the plans of one are mixed', async () => {
  const place = await makePushPlace();
  const head =
    'plan.external_code;plan.date_time_start;plan.date_time_end;point.name;point.latitude;point.longitude';
  const row = (code: string, n: number): string =>
    `${code};2025-03-13T08:00:00-03:00;2025-03-13T18:00:00-03:00;N${n};-23.5;-46.${n}`;
  const rows = [1, 2, 3].flatMap((n) => [row('P1', n), row('P2', n)]);
  place.drop('route_plans', 'a.csv', [head, ...rows].join('\n'));
  place.drop('route_plans', 'b.json', plan('P3'));
  await place.run(JOB);
  expect(place.sandbox.ledger().plans).toEqual({ P3: 1 });
  for (const code of ['P1', 'P2'])
    expect(await place.entry(code)).toMatchObject({
      state: 'rejected',
      reasons: expect.stringContaining('keep the rows of a plan together'),
    });
});

it('refuses an agent whose CPF is its code in two spellings, and takes the others', async () => {
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
  const refused = (await place.outbox()).find(({ external_code }) => external_code !== 'A0');
  expect(refused).toMatchObject({ state: 'rejected', reasons: expect.stringContaining('another spelling') });
});

it('takes again what could not be read once, with the same content', async () => {
  const place = await makePushPlace();
  place.sandbox.addFault({ call: 'route-plans', fault: '503' });
  place.drop('route_plans', 'a.json', plan('P1'));
  await place.run(JOB);
  expect(await place.entry('P1')).toMatchObject({ state: 'ready' });
  place.drop('route_plans', 'b.json', [plan('P1'), plan('P1')]);
  await place.run(JOB);
  expect(await place.entry('P1')).toMatchObject({ state: 'rejected' });
  place.sandbox.clearFaults();
  await place.clock.advance(5 * MINUTE);
  place.drop('route_plans', 'c.json', plan('P1'));
  await place.run(JOB);
  expect(await place.entry('P1')).toMatchObject({ state: 'confirmed' });
});

it.each([
  ['breaks the rules', plan('P1', { vehicle_plate: 'bad', date_time_end: 'later' }), 'date_time_end'],
  ['cannot be read', [plan('P1'), plan('P1')], 'read before'],
])(
  'sends nothing of what is unknown and not there, where what the ERP gave since %s',
  async (_, newer, why) => {
    const place = await unknownAndAbsent();
    await place.clock.advance(1_000);
    place.drop('route_plans', 'b.json', newer);
    await place.run(JOB);
    expect(await place.entry('P1')).toMatchObject({
      state: 'unknown',
      reasons: expect.stringContaining('not taken: '),
    });
    await place.clock.advance(5 * MINUTE);
    expect(await place.run(JOB)).toMatchObject({ sent: 0, rejected: 1 });
    const refused = await place.entry('P1');
    expect(refused).toMatchObject({
      state: 'rejected',
      reasons: expect.stringContaining(why),
      payload: null,
    });
    expect(refused.reasons).not.toContain('not taken');
    place.drop('route_plans', 'c.json', plan('P1'));
    await place.runs(JOB, 1);
    expect(place.sandbox.ledger().plans).toEqual({ P0: 1, P1: 1 });
    expect(await place.entry('P1')).toMatchObject({ state: 'confirmed', reasons: null });
  },
);

it.each([
  ['breaks the rules', plan('P1', { vehicle_plate: 'bad', date_time_end: 'later' })],
  ['cannot be read', [plan('P1'), plan('P1')]],
])('keeps saying of what is found that what the ERP gave since %s, until it is back', async (_, newer) => {
  const place = await makePushPlace();
  place.drop('route_plans', '0.json', plan('P0'));
  await place.runs(JOB, 2);
  place.sandbox.addFault({ call: 'import-route-plan', fault: 'reset-after-commit', times: 1 });
  place.sandbox.addFault({ call: 'route-plans', fault: '422', skip: 1, times: 3 });
  place.drop('route_plans', 'a.json', plan('P1'));
  await place.run(JOB);
  await place.clock.advance(MINUTE);
  place.drop('route_plans', 'b.json', newer);
  await place.run(JOB);
  expect(await place.entry('P1')).toMatchObject({ state: 'unknown' });
  place.sandbox.clearFaults();
  await place.clock.advance(5 * MINUTE);
  await place.run(JOB);
  expect(await place.entry('P1')).toMatchObject({
    state: 'confirmed',
    message: expect.stringContaining('breaks the rules'),
    reasons: expect.stringContaining('not taken: '),
  });
  place.drop('route_plans', 'c.json', plan('P1'));
  await place.run(JOB);
  expect(await place.entry('P1')).toMatchObject({ state: 'confirmed', reasons: null, message: null });
});

describe('a plan that was found, where what the ERP gave before broke the rules', () => {
  const later = { date_time_end: '2025-03-13T19:00:00-03:00' };
  const broken = { date_time_end: 'later' };

  async function found(...given: Record<string, unknown>[]) {
    const place = await makePushPlace();
    place.drop('route_plans', '0.json', plan('P0'));
    await place.runs(JOB, 2);
    place.sandbox.addFault({ call: 'import-route-plan', fault: 'reset-after-commit', times: 1 });
    place.sandbox.addFault({ call: 'route-plans', fault: '422', skip: 1, times: 9 });
    for (const [index, change] of [{}, ...given].entries()) {
      place.drop('route_plans', `a${index}.json`, plan('P1', change));
      await place.run(JOB);
    }
    place.sandbox.clearFaults();
    await place.clock.advance(5 * MINUTE);
    await place.run(JOB);
    expect(await place.entry('P1')).toMatchObject({ state: 'confirmed', reasons: expect.any(String) });
    return place;
  }

  it.each([
    ['still breaks them', [broken], broken],
    ['is another one', [broken], later],
    ['is the one that came before', [later, broken], later],
  ])('stays flagged while what the ERP gives %s', async (_, given, change) => {
    const place = await found(...given);
    for (const name of ['c.json', 'd.json']) {
      place.drop('route_plans', name, plan('P1', change));
      await place.run(JOB);
      expect(await place.entry('P1')).toMatchObject({ changed_after_push: 1, reasons: null });
      await place.clock.advance(MINUTE);
    }
  });
});

it('says that the service has it twice, though what the ERP gave since breaks the rules', async () => {
  const place = await makePushPlace();
  const options = { check_before_send: false };
  place.drop('route_plans', '0.json', [plan('P0'), plan('P1')]);
  await place.runs(JOB, 2);
  await place.engine.write(({ sql }) => sql('push_outbox').where({ external_code: 'P1' }).delete());
  place.sandbox.addFault({ call: 'import-route-plan', fault: 'reset-after-commit', times: 1 });
  place.sandbox.addFault({ call: 'route-plans', fault: '422', times: 3 });
  place.drop('route_plans', 'a.json', plan('P1'));
  await place.run(JOB, options);
  await place.clock.advance(MINUTE);
  place.drop('route_plans', 'b.json', plan('P1', { date_time_end: 'later' }));
  await place.run(JOB, options);
  place.sandbox.clearFaults();
  await place.clock.advance(5 * MINUTE);
  await place.run(JOB, options);
  expect(await place.entry('P1')).toMatchObject({ message: expect.stringContaining('2 times') });
});

it('says no more that something was not taken, once a content can be taken', async () => {
  const place = await unknownAndAbsent();
  place.drop('route_plans', 'b.json', plan('P1', { date_time_end: 'later' }));
  await place.run(JOB);
  await place.clock.advance(1_000);
  place.drop('route_plans', 'c.json', plan('P1', { date_time_end: '2025-03-13T19:00:00-03:00' }));
  await place.run(JOB);
  expect(await place.entry('P1')).toMatchObject({ state: 'unknown', reasons: null, told_at: place.now() });
  await place.clock.advance(5 * MINUTE);
  await place.runs(JOB, 2);
  expect(place.sandbox.ledger().plans).toEqual({ P0: 1, P1: 1 });
});

it('does not withdraw what the ERP gave again after a person vouched for it', async () => {
  const place = await unknownAndAbsent(2);
  place.drop('route_plans', 'b.json', plan('P1', { date_time_end: 'later' }));
  await place.run(JOB);
  await place.clock.advance(1_000);
  await vouchAbsent(place.engine, await place.entry('P1'), place.now());
  await place.clock.advance(1_000);
  place.drop('route_plans', 'c.json', plan('P1'));
  await place.runs(JOB, 4);
  expect(place.sandbox.ledger().plans).toEqual({ P0: 1, P1: 1 });
});

it('tells once of a row that cannot be read in any run', async () => {
  const place = await unknownAndAbsent();
  place.sandbox.addFault({ call: 'route-plans', fault: '503' });
  place.drop('route_plans', 'b.json', [plan('P1'), plan('P1')]);
  await place.run(JOB);
  const { revision, told_at } = await place.entry('P1');
  expect(told_at).not.toBeNull();
  await place.clock.advance(MINUTE);
  place.drop('route_plans', 'c.json', [plan('P1'), plan('P1')]);
  await place.run(JOB);
  const after = await place.entry('P1');
  // The origin of the second file is another one, so its reason is; the third is the same as the second.
  place.drop('route_plans', 'c.json', [plan('P1'), plan('P1')]);
  await place.run(JOB);
  expect((await place.entry('P1')).revision).toBe(after.revision);
  expect(after.revision).toBeGreaterThan(revision);
});

it('sends what is unknown and not there, where the ERP is back at it', async () => {
  const place = await unknownAndAbsent();
  place.drop('route_plans', 'b.json', [plan('P1'), plan('P1')]);
  await place.run(JOB);
  place.drop('route_plans', 'c.json', plan('P1'));
  await place.runs(JOB, 3);
  expect(place.sandbox.ledger().plans).toEqual({ P0: 1, P1: 1 });
});

it('tells no more what broke the rules, once the ERP is back at what is found after a refusal', async () => {
  const place = await makePushPlace();
  place.sandbox.addFault({ call: 'import-route-plan', fault: '403', after_commit: true, times: 1 });
  place.drop('route_plans', 'a.json', plan('P1'));
  await place.run(JOB);
  await place.clock.advance(1_000);
  place.drop('route_plans', 'b.json', plan('P1', { vehicle_plate: 'bad', date_time_end: 'later' }));
  await place.runs(JOB, 3);
  expect(await place.entry('P1')).toMatchObject({
    state: 'confirmed',
    reasons: expect.stringContaining('not taken: '),
  });
  place.drop('route_plans', 'c.json', plan('P1'));
  await place.runs(JOB, 2);
  expect(await place.entry('P1')).toMatchObject({ state: 'confirmed', message: null, reasons: null });
});

it('says of a point that what the ERP gives breaks the rules, also where it gave that before', async () => {
  const place = await makePushPlace();
  const shop = pointOfInterest('Shop', { external_code: 'C1' });
  place.sandbox.addFault({ call: 'create-point-of-interest', fault: '403', after_commit: true, times: 1 });
  place.drop('points_of_interest', 'a.json', [shop]);
  await place.run('push-points-of-interest');
  for (const [n, latitude] of [500, 600, 500].entries()) {
    await place.clock.advance(1_000);
    place.drop('points_of_interest', `b${n}.json`, [{ ...shop, latitude }]);
    await place.runs('push-points-of-interest', 3);
    expect(await place.entry('C1')).toMatchObject({
      state: 'confirmed',
      message: expect.stringContaining('breaks the rules'),
      reasons: expect.stringContaining('not taken: '),
    });
  }
});
