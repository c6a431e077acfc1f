// Every fault of the service on the call that creates, for all four kinds of push, and for two codes of one agent:
// nothing is created twice, nothing is lost, and every entry ends in a correct state.
import { describe, expect, it } from 'vitest';
import { FAULT_NAMES } from '../../../src/sandbox/faults/faults.ts';
import { type PushCase, pushCases } from '../../support/push/push-cases.ts';
import {
  expectTruth,
  kindsWith,
  READ_FAULTS,
  runUntilDone,
  sharedKeyFaults,
  timeoutWith,
  WRITE_FAULTS,
} from '../../support/push/push-faults.ts';
import { makePushPlace } from '../../support/push/push-place.ts';

const REJECTIONS = ['400', '404', '409', '413', '422'];

it('a push meets every fault of the sandbox except the one that only a login can meet', () => {
  const met = new Set([...WRITE_FAULTS, ...READ_FAULTS].map(({ fault }) => fault));
  expect(FAULT_NAMES.filter((name) => !met.has(name))).toEqual(['revoked-password']);
});

describe('a push', () => {
  it.each(kindsWith(WRITE_FAULTS))(
    'ends in a correct state: %s when the write meets %s',
    async (_job, _name, kind, fault) => {
      const place = await makePushPlace({ timeoutMs: timeoutWith(fault) });
      place.sandbox.addFault({ ...fault, call: kind.create, times: 1 });
      place.drop(kind.kind, 'a.json', [kind.item(0), kind.item(1)]);
      await runUntilDone(place, kind);
      const states = await expectTruth(place, kind, 2);
      const rejected = REJECTIONS.includes(fault.fault) && fault.after_commit !== true ? 1 : 0;
      expect(states.filter((state) => state === 'rejected')).toHaveLength(rejected);
    },
  );
});

describe('two codes with one CPF', () => {
  const [kind] = pushCases.filter(({ job }) => job === 'push-agents') as [PushCase];

  it.each(sharedKeyFaults)('become one agent when the first write meets %s', async (_name, fault) => {
    const place = await makePushPlace({ timeoutMs: timeoutWith(fault) });
    place.sandbox.addFault({ ...fault, call: kind.create, times: 1 });
    const codes = ['A1', 'A2'].map((external_code) => ({ ...kind.item(0), external_code }));
    place.drop(kind.kind, 'a.json', codes);
    await runUntilDone(place, kind);
    expect(place.sandbox.ledger().agents).toEqual({ [kind.name(0)]: 1 });
    expect((await place.outbox()).map(({ state }) => state)).toContain('confirmed');
  });
});
