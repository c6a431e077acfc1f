// Agents of the ERP that are one person: several codes with one tax number become one agent, and each code is told of it.
import { expect, it } from 'vitest';
import { vouchAbsent } from '../../src/sync/push/outbox-orders.ts';
import { makePushPlace } from '../support/push-place.ts';
import { agent, CPFS } from '../support/push-samples.ts';

const JOB = 'push-agents';
const MINUTE = 60_000;

it.each([4, 1])(
  'creates one agent for two codes with one tax number (sends at once: %i)',
  async (concurrency) => {
    const place = await makePushPlace();
    place.parts.concurrency = concurrency;
    const cpf = CPFS[0];
    place.drop('agents', 'a.json', [
      agent(cpf, { external_code: 'A1' }),
      agent(cpf, { external_code: 'A2' }),
    ]);
    await place.run(JOB);
    expect(await place.entry('A2')).toMatchObject({
      state: 'ready',
      message: expect.stringContaining('A1 is the same thing'),
    });
    await place.runs(JOB, 2);
    expect(place.sandbox.ledger().agents).toEqual({ [cpf]: 1 });
    const [first, second] = await place.outbox();
    expect(first).toMatchObject({ state: 'confirmed' });
    expect(second).toMatchObject({ state: 'confirmed', remote_id: first?.remote_id });
  },
);

it.each(['409', '429', '403'] as const)(
  'creates one agent for two codes where the first was answered by %s after it was done',
  async (fault) => {
    const place = await makePushPlace();
    place.parts.concurrency = 1;
    const cpf = CPFS[0];
    place.sandbox.addFault({ call: 'create-agent', fault, after_commit: true, times: 1 });
    place.drop('agents', 'a.json', [
      agent(cpf, { external_code: 'A1' }),
      agent(cpf, { external_code: 'A2' }),
    ]);
    await place.runs(JOB, 4);
    expect(place.sandbox.ledger().agents).toEqual({ [cpf]: 1 });
    expect(await place.outbox()).toMatchObject([{ state: 'confirmed' }, { state: 'confirmed' }]);
  },
);

it.each([
  ['not shown yet', MINUTE],
  ['shown', 0],
])('creates one agent for two codes of two runs: the first is %s', async (_, lateMs) => {
  const place = await makePushPlace({ sandbox: { createdVisibleAfterMs: lateMs } });
  const cpf = CPFS[0];
  for (const external_code of ['A1', 'A2']) {
    place.drop('agents', `${external_code}.json`, [agent(cpf, { external_code })]);
    await place.run(JOB);
  }
  await place.clock.advance(5 * MINUTE);
  await place.runs(JOB, 2);
  expect(place.sandbox.ledger().agents).toEqual({ [cpf]: 1 });
  const [first, second] = await place.outbox();
  expect(second).toMatchObject({ state: 'confirmed', remote_id: first?.remote_id });
});

it.each([
  ['was refused after it was done', '409', 10 * MINUTE],
  ['was accepted four days ago', undefined, 4 * 24 * 60 * MINUTE],
] as const)(
  'sends no other code where the first %s and the searches are blind, unless a person has looked',
  async (_, fault, laterMs) => {
    const place = await makePushPlace();
    const [k, other] = CPFS;
    place.drop('agents', '0.json', [agent(other, { external_code: 'A0' })]);
    await place.runs(JOB, 2);
    if (fault !== undefined)
      place.sandbox.addFault({ call: 'create-agent', fault, after_commit: true, times: 1 });
    place.sandbox.addFault({ call: 'drivers', fault: 'no-records' });
    place.drop('agents', 'a.json', [agent(k, { external_code: 'A1' })]);
    await place.runs(JOB, 1);
    await place.clock.advance(laterMs);
    place.drop('agents', 'b.json', [agent(k, { external_code: 'A2' })]);
    await place.runs(JOB, 2);
    expect(await place.run(JOB)).toMatchObject({ error: { code: 'search_blind' } });
    expect(place.sandbox.ledger().agents).toEqual({ [other]: 1, [k]: 1 });
    expect(await place.entry('A2')).toMatchObject({
      state: 'ready',
      attempts: 0,
      message: expect.stringContaining('--not-there'),
    });
    await vouchAbsent(place.engine, await place.entry('A2'), place.now());
    await place.runs(JOB, 1);
    expect(await place.entry('A2')).toMatchObject({ state: 'confirmed', attempts: 1 });
  },
);

it('takes a corrected CPF for another person only once the refused one cannot be there', async () => {
  const place = await makePushPlace({ sandbox: { createdVisibleAfterMs: MINUTE } });
  const [k, right, other] = CPFS;
  place.drop('agents', '0.json', [agent(other, { external_code: 'A0' })]);
  await place.runs(JOB, 2);
  place.sandbox.addFault({ call: 'create-agent', fault: '409', after_commit: true, times: 1 });
  place.drop('agents', 'a.json', [agent(k, { external_code: 'A1' }), agent(k, { external_code: 'A2' })]);
  await place.run(JOB);
  await place.clock.advance(1_000);
  place.drop('agents', 'b.json', [agent(right, { external_code: 'A1' })]);
  await place.runs(JOB, 4);
  expect(place.sandbox.ledger().agents).toEqual({ [other]: 1, [k]: 1 });
  const { remote_id } = await place.entry('A1');
  expect(await place.entry('A1')).toMatchObject({ state: 'confirmed', changed_after_push: 1 });
  expect(await place.entry('A2')).toMatchObject({ state: 'confirmed', remote_id });
});

/** A listing that does not show this person. */
const without = (cpf: string, listing: unknown): unknown =>
  JSON.parse(JSON.stringify(listing), (_key, value) =>
    Array.isArray(value) ? value.filter((record) => record?.cpf !== cpf) : value,
  );

/** A place whose listings leave this person out while that is on. */
async function placeHiding(cpf: string) {
  const hiding = { isOn: false };
  const place = await makePushPlace({
    answering: async ({ pathname }, original, { method }) => {
      if (!hiding.isOn || method !== 'GET' || !pathname.startsWith('/driver')) return undefined;
      return { body: without(cpf, await original()) };
    },
  });
  return { place, hiding };
}

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
  await place.run(JOB);
  expect(await place.entry('A1')).toMatchObject({ state: 'confirmed', seen_at: null });
  place.sandbox.addFault({ call: 'create-agent', fault: '401', times: 1 });
  place.drop('agents', 'b.json', [agent(other, { external_code: 'A2' }), agent(k, { external_code: 'A3' })]);
  await place.runs(JOB, 3);
  expect(place.sandbox.ledger().agents).toEqual({ [k]: 1, [other]: 1 });
});

it('creates one agent for two codes where one was turned away under another CPF before', async () => {
  const place = await makePushPlace();
  const [k, typo] = CPFS;
  place.drop('agents', 'a.json', [agent(k, { external_code: 'A1' })]);
  await place.runs(JOB, 2);
  place.sandbox.addFault({ call: 'create-agent', fault: '403', times: 1 });
  place.drop('agents', 'b.json', [agent(typo, { external_code: 'A2' })]);
  await place.runs(JOB, 1);
  expect(await place.entry('A2')).toMatchObject({ state: 'ready', is_doubtful: 1 });
  place.drop('agents', 'c.json', [agent(k, { external_code: 'A2' })]);
  await place.runs(JOB, 3);
  expect(place.sandbox.ledger().agents).toEqual({ [k]: 1 });
  const { remote_id } = await place.entry('A1');
  const told = { state: 'confirmed', remote_id, changed_after_push: 0, message: null };
  expect(await place.entry('A2')).toMatchObject(told);
  place.drop('agents', 'd.json', [agent(typo, { external_code: 'A2' })]);
  await place.runs(JOB, 1);
  expect(await place.entry('A2')).toMatchObject({ state: 'confirmed', changed_after_push: 1 });
});

it.each([
  ['the right CPF', (right: string) => right],
  ['its first CPF', (_: string, typo: string) => typo],
])('is not taken for another person once the ERP gives %s', async (_, pick) => {
  const place = await makePushPlace();
  const [k, typo, right] = CPFS;
  place.drop('agents', 'a.json', [agent(k, { external_code: 'A1' })]);
  await place.runs(JOB, 2);
  place.sandbox.addFault({ call: 'create-agent', fault: '403', times: 1 });
  place.drop('agents', 'b.json', [agent(typo, { external_code: 'A2' })]);
  await place.runs(JOB, 1);
  place.drop('agents', 'c.json', [agent(k, { external_code: 'A2' })]);
  await place.runs(JOB, 1);
  place.drop('agents', 'd.json', [agent(pick(right, typo), { external_code: 'A2' })]);
  await place.runs(JOB, 3);
  expect(place.sandbox.ledger().agents).toEqual({ [k]: 1, [pick(right, typo)]: 1 });
});

it('is told what it breaks, and not what another code of its CPF is', async () => {
  const place = await makePushPlace();
  const [k, typo] = CPFS;
  place.drop('agents', 'a.json', [agent(k, { external_code: 'A1' })]);
  await place.runs(JOB, 2);
  place.sandbox.addFault({ call: 'create-agent', fault: '403', times: 1 });
  for (const cpf of [typo, k, '123']) {
    place.drop('agents', `${cpf}.json`, [agent(cpf, { external_code: 'A2' })]);
    await place.runs(JOB, 1);
  }
  await place.runs(JOB, 3);
  expect(await place.entry('A2')).toMatchObject({
    state: 'rejected',
    reasons: expect.stringContaining('cpf'),
  });
});

it('is flagged for nothing where a person vouched for it under another CPF', async () => {
  const place = await makePushPlace();
  const [k, typo] = CPFS;
  place.drop('agents', 'a.json', [agent(k, { external_code: 'A1' })]);
  await place.runs(JOB, 2);
  place.sandbox.addFault({ call: 'create-agent', fault: '502', times: 1 });
  place.drop('agents', 'b.json', [agent(typo, { external_code: 'A2' })]);
  await place.run(JOB);
  await vouchAbsent(place.engine, await place.entry('A2'), place.now());
  await place.clock.advance(1_000);
  place.drop('agents', 'c.json', [agent(k, { external_code: 'A2' })]);
  await place.runs(JOB, 2);
  expect(await place.entry('A2')).toMatchObject({ state: 'confirmed', changed_after_push: 0 });
  place.drop('agents', 'd.json', [agent(typo, { external_code: 'A2' })]);
  await place.runs(JOB, 1);
  expect(await place.entry('A2')).toMatchObject({ state: 'confirmed', changed_after_push: 1 });
});

it('is not sent blindly where a person vouched for it under another CPF', async () => {
  const place = await makePushPlace();
  const [k, typo, other] = CPFS;
  place.drop('agents', 'a.json', [agent(k, { external_code: 'A1' }), agent(other, { external_code: 'A0' })]);
  await place.runs(JOB, 2);
  place.sandbox.addFault({ call: 'drivers', fault: 'no-records' });
  place.sandbox.addFault({ call: 'create-agent', fault: '502', times: 1 });
  place.drop('agents', 'b.json', [agent(typo, { external_code: 'A2' })]);
  await place.runs(JOB, 2);
  await vouchAbsent(place.engine, await place.entry('A2'), place.now());
  await place.clock.advance(1_000);
  place.drop('agents', 'c.json', [agent(k, { external_code: 'A2' })]);
  await place.runs(JOB, 3);
  expect(place.sandbox.ledger().agents).toEqual({ [k]: 1, [other]: 1 });
});

it.each([
  ['may have arrived', '502'],
  ['was accepted and is not shown', undefined],
] as const)('waits, and says for which code, where that %s and the searches are blind', async (_, fault) => {
  const place = await makePushPlace();
  const [k, other] = CPFS;
  place.drop('agents', '0.json', [agent(other, { external_code: 'A0' })]);
  await place.runs(JOB, 2);
  place.sandbox.addFault({ call: 'drivers', fault: 'no-records' });
  if (fault !== undefined) place.sandbox.addFault({ call: 'create-agent', fault, times: 1 });
  place.drop('agents', 'a.json', [agent(k, { external_code: 'A1' })]);
  await place.runs(JOB, 1);
  place.drop('agents', 'b.json', [agent(k, { external_code: 'A2' })]);
  await place.runs(JOB, 1);
  expect(await place.entry('A2')).toMatchObject({
    state: 'ready',
    message: expect.stringContaining('A1 is the same thing'),
  });
});

it('is not created again because one listing leaves the other code out', async () => {
  const [k, other] = CPFS;
  const { place, hiding } = await placeHiding(k);
  place.drop('agents', 'a.json', [agent(k, { external_code: 'A1' }), agent(other, { external_code: 'A0' })]);
  await place.runs(JOB, 3);
  hiding.isOn = true;
  place.drop('agents', 'b.json', [agent(k, { external_code: 'A2' })]);
  await place.runs(JOB, 1);
  hiding.isOn = false;
  await place.runs(JOB, 1);
  expect(place.sandbox.ledger().agents).toEqual({ [k]: 1, [other]: 1 });
  expect(await place.entry('A2')).toMatchObject({ state: 'confirmed', attempts: 0 });
});

it.each([
  ['was turned away before', 5],
  ['waits since before that was sent', 1],
])('is not created again because one listing leaves out a code that was seen: it %s', async (_, times) => {
  const [k, other] = CPFS;
  const { place, hiding } = await placeHiding(k);
  place.drop('agents', '0.json', [agent(other, { external_code: 'A0' })]);
  await place.runs(JOB, 2);
  place.sandbox.addFault({ call: 'create-agent', fault: '403', times });
  place.drop('agents', 'a.json', [agent(k, { external_code: 'A2' })]);
  for (let n = 0; n < times; n++) {
    await place.run(JOB);
    if (n < times - 1) await place.clock.advance(5 * MINUTE);
  }
  place.drop('agents', 'b.json', [agent(k, { external_code: 'A1' })]);
  for (let n = 0; n < 12 && place.sandbox.ledger().agents[k] === undefined; n++) {
    await place.clock.advance(4.5 * MINUTE);
    await place.run(JOB);
  }
  hiding.isOn = true;
  await place.clock.advance(60 * MINUTE);
  await place.run(JOB);
  hiding.isOn = false;
  await place.runs(JOB, 1);
  expect(place.sandbox.ledger().agents).toEqual({ [k]: 1, [other]: 1 });
});

it('does not wait for ever where both codes are in doubt', async () => {
  const place = await makePushPlace();
  const [k, other] = CPFS;
  place.drop('agents', '0.json', [agent(other, { external_code: 'A0' })]);
  await place.runs(JOB, 2);
  place.sandbox.addFault({ call: 'create-agent', fault: '403', times: 1 });
  place.drop('agents', 'a.json', [agent(k, { external_code: 'A2' })]);
  await place.run(JOB);
  place.drop('agents', 'b.json', [agent(k, { external_code: 'A1' })]);
  await place.run(JOB);
  await place.clock.advance(15 * MINUTE);
  place.sandbox.addFault({ call: 'create-agent', fault: 'reset-before-commit', times: 1 });
  await place.runs(JOB, 12);
  expect(place.sandbox.ledger().agents).toEqual({ [other]: 1, [k]: 1 });
});

it('creates both agents where the ERP corrects the CPF of one that waits for the other', async () => {
  const place = await makePushPlace();
  const [typo, right] = CPFS;
  const two = [agent(typo, { external_code: 'A1' }), agent(typo, { external_code: 'A2' })];
  place.drop('agents', 'a.json', two);
  await place.run(JOB);
  expect(await place.entry('A2')).toMatchObject({ state: 'ready' });
  await place.clock.advance(MINUTE);
  place.drop('agents', 'b.json', [agent(right, { external_code: 'A2' })]);
  await place.runs(JOB, 2);
  expect(place.sandbox.ledger().agents).toEqual({ [typo]: 1, [right]: 1 });
});

it('sends one of two codes where a person vouches for it, though no search proves anything', async () => {
  const place = await makePushPlace();
  const [k] = CPFS;
  place.sandbox.addFault({ call: 'create-agent', fault: '502', times: 1 });
  place.sandbox.addFault({ call: 'drivers', fault: 'no-records' });
  place.drop('agents', 'a.json', [agent(k, { external_code: 'A1' }), agent(k, { external_code: 'A2' })]);
  await place.runs(JOB, 2);
  expect(await place.outbox()).toMatchObject([{ state: 'unknown' }, { state: 'ready', attempts: 0 }]);
  await vouchAbsent(place.engine, await place.entry('A1'), place.now());
  await place.runs(JOB, 1);
  expect(place.sandbox.ledger().agents).toEqual({ [k]: 1 });
  expect(await place.entry('A1')).toMatchObject({ state: 'confirmed', attempts: 2 });
});

it('waits for one that was accepted and never shown no longer than it is looked for', async () => {
  const [k, other] = CPFS;
  const { place, hiding } = await placeHiding(k);
  place.drop('agents', 'a.json', [agent(other, { external_code: 'A0' })]);
  await place.runs(JOB, 2);
  hiding.isOn = true;
  place.drop('agents', 'b.json', [agent(k, { external_code: 'A1' }), agent(k, { external_code: 'A2' })]);
  await place.runs(JOB, 3);
  expect(await place.entry('A2')).toMatchObject({ state: 'ready', attempts: 0 });
  await place.clock.advance(4 * 24 * 60 * MINUTE);
  await place.runs(JOB, 2);
  expect(await place.entry('A2')).toMatchObject({ state: 'confirmed', attempts: 1 });
});

it('creates one agent for two codes where nobody knows whether the first arrived', async () => {
  const place = await makePushPlace();
  const cpf = CPFS[0];
  place.sandbox.addFault({ call: 'create-agent', fault: 'reset-after-commit', times: 1 });
  place.sandbox.addFault({ call: 'drivers', fault: '400', skip: 2, times: 2 });
  place.drop('agents', 'a.json', [agent(cpf, { external_code: 'A1' }), agent(cpf, { external_code: 'A2' })]);
  await place.runs(JOB, 4);
  expect(place.sandbox.ledger().agents).toEqual({ [cpf]: 1 });
  expect(await place.outbox()).toMatchObject([{ state: 'confirmed' }, { state: 'confirmed' }]);
});
