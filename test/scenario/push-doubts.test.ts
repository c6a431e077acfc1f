// Entries that may be at the service although nobody could say so at first: none is sent twice, none is lost.
import { describe, expect, it } from 'vitest';
import { runLeased } from '../../src/sync/leased-run.ts';
import { cancelEntry, retryEntry, vouchAbsent } from '../../src/sync/push/outbox-orders.ts';
import type { SyncParts } from '../../src/sync/sync-parts.ts';
import { createLeaseKeeper } from '../../src/warehouse/lease-keeper.ts';
import { makePushPlace, type PlaceOptions, type PushPlace } from '../support/push-place.ts';
import { agent, CPFS, plan, pointOfInterest } from '../support/push-samples.ts';
import { drive, failureOf } from './fleet-setup.ts';

const JOB = 'push-route-plans';
const CALL = 'import-route-plan' as const;
const MINUTE = 60_000;
const later = { date_time_end: '2025-03-13T19:00:00-03:00' };

it("believes an absence by the process's own clock over several leased runs", async () => {
  const place = await makePushPlace();
  const { engine, fleet, log } = place.parts;
  const { clock } = place;
  const parts: SyncParts = {
    ...place.parts,
    leases: createLeaseKeeper(engine, { clock, log }),
    fleet: { ...fleet, clockSkewMs: () => undefined },
  };
  const { default: job } = await import(`../../jobs/${JOB}.ts`);
  const request = { job: { ...job, name: JOB }, cause: 'manual' as const, options: job.options.parse({}) };
  const run = () => drive(clock, runLeased(request, parts));
  place.drop('route_plans', '0.json', plan('P0'));
  await run();
  await clock.advance(10 * MINUTE);
  place.sandbox.addFault({ call: CALL, fault: 'reset-before-commit', times: 1 });
  place.drop('route_plans', 'a.json', plan('P1'));
  for (let n = 0; n < 3; n++) {
    await run();
    await clock.advance(5 * MINUTE);
  }
  expect(place.sandbox.ledger().plans).toEqual({ P0: 1, P1: 1 });
});

it.each([
  ['changed content', later],
  ['the same content on order', {}],
])(
  'does not send %s of what was given up while unknown, before the service can have shown it',
  async (_, change) => {
    const place = await makePushPlace({ sandbox: { importVisibleAfterMs: MINUTE } });
    place.drop('route_plans', '0.json', plan('P0'));
    await place.runs(JOB, 2);
    place.sandbox.addFault({ call: CALL, fault: 'reset-after-commit', times: 1 });
    place.drop('route_plans', 'a.json', plan('P1'));
    await place.run(JOB);
    expect(await place.entry('P1')).toMatchObject({ state: 'unknown' });
    await cancelEntry(place.engine, await place.entry('P1'), place.now(), true);
    await retryEntry(place.engine, await place.entry('P1'), place.now());
    await place.clock.advance(1_000);
    place.drop('route_plans', 'b.json', plan('P1', change));
    await place.runs(JOB, 4);
    expect(place.sandbox.ledger().plans).toEqual({ P0: 1, P1: 1 });
    expect(await place.entry('P1')).toMatchObject({ state: 'confirmed' });
  },
);

it.each([
  ['breaks the rules', plan('P1', { vehicle_plate: 'bad', date_time_end: 'later' })],
  ['cannot be read', '[{"external_code": "P1"}, {"external_code": "P1", "date_time_start": "x"}]'],
])('finds what was turned away after it was done, though its content then %s', async (_, content) => {
  const place = await makePushPlace();
  place.sandbox.addFault({ call: CALL, fault: '403', after_commit: true, times: 1 });
  place.drop('route_plans', 'a.json', plan('P1'));
  await place.run(JOB);
  expect(await place.entry('P1')).toMatchObject({ state: 'ready', is_doubtful: 1 });
  await place.clock.advance(1_000);
  place.drop('route_plans', 'b.json', content);
  await place.runs(JOB, 3);
  expect(place.sandbox.ledger().plans).toEqual({ P1: 1 });
  expect(await place.entry('P1')).toMatchObject({ state: 'confirmed' });
});

it('finds a point whose content broke the rules after it was turned away, and changes it later', async () => {
  const place = await makePushPlace();
  const job = 'push-points-of-interest';
  const shop = pointOfInterest('Shop', { external_code: 'C1' });
  place.sandbox.addFault({ call: 'create-point-of-interest', fault: '403', after_commit: true, times: 1 });
  place.drop('points_of_interest', 'a.json', [shop]);
  await place.run(job);
  expect(await place.entry('C1')).toMatchObject({ state: 'ready', is_doubtful: 1 });
  place.drop('points_of_interest', 'b.json', [{ ...shop, latitude: 500 }]);
  await place.runs(job, 3);
  expect(await place.entry('C1')).toMatchObject({
    state: 'confirmed',
    message: expect.stringContaining('breaks the rules'),
    reasons: expect.stringContaining('latitude'),
    sent_hash: '',
  });
  place.drop('points_of_interest', 'c.json', [{ ...shop, latitude: -23.6 }]);
  await place.runs(job, 2);
  expect(place.sandbox.ledger().points_of_interest).toEqual({ Shop: 1 });
  expect(await place.entry('C1')).toMatchObject({ state: 'confirmed', message: null });
});

it('keeps looking for what was refused until a late service would have shown it', async () => {
  const place = await makePushPlace({ sandbox: { importVisibleAfterMs: MINUTE } });
  place.sandbox.addFault({ call: CALL, fault: '409', after_commit: true, times: 1 });
  place.drop('route_plans', 'a.json', plan('P1'));
  await place.run(JOB);
  const refused = await place.entry('P1');
  expect(refused).toMatchObject({ state: 'rejected', is_watched: 1 });
  const cancelling = cancelEntry(place.engine, refused, place.now(), false);
  expect(await failureOf(cancelling)).toMatchObject({ code: 'usage' });
  await place.clock.advance(5 * MINUTE);
  await place.run(JOB);
  expect(await place.entry('P1')).toMatchObject({ state: 'confirmed' });
});

it.each([
  ['the ERP corrects it', false],
  ['a person orders it', true],
])('sends nothing again where %s before a late service would have shown it', async (_, isOrdered) => {
  const place = await makePushPlace({ sandbox: { importVisibleAfterMs: MINUTE } });
  place.drop('route_plans', '0.json', plan('P0'));
  await place.runs(JOB, 2);
  place.sandbox.addFault({ call: CALL, fault: '409', after_commit: true, times: 1 });
  place.drop('route_plans', 'a.json', plan('P1'));
  await place.run(JOB);
  await place.clock.advance(1_000);
  if (isOrdered)
    expect(await retryEntry(place.engine, await place.entry('P1'), place.now())).toMatchObject({
      isUnknown: true,
    });
  else place.drop('route_plans', 'b.json', plan('P1', later));
  await place.clock.advance(1_000);
  await place.runs(JOB, 3);
  expect(place.sandbox.ledger().plans).toEqual({ P0: 1, P1: 1 });
  expect(await place.entry('P1')).toMatchObject({
    state: 'confirmed',
    changed_after_push: isOrdered ? 0 : 1,
  });
});

it.each([
  ['refused', false],
  ['to be sent again on order', true],
])('sends nothing again where one that is %s is given up and given again too early', async (_, isOrdered) => {
  const place = await makePushPlace({ sandbox: { importVisibleAfterMs: MINUTE } });
  place.drop('route_plans', '0.json', plan('P0'));
  await place.runs(JOB, 2);
  place.sandbox.addFault({ call: CALL, fault: '409', after_commit: true, times: 1 });
  place.drop('route_plans', 'a.json', plan('P1'));
  await place.run(JOB);
  if (isOrdered) await retryEntry(place.engine, await place.entry('P1'), place.now());
  await cancelEntry(place.engine, await place.entry('P1'), place.now(), true);
  await place.clock.advance(1_000);
  place.drop('route_plans', 'b.json', plan('P1', later));
  await place.runs(JOB, 3);
  expect(place.sandbox.ledger().plans).toEqual({ P0: 1, P1: 1 });
});

it('sends what the ERP corrects a settling time after the refusal in the next run', async () => {
  const place = await makePushPlace();
  place.drop('route_plans', '0.json', plan('P0'));
  await place.runs(JOB, 2);
  place.sandbox.addFault({ call: CALL, fault: '422', times: 1 });
  place.drop('route_plans', 'a.json', plan('P1'));
  await place.runs(JOB, 1);
  expect(await place.entry('P1')).toMatchObject({ state: 'rejected', is_watched: 1 });
  place.drop('route_plans', 'b.json', plan('P1', later));
  await place.run(JOB);
  expect(await place.entry('P1')).toMatchObject({ state: 'confirmed', attempts: 2 });
});

describe('a point that gets another title after a send without a clear answer', () => {
  const job = 'push-points-of-interest';
  const give = (place: PushPlace, file: string, title: string): void =>
    place.drop('points_of_interest', file, [pointOfInterest(title, { external_code: 'C1' })]);

  /** "By hand" is at the service, and not from here. */
  async function sentWith(fault: '403' | '409' | 'reset-before-commit') {
    const place = await makePushPlace();
    place.drop('points_of_interest', '0.json', [
      pointOfInterest('By hand', { external_code: 'C0' }),
      pointOfInterest('Witness', { external_code: 'W' }),
    ]);
    await place.runs(job, 2);
    const { remote_id } = await place.entry('C0');
    await place.engine.write(({ sql }) => sql('push_outbox').where({ external_code: 'C0' }).delete());
    place.sandbox.addFault({ call: 'create-point-of-interest', fault, times: 1 });
    give(place, 'a.json', 'Typo');
    await place.run(job);
    await place.clock.advance(MINUTE);
    return { place, byHand: remote_id };
  }

  it.each(['403', 'reset-before-commit'] as const)(
    'is looked for by that before it is sent: %s',
    async (fault) => {
      const { place, byHand } = await sentWith(fault);
      give(place, 'b.json', 'By hand');
      await place.runs(job, 4);
      expect(place.sandbox.ledger().points_of_interest).toEqual({ 'By hand': 1, Witness: 1 });
      expect(await place.entry('C1')).toMatchObject({ state: 'confirmed', remote_id: byHand });
    },
  );

  it('is not looked for by it any more once it has a third', async () => {
    const { place } = await sentWith('403');
    give(place, 'b.json', 'By hand');
    await place.runs(job, 1);
    give(place, 'c.json', 'Third');
    await place.runs(job, 3);
    expect(place.sandbox.ledger().points_of_interest).toEqual({ 'By hand': 1, Witness: 1, Third: 1 });
  });

  it('stays refused where its content then breaks the rules', async () => {
    const { place } = await sentWith('409');
    give(place, 'b.json', 'By hand');
    await place.runs(job, 2);
    place.drop('points_of_interest', 'c.json', [
      pointOfInterest('By hand', { external_code: 'C1', latitude: 500 }),
    ]);
    await place.runs(job, 2);
    expect(await place.entry('C1')).toMatchObject({
      state: 'rejected',
      reasons: expect.stringContaining('latitude'),
    });
  });

  it.each(['403', 'reset-before-commit'] as const)(
    'is not taken for one that is not from here where only codes count: %s',
    async (fault) => {
      const { place, byHand } = await sentWith(fault);
      give(place, 'b.json', 'By hand');
      for (let n = 0; n < 4; n++) {
        await place.run(job, { match: 'external_code' });
        await place.clock.advance(5 * MINUTE);
      }
      expect(await place.entry('C1')).toMatchObject({ state: 'confirmed' });
      expect((await place.entry('C1')).remote_id).not.toBe(byHand);
      expect(place.sandbox.ledger().points_of_interest).toEqual({ 'By hand': 2, Witness: 1 });
    },
  );
});

it('stops looking for what was refused once a search a settling time later does not show it', async () => {
  const place = await makePushPlace();
  place.sandbox.addFault({ call: CALL, fault: '409', times: 1 });
  place.drop('route_plans', 'a.json', plan('P1'));
  await place.runs(JOB, 2);
  expect(await place.entry('P1')).toMatchObject({ state: 'rejected', is_watched: 0, is_doubtful: 1 });
});

const on = (day: string) => ({
  date_time_start: `2025-${day}T08:00:00-03:00`,
  date_time_end: `2025-${day}T18:00:00-03:00`,
});

/** P1 arrives without an answer; the ERP moves it by two days while no search tells. */
async function arriveUnseenAndMove(place: PushPlace): Promise<void> {
  place.sandbox.addFault({ call: CALL, fault: 'reset-after-commit', times: 1 });
  place.sandbox.addFault({ call: 'route-plans', fault: '422', skip: 1, times: 9 });
  place.drop('route_plans', 'a.json', plan('P1', on('03-13')));
  await place.run(JOB);
  place.drop('route_plans', 'b.json', plan('P1', on('03-15')));
  await place.run(JOB);
  place.sandbox.clearFaults();
}

it('goes on searching where the service has it, once it is found after the ERP moved it', async () => {
  const place = await makePushPlace();
  await arriveUnseenAndMove(place);
  await place.clock.advance(5 * MINUTE);
  await place.run(JOB);
  expect(await place.entry('P1')).toMatchObject({
    state: 'confirmed',
    changed_after_push: 1,
    period_start: expect.stringContaining('03-13'),
  });
});

describe('where a service does not answer for too long a period', () => {
  const answerLong = (answer: { status?: number; body: object }): PlaceOptions => ({
    answering: ({ searchParams }, _original, { method }) => {
      const [from, to] = [searchParams.get('begin_date'), searchParams.get('end_date')];
      const isLong = from !== null && to !== null && Date.parse(to) - Date.parse(from) > 864_000_000;
      return method === 'GET' && isLong ? answer : undefined;
    },
  });
  const nothingForLong = answerLong({ body: [] });
  const refusesLong = answerLong({ status: 422, body: { detail: [] } });

  it('one of a day is sent though another was moved by weeks', async () => {
    const place = await makePushPlace(nothingForLong);
    place.drop('route_plans', '0.json', plan('P0', on('03-20')));
    await place.runs(JOB, 2);
    place.sandbox.addFault({ call: CALL, fault: 'reset-before-commit', times: 2 });
    place.drop('route_plans', 'a.json', [plan('P1', on('03-13')), plan('P2', on('03-20'))]);
    await place.run(JOB);
    place.drop('route_plans', 'b.json', plan('P1', on('04-25')));
    await place.runs(JOB, 4);
    expect(place.sandbox.ledger().plans).toMatchObject({ P2: 1 });
  });

  it('one that was moved by weeks is sent once a person vouches that it is not there', async () => {
    const place = await makePushPlace(refusesLong);
    place.drop('route_plans', '0.json', plan('P0', on('04-25')));
    await place.runs(JOB, 2);
    place.sandbox.addFault({ call: CALL, fault: 'reset-before-commit', times: 1 });
    place.drop('route_plans', 'a.json', plan('P1', on('03-13')));
    await place.run(JOB);
    place.drop('route_plans', 'b.json', plan('P1', on('04-25')));
    await place.runs(JOB, 2);
    expect(await place.entry('P1')).toMatchObject({ state: 'unknown' });
    await vouchAbsent(place.engine, await place.entry('P1'), place.now());
    await place.runs(JOB, 2);
    expect(place.sandbox.ledger().plans).toEqual({ P0: 1, P1: 1 });
  });

  it('one that was moved by days is found, though a person did not see it at its older place', async () => {
    const place = await makePushPlace(refusesLong);
    place.drop('route_plans', '0.json', plan('P0', on('03-15')));
    await place.runs(JOB, 2);
    await arriveUnseenAndMove(place);
    expect(await place.entry('P1')).toMatchObject({ state: 'unknown' });
    await vouchAbsent(place.engine, await place.entry('P1'), place.now());
    await place.runs(JOB, 2);
    expect(place.sandbox.ledger().plans).toEqual({ P0: 1, P1: 1 });
  });

  it('one that is there is not sent again', async () => {
    const place = await makePushPlace(nothingForLong);
    place.drop('route_plans', '0.json', plan('P2', on('03-20')));
    await place.runs(JOB, 2);
    await place.engine.write(({ sql }) => sql('push_outbox').delete());
    place.sandbox.addFault({ call: CALL, fault: 'reset-before-commit', times: 1 });
    place.drop('route_plans', 'a.json', plan('P1', on('03-13')));
    await place.run(JOB);
    place.drop('route_plans', 'b.json', plan('P1', on('04-25')));
    await place.run(JOB);
    place.drop('route_plans', 'c.json', plan('P2', on('03-20')));
    await place.runs(JOB, 2);
    expect(place.sandbox.ledger().plans).toMatchObject({ P2: 1 });
  });
});

it.each([
  ['by a search with a witness', undefined, 0],
  ['where the search proves nothing', 'no-records', 1],
] as const)('ends or keeps the doubt of an agent that was refused, %s', async (_, fault, is_doubtful) => {
  const place = await makePushPlace();
  const [k] = CPFS;
  place.sandbox.addFault({ call: 'create-agent', fault: '409', times: 1 });
  if (fault !== undefined) place.sandbox.addFault({ call: 'drivers', fault });
  place.drop('agents', 'a.json', [agent(k, { external_code: 'A1' })]);
  await place.runs('push-agents', 2);
  expect(await place.entry('A1')).toMatchObject({ state: 'rejected', is_watched: 0, is_doubtful });
});

it('tells what it finds after a person vouched that it was not there as what was sent', async () => {
  const place = await makePushPlace();
  place.sandbox.addFault({ call: CALL, fault: 'reset-after-commit', times: 1 });
  place.sandbox.addFault({ call: 'route-plans', fault: '503', skip: 1 });
  place.drop('route_plans', 'a.json', plan('P1'));
  await place.run(JOB);
  place.drop('route_plans', 'b.json', plan('P1', later));
  await place.run(JOB);
  await vouchAbsent(place.engine, await place.entry('P1'), place.now());
  place.sandbox.clearFaults();
  await place.runs(JOB, 2);
  expect(place.sandbox.ledger().plans).toEqual({ P1: 1 });
  expect(await place.entry('P1')).toMatchObject({ state: 'confirmed', changed_after_push: 1 });
});

it('refuses a date-time that names no instant, by which no search could find the plan', async () => {
  const place = await makePushPlace();
  place.drop('route_plans', 'a.json', plan('P1', { date_time_end: '2025-03-13T23:59:60-03:00' }));
  await place.run(JOB);
  expect(await place.entry('P1')).toMatchObject({
    state: 'rejected',
    reasons: expect.stringContaining('date_time_end'),
  });
});
