// A write whose answer was lost, and a service that cannot be read back, or not yet: the entry stays unknown and
// visible, and is sent again only after two read-backs, twice the settling time apart, did not show it.
import { describe, expect, it } from 'vitest';
import { type PushCase, pushCases } from '../../support/push/push-cases.ts';
import {
  expectTruth,
  HOUR_MS,
  kindsWith,
  READ_FAULTS,
  runUntilDone,
  timeoutWith,
} from '../../support/push/push-faults.ts';
import { makePushPlace } from '../../support/push/push-place.ts';

const SETTLE_MS = 120_000;
const plans = pushCases[0] as PushCase;

describe('a write whose answer was lost', () => {
  it.each(kindsWith(READ_FAULTS))(
    'is not sent twice by %s when its read-back meets %s',
    async (_job, _name, kind, fault) => {
      const place = await makePushPlace({ timeoutMs: timeoutWith(fault) });
      place.sandbox.addFault({ call: kind.create, fault: 'reset-after-commit', times: 1 });
      place.sandbox.addFault({ ...fault, call: kind.list, skip: kind.readsPerSearch, times: 4 });
      place.drop(kind.kind, 'a.json', [kind.item(0), kind.item(1)]);
      await runUntilDone(place, kind);
      expect(await expectTruth(place, kind, 2)).toEqual(['confirmed', 'confirmed']);
    },
  );

  it.each(pushCases)('stays unknown while $job cannot read it back, and is confirmed when it can', async (kind) => {
    const place = await makePushPlace();
    place.sandbox.addFault({ call: kind.create, fault: 'reset-after-commit', times: 1 });
    place.sandbox.addFault({ call: kind.list, fault: '500', skip: kind.readsPerSearch });
    place.drop(kind.kind, 'a.json', kind.item(0));
    for (let hours = 0; hours < 4; hours++) {
      expect(await place.run(kind.job)).toMatchObject({ unknown: 1 });
      await place.clock.advance(HOUR_MS);
    }
    expect((await place.outbox())[0]).toMatchObject({ state: 'unknown', attempts: 1 });
    place.sandbox.clearFaults();
    expect(await place.run(kind.job)).toMatchObject({ sent: 0, confirmed: 1, unknown: 0 });
    expect(await expectTruth(place, kind, 1)).toEqual(['confirmed']);
  });
});

describe('a write that never arrived', () => {
  it.each(pushCases)('is sent again by $job only after two read-backs, twice the settling time apart', async (kind) => {
    const place = await makePushPlace();
    place.sandbox.addFault({ call: kind.create, fault: 'reset-before-commit', times: 1 });
    place.drop(kind.kind, 'a.json', kind.item(0));
    await place.run(kind.job);
    expect((await place.outbox())[0]).toMatchObject({ state: 'unknown' });
    await place.clock.advance(2 * SETTLE_MS - 1_000);
    expect(await place.run(kind.job)).toMatchObject({ sent: 0, unknown: 1 });
    await place.clock.advance(2_000);
    expect(await place.run(kind.job)).toMatchObject({ sent: 1, confirmed: 1, unknown: 0 });
    expect(await expectTruth(place, kind, 1)).toEqual(['confirmed']);
  });
});

describe('a service that shows a new plan late', () => {
  it.each([10_000, 2 * SETTLE_MS - 1_000])('is not sent a lost plan twice when that takes %i ms', async (lateMs) => {
    const place = await makePushPlace({ sandbox: { importVisibleAfterMs: lateMs } });
    place.sandbox.addFault({ call: plans.create, fault: 'reset-after-commit' });
    place.drop(plans.kind, 'a.json', [plans.item(0), plans.item(1)]);
    for (let seconds = 0; seconds < 600; seconds += 15) {
      await place.run(plans.job);
      await place.clock.advance(15_000);
    }
    expect(await expectTruth(place, plans, 2)).toEqual(['confirmed', 'confirmed']);
  });
});
