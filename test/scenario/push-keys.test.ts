// What is searched for is what was sent: neither a rename while the outcome is unknown nor a blank at the end of a
// code may make a thing go out twice.
import { describe, expect, it } from 'vitest';
import { makePushPlace } from '../support/push-place.ts';
import { plan, pointOfInterest } from '../support/push-samples.ts';

const MINUTE = 60_000;

describe('the key of a thing', () => {
  it('stays the one that was sent while nobody knows whether it arrived', async () => {
    const place = await makePushPlace();
    const shop = pointOfInterest('Shop', { external_code: 'C1' });
    place.sandbox.addFault({ call: 'create-point-of-interest', fault: 'reset-after-commit', times: 1 });
    place.sandbox.addFault({ call: 'points-of-interest', fault: '400', skip: 1, times: 2 });
    place.drop('points_of_interest', 'one.json', [shop]);
    await place.run('push-points-of-interest');
    place.drop('points_of_interest', 'two.json', [{ ...shop, title: 'Shop renamed' }]);
    for (let runs = 0; runs < 6; runs++) {
      await place.clock.advance(5 * MINUTE);
      await place.run('push-points-of-interest');
    }
    const created = place.sandbox.ledger().points_of_interest;
    expect(created).toEqual({ Shop: 1 });
    expect((await place.outbox()).map(({ state }) => state)).toEqual(['confirmed']);
  });

  it('has no blanks around it, in the outbox, at the service or in a search', async () => {
    const place = await makePushPlace();
    place.sandbox.addFault({ call: 'import-route-plan', fault: 'reset-after-commit', times: 1 });
    place.drop('route_plans', 'one.json', [plan(' P1 ')]);
    for (let runs = 0; runs < 4; runs++) {
      await place.run('push-route-plans');
      await place.clock.advance(5 * MINUTE);
    }
    expect(place.sandbox.ledger().plans).toEqual({ P1: 1 });
  });
});
