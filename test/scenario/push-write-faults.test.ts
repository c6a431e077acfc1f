// Every fault of the service on the call that creates, by all four kinds of push: nothing is there twice, nothing is
// lost, and every entry ends in a state that is true.
import { describe, expect, it } from 'vitest';
import { expectTruth, kindsWith, settle, WRITE_FAULTS } from '../support/push-faults.ts';
import { makePushPlace } from '../support/push-place.ts';

const REFUSALS = ['400', '404', '409', '413', '422'];

describe('a push', () => {
  it.each(kindsWith(WRITE_FAULTS))(
    'ends in the truth: %s where the write meets %s',
    async (_job, _name, kind, fault) => {
      const place = await makePushPlace({ timeoutMs: fault.fault === 'hang' ? 300 : 5_000 });
      place.sandbox.addFault({ ...fault, call: kind.create, times: 1 });
      place.drop(kind.kind, 'a.json', [kind.thing(0), kind.thing(1)]);
      await settle(place, kind);
      const states = await expectTruth(place, kind, 2);
      const refused = REFUSALS.includes(fault.fault) && fault.after_commit !== true ? 1 : 0;
      expect(states.filter((state) => state === 'rejected')).toHaveLength(refused);
    },
  );
});
