// Several ERP codes with one tax number are one person: one agent is created, and each code is acknowledged with it.
import { expect, it } from 'vitest';
import { act, assertAbsent } from '../../../src/sync/push/actions.ts';
import { isChangedAfterPush } from '../../../src/warehouse/outbox/entry.ts';
import { makePushPlace, type PushPlace } from '../../support/push/push-place.ts';
import { agent, CPFS } from '../../support/push/push-samples.ts';

const JOB = 'push-agents';
const MINUTE = 60_000;
const [cpf, other] = CPFS;
const coded = (external_code: string, change: Record<string, unknown> = {}) => agent(cpf, { external_code, ...change });

/** Both codes are confirmed with one identifier, and there is one agent. */
async function expectOneAgent(place: PushPlace): Promise<void> {
  expect(place.sandbox.ledger().agents).toEqual({ [cpf]: 1 });
  const { remote_id } = await place.entry('A1');
  expect(remote_id).not.toBeNull();
  for (const code of ['A1', 'A2'])
    expect(await place.entry(code)).toMatchObject({
      state: 'confirmed',
      remote_id,
      told_at: expect.any(String),
    });
}

it('creates one agent for two codes with one tax number', async () => {
  const place = await makePushPlace();
  place.drop('agents', 'a.json', [coded('A1'), coded('A2', { name: 'Another' })]);
  expect(await place.run(JOB)).toMatchObject({ sent: 1, confirmed: 2, error: { code: 'differs' } });
  await expectOneAgent(place);
  expect((await place.outbox()).map(isChangedAfterPush)).toEqual([false, true]);
});

it.each(['409', '429', '403'] as const)(
  'creates one agent if the first code was answered by %s after the agent was created',
  async (fault) => {
    const place = await makePushPlace();
    place.sandbox.addFault({ call: 'create-agent', fault, after_commit: true, times: 1 });
    place.drop('agents', 'a.json', [coded('A1'), coded('A2')]);
    await place.runs(JOB, 4);
    await expectOneAgent(place);
  },
);

it.each([
  ['not shown yet', MINUTE],
  ['shown', 0],
])('creates one agent for two codes of two runs: the first is %s', async (_, createdVisibleAfterMs) => {
  const place = await makePushPlace({ sandbox: { createdVisibleAfterMs } });
  for (const code of ['A1', 'A2']) {
    place.drop('agents', `${code}.json`, coded(code));
    await place.run(JOB);
  }
  await place.clock.advance(5 * MINUTE);
  await place.runs(JOB, 2);
  await expectOneAgent(place);
});

it('does not create an agent again because a listing leaves out the code that has it', async () => {
  const place = await makePushPlace();
  place.drop('agents', 'a.json', coded('A1'));
  await place.runs(JOB, 2);
  place.sandbox.addFault({ call: 'drivers', fault: 'no-records' });
  place.drop('agents', 'b.json', coded('A2'));
  expect(await place.run(JOB)).toMatchObject({ status: 'ok', sent: 0, confirmed: 1 });
  await expectOneAgent(place);
});

it('has a code wait, and says for which, while the outcome of the other is unknown', async () => {
  const place = await makePushPlace();
  place.sandbox.addFault({ call: 'create-agent', fault: 'reset-after-commit', times: 1 });
  place.sandbox.addFault({ call: 'drivers', fault: '400', skip: 2, times: 2 });
  place.drop('agents', 'a.json', [coded('A1'), coded('A2')]);
  await place.runs(JOB, 1);
  expect(await place.outbox()).toMatchObject([
    { state: 'unknown' },
    { state: 'ready', attempts: 0, message: expect.stringContaining('A1 is the same agent') },
  ]);
  await place.runs(JOB, 3);
  await expectOneAgent(place);
});

it('sends the other code when the first was rejected', async () => {
  const place = await makePushPlace();
  place.sandbox.addFault({ call: 'create-agent', fault: '422', times: 1 });
  place.drop('agents', 'a.json', [coded('A1'), coded('A2')]);
  await place.runs(JOB, 2);
  expect(place.sandbox.ledger().agents).toEqual({ [cpf]: 1 });
  expect(await place.entry('A2')).toMatchObject({ state: 'confirmed', attempts: 1 });
});

it('creates both agents when the ERP corrects the tax number of the waiting code', async () => {
  const place = await makePushPlace();
  place.sandbox.addFault({ call: 'create-agent', fault: 'reset-before-commit', times: 1 });
  place.drop('agents', 'a.json', [coded('A1'), coded('A2')]);
  await place.runs(JOB, 1);
  place.drop('agents', 'b.json', coded('A2', { cpf: other }));
  await place.runs(JOB, 2);
  expect(place.sandbox.ledger().agents).toEqual({ [cpf]: 1, [other]: 1 });
  expect((await place.outbox()).map(({ state }) => state)).toEqual(['confirmed', 'confirmed']);
});

it('sends one of two codes once a person has asserted it absent, although every listing is inconclusive', async () => {
  const place = await makePushPlace();
  place.sandbox.addFault({ call: 'create-agent', fault: '502', times: 1 });
  place.sandbox.addFault({ call: 'drivers', fault: 'no-records' });
  place.drop('agents', 'a.json', [coded('A1'), coded('A2')]);
  await place.runs(JOB, 1);
  expect(await place.run(JOB)).toMatchObject({ status: 'partial', error: { code: 'inconclusive' } });
  expect(await place.outbox()).toMatchObject([{ state: 'unknown' }, { state: 'ready', attempts: 0 }]);
  await act(place.engine, await place.entry('A1'), assertAbsent, place.now());
  await place.runs(JOB, 1);
  expect(place.sandbox.ledger().agents).toEqual({ [cpf]: 1 });
  place.sandbox.clearFaults();
  await place.runs(JOB, 2);
  await expectOneAgent(place);
});
