// Every fault of the service on the call that creates, for all four kinds of push: nothing is there twice, nothing
// is lost, and every entry ends in a state that is true.
import { describe, expect, it } from 'vitest';
import { pushCases } from '../support/push-cases.ts';
import { expectTruth, nameOf, settle, WRITE_FAULTS } from '../support/push-faults.ts';
import { makePushPlace } from '../support/push-place.ts';

const REFUSALS = ['400', '404', '409', '413', '422'];

describe.each(pushCases)('$job', (kind) => {
  it.each(WRITE_FAULTS.map((fault) => [nameOf(fault), fault] as const))(
    'ends in the truth where the write meets %s',
    async (_name, fault) => {
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
