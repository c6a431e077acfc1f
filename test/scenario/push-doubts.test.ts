// Entries that may be at the service although nobody could say so at first: none is sent twice, none is lost.
import { expect, it } from 'vitest';
import { runLeased } from '../../src/sync/leased-run.ts';
import { cancelEntry, retryEntry, vouchAbsent } from '../../src/sync/push/outbox-orders.ts';
import type { SyncParts } from '../../src/sync/sync-parts.ts';
import { createLeaseKeeper } from '../../src/warehouse/lease-keeper.ts';
import { makePushPlace, type PushPlace } from '../support/push-place.ts';
import { agent, CPFS, plan, pointOfInterest } from '../support/push-samples.ts';
import { drive, failureOf } from './fleet-setup.ts';

const JOB = 'push-route-plans';
const CALL = 'import-route-plan' as const;
const MINUTE = 60_000;

async function entryOf(place: PushPlace, code: string) {
  const entry = (await place.outbox()).find(({ external_code }) => external_code === code);
  if (entry === undefined) throw new Error(`no entry ${code}`);
  return entry;
}

async function runs(place: PushPlace, times: number, job = JOB): Promise<void> {
  for (let n = 0; n < times; n++) {
    await place.run(job);
    await place.clock.advance(5 * MINUTE);
  }
}

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
  ['changed content', { date_time_end: '2025-03-13T19:00:00-03:00' }],
  ['the same content on order', {}],
])(
  'does not send %s of what was given up while unknown, before the service can have shown it',
  async (_, change) => {
    const place = await makePushPlace({ sandbox: { importVisibleAfterMs: MINUTE } });
    place.drop('route_plans', '0.json', plan('P0'));
    await runs(place, 2);
    place.sandbox.addFault({ call: CALL, fault: 'reset-after-commit', times: 1 });
    place.drop('route_plans', 'a.json', plan('P1'));
    await place.run(JOB);
    expect(await entryOf(place, 'P1')).toMatchObject({ state: 'unknown' });
    await cancelEntry(place.engine, await entryOf(place, 'P1'), place.now(), true);
    await retryEntry(place.engine, await entryOf(place, 'P1'), place.now());
    await place.clock.advance(1_000);
    place.drop('route_plans', 'b.json', plan('P1', change));
    await runs(place, 4);
    expect(place.sandbox.ledger().plans).toEqual({ P0: 1, P1: 1 });
    expect(await entryOf(place, 'P1')).toMatchObject({ state: 'confirmed' });
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
  expect(await entryOf(place, 'P1')).toMatchObject({ state: 'ready', is_doubtful: 1 });
  await place.clock.advance(1_000);
  place.drop('route_plans', 'b.json', content);
  await runs(place, 3);
  expect(place.sandbox.ledger().plans).toEqual({ P1: 1 });
  expect(await entryOf(place, 'P1')).toMatchObject({ state: 'confirmed' });
});

it('finds a point whose content broke the rules after it was turned away, and changes it later', async () => {
  const place = await makePushPlace();
  const job = 'push-points-of-interest';
  const shop = pointOfInterest('Shop', { external_code: 'C1' });
  place.sandbox.addFault({ call: 'create-point-of-interest', fault: '403', after_commit: true, times: 1 });
  place.drop('points_of_interest', 'a.json', [shop]);
  await place.run(job);
  expect(await entryOf(place, 'C1')).toMatchObject({ state: 'ready', is_doubtful: 1 });
  place.drop('points_of_interest', 'b.json', [{ ...shop, latitude: 500 }]);
  await runs(place, 3, job);
  expect(await entryOf(place, 'C1')).toMatchObject({
    state: 'confirmed',
    message: expect.stringContaining('breaks the rules'),
    reasons: expect.stringContaining('latitude'),
  });
  place.drop('points_of_interest', 'c.json', [{ ...shop, latitude: -23.6 }]);
  await runs(place, 2, job);
  expect(place.sandbox.ledger().points_of_interest).toEqual({ Shop: 1 });
  expect(await entryOf(place, 'C1')).toMatchObject({ state: 'confirmed', message: null });
});

it('keeps looking for what was refused until a late service would have shown it', async () => {
  const place = await makePushPlace({ sandbox: { importVisibleAfterMs: MINUTE } });
  place.sandbox.addFault({ call: CALL, fault: '409', after_commit: true, times: 1 });
  place.drop('route_plans', 'a.json', plan('P1'));
  await place.run(JOB);
  const refused = await entryOf(place, 'P1');
  expect(refused).toMatchObject({ state: 'rejected', is_watched: 1 });
  const cancelling = cancelEntry(place.engine, refused, place.now(), false);
  expect(await failureOf(cancelling)).toMatchObject({ code: 'usage' });
  await place.clock.advance(5 * MINUTE);
  await place.run(JOB);
  expect(await entryOf(place, 'P1')).toMatchObject({ state: 'confirmed' });
});

it('stops looking for what was refused once a search a settling time later does not show it', async () => {
  const place = await makePushPlace();
  place.sandbox.addFault({ call: CALL, fault: '409', times: 1 });
  place.drop('route_plans', 'a.json', plan('P1'));
  await runs(place, 2);
  expect(await entryOf(place, 'P1')).toMatchObject({ state: 'rejected', is_watched: 0 });
});

it.each([
  [true, 4],
  [true, 1],
  [false, 4],
  [false, 1],
])(
  'creates one agent for two codes with one tax number (checked first: %s, sends at once: %i)',
  async (check, concurrency) => {
    const place = await makePushPlace();
    place.parts.concurrency = concurrency;
    const cpf = CPFS[0];
    const two = [agent(cpf, { external_code: 'A1' }), agent(cpf, { external_code: 'A2' })];
    place.drop('agents', 'a.json', two);
    for (let n = 0; n < 2; n++) {
      await place.run('push-agents', { check_before_send: check });
      await place.clock.advance(5 * MINUTE);
    }
    expect(place.sandbox.ledger().agents).toEqual({ [cpf]: 1 });
    const [first, second] = await place.outbox();
    expect(first).toMatchObject({ state: 'confirmed' });
    expect(second).toMatchObject({ state: 'confirmed', remote_id: first?.remote_id });
  },
);

it.each([
  ['409', true],
  ['429', true],
  ['409', false],
  ['429', false],
  ['403', false],
] as const)(
  'creates one agent for two codes where the first was answered by %s after it was done (checked first: %s)',
  async (fault, check) => {
    const place = await makePushPlace();
    place.parts.concurrency = 1;
    const cpf = CPFS[0];
    place.sandbox.addFault({ call: 'create-agent', fault, after_commit: true, times: 1 });
    place.drop('agents', 'a.json', [
      agent(cpf, { external_code: 'A1' }),
      agent(cpf, { external_code: 'A2' }),
    ]);
    for (let n = 0; n < 4; n++) {
      await place.run('push-agents', { check_before_send: check });
      await place.clock.advance(5 * MINUTE);
    }
    expect(place.sandbox.ledger().agents).toEqual({ [cpf]: 1 });
    expect(await place.outbox()).toMatchObject([{ state: 'confirmed' }, { state: 'confirmed' }]);
  },
);

it.each([
  ['not shown yet', true, MINUTE],
  ['not shown yet', false, MINUTE],
  ['shown', false, 0],
])(
  'creates one agent for two codes of two runs: the first is %s (checked first: %s)',
  async (_, check, lateMs) => {
    const place = await makePushPlace({ sandbox: { createdVisibleAfterMs: lateMs } });
    const cpf = CPFS[0];
    for (const external_code of ['A1', 'A2']) {
      place.drop('agents', `${external_code}.json`, [agent(cpf, { external_code })]);
      await place.run('push-agents', { check_before_send: check });
    }
    for (let n = 0; n < 2; n++) {
      await place.clock.advance(5 * MINUTE);
      await place.run('push-agents', { check_before_send: check });
    }
    expect(place.sandbox.ledger().agents).toEqual({ [cpf]: 1 });
    const [first, second] = await place.outbox();
    expect(second).toMatchObject({ state: 'confirmed', remote_id: first?.remote_id });
  },
);

/** A listing that does not show this person. */
const without = (cpf: string, listing: unknown): unknown =>
  JSON.parse(JSON.stringify(listing), (_key, value) =>
    Array.isArray(value) ? value.filter((record) => record?.cpf !== cpf) : value,
  );

it('creates one agent for two codes where the first is shown between two rounds of the run', async () => {
  let lists = 0;
  const [k, other] = CPFS;
  const place = await makePushPlace({
    answering: async ({ pathname }, original, { method }) => {
      if (method !== 'GET' || !pathname.startsWith('/driver')) return undefined;
      // Two calls a look: after A1's run and before that of the others, and the first look of theirs.
      return ++lists <= 6 ? { body: without(k, await original()) } : undefined;
    },
  });
  place.parts.concurrency = 1;
  place.drop('agents', 'a.json', [agent(k, { external_code: 'A1' })]);
  await place.run('push-agents');
  expect(await entryOf(place, 'A1')).toMatchObject({ state: 'confirmed', seen_at: null });
  place.sandbox.addFault({ call: 'create-agent', fault: '401', times: 1 });
  place.drop('agents', 'b.json', [agent(other, { external_code: 'A2' }), agent(k, { external_code: 'A3' })]);
  await runs(place, 3, 'push-agents');
  expect(place.sandbox.ledger().agents).toEqual({ [k]: 1, [other]: 1 });
});

it('creates one agent for two codes where one was turned away under another CPF before', async () => {
  const place = await makePushPlace();
  const [k, typo] = CPFS;
  place.drop('agents', 'a.json', [agent(k, { external_code: 'A1' })]);
  await runs(place, 2, 'push-agents');
  place.sandbox.addFault({ call: 'create-agent', fault: '403', times: 1 });
  place.drop('agents', 'b.json', [agent(typo, { external_code: 'A2' })]);
  await runs(place, 1, 'push-agents');
  expect(await entryOf(place, 'A2')).toMatchObject({ state: 'ready', is_doubtful: 1 });
  place.drop('agents', 'c.json', [agent(k, { external_code: 'A2' })]);
  await runs(place, 3, 'push-agents');
  expect(place.sandbox.ledger().agents).toEqual({ [k]: 1 });
  const { remote_id } = await entryOf(place, 'A1');
  expect(await entryOf(place, 'A2')).toMatchObject({ state: 'confirmed', remote_id });
});

it('creates both agents where the ERP corrects the CPF of one that waits for the other', async () => {
  const place = await makePushPlace();
  const [typo, right] = CPFS;
  const two = [agent(typo, { external_code: 'A1' }), agent(typo, { external_code: 'A2' })];
  place.drop('agents', 'a.json', two);
  await place.run('push-agents');
  expect(await entryOf(place, 'A2')).toMatchObject({ state: 'ready' });
  await place.clock.advance(MINUTE);
  place.drop('agents', 'b.json', [agent(right, { external_code: 'A2' })]);
  await runs(place, 2, 'push-agents');
  expect(place.sandbox.ledger().agents).toEqual({ [typo]: 1, [right]: 1 });
});

it('sends one of two codes where a person vouches for it, though no search proves anything', async () => {
  const place = await makePushPlace();
  const [k] = CPFS;
  place.sandbox.addFault({ call: 'create-agent', fault: '502', times: 1 });
  place.sandbox.addFault({ call: 'drivers', fault: 'no-records' });
  place.drop('agents', 'a.json', [agent(k, { external_code: 'A1' }), agent(k, { external_code: 'A2' })]);
  await runs(place, 2, 'push-agents');
  expect(await place.outbox()).toMatchObject([{ state: 'unknown' }, { state: 'ready', attempts: 0 }]);
  await vouchAbsent(place.engine, await entryOf(place, 'A1'), place.now());
  await runs(place, 1, 'push-agents');
  expect(place.sandbox.ledger().agents).toEqual({ [k]: 1 });
  expect(await entryOf(place, 'A1')).toMatchObject({ state: 'confirmed', attempts: 2 });
});

it('waits for one that was accepted and never shown no longer than it is looked for', async () => {
  const [k, other] = CPFS;
  let isGone = false;
  const place = await makePushPlace({
    answering: async ({ pathname }, original, { method }) => {
      if (!isGone || method !== 'GET' || !pathname.startsWith('/driver')) return undefined;
      return { body: without(k, await original()) };
    },
  });
  place.drop('agents', 'a.json', [agent(other, { external_code: 'A0' })]);
  await runs(place, 2, 'push-agents');
  isGone = true;
  place.drop('agents', 'b.json', [agent(k, { external_code: 'A1' }), agent(k, { external_code: 'A2' })]);
  await runs(place, 3, 'push-agents');
  expect(await entryOf(place, 'A2')).toMatchObject({ state: 'ready', attempts: 0 });
  await place.clock.advance(4 * 24 * 60 * MINUTE);
  await runs(place, 2, 'push-agents');
  expect(await entryOf(place, 'A2')).toMatchObject({ state: 'confirmed', attempts: 1 });
});

it('creates one agent for two codes where nobody knows whether the first arrived', async () => {
  const place = await makePushPlace();
  const cpf = CPFS[0];
  place.sandbox.addFault({ call: 'create-agent', fault: 'reset-after-commit', times: 1 });
  place.sandbox.addFault({ call: 'drivers', fault: '400', skip: 2, times: 2 });
  place.drop('agents', 'a.json', [agent(cpf, { external_code: 'A1' }), agent(cpf, { external_code: 'A2' })]);
  await runs(place, 4, 'push-agents');
  expect(place.sandbox.ledger().agents).toEqual({ [cpf]: 1 });
  expect(await place.outbox()).toMatchObject([{ state: 'confirmed' }, { state: 'confirmed' }]);
});

const later = { date_time_end: '2025-03-13T19:00:00-03:00' };

it('tells what it finds after a person vouched that it was not there as what was sent', async () => {
  const place = await makePushPlace();
  place.sandbox.addFault({ call: CALL, fault: 'reset-after-commit', times: 1 });
  place.sandbox.addFault({ call: 'route-plans', fault: '503', skip: 1 });
  place.drop('route_plans', 'a.json', plan('P1'));
  await place.run(JOB);
  place.drop('route_plans', 'b.json', plan('P1', later));
  await place.run(JOB);
  await vouchAbsent(place.engine, await entryOf(place, 'P1'), place.now());
  place.sandbox.clearFaults();
  await runs(place, 2);
  expect(place.sandbox.ledger().plans).toEqual({ P1: 1 });
  expect(await entryOf(place, 'P1')).toMatchObject({ state: 'confirmed', changed_after_push: 1 });
});

it('refuses a date-time that names no instant, by which no search could find the plan', async () => {
  const place = await makePushPlace();
  place.drop('route_plans', 'a.json', plan('P1', { date_time_end: '2025-03-13T23:59:60-03:00' }));
  await place.run(JOB);
  expect(await entryOf(place, 'P1')).toMatchObject({
    state: 'rejected',
    reasons: expect.stringContaining('date_time_end'),
  });
});
