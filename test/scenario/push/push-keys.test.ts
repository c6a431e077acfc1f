// A read-back searches for the content that was sent: neither a rename while the outcome is unknown nor a blank at the
// end of a code makes an item go out twice, and an item that somebody else created is adopted, not duplicated.
import { expect, it } from 'vitest';
import { makePushPlace, type PushPlace } from '../../support/push/push-place.ts';
import { plan, pointOfInterest } from '../../support/push/push-samples.ts';

const POINTS = 'push-points-of-interest';

const give = (place: PushPlace, file: string, title: string): void =>
  place.drop('points_of_interest', file, [pointOfInterest(title, { external_code: 'C1' })]);

it('a point that arrived is found by the title that was sent, although the ERP renamed it meanwhile', async () => {
  const place = await makePushPlace();
  place.sandbox.addFault({ call: 'create-point-of-interest', fault: 'reset-after-commit', times: 1 });
  place.sandbox.addFault({ call: 'points-of-interest', fault: '400', skip: 1, times: 2 });
  give(place, 'a.json', 'Shop');
  await place.run(POINTS);
  give(place, 'b.json', 'Shop renamed');
  await place.runs(POINTS, 3);
  expect(place.sandbox.ledger().points_of_interest).toEqual({ Shop: 1 });
  expect(place.sandbox.ledger().requests['change-point-of-interest']).toBe(1);
  expect(await place.entry('C1')).toMatchObject({ state: 'confirmed', remote_key: 'Shop renamed' });
});

it.each(['403', 'reset-before-commit'] as const)(
  'a point that did not arrive is read back by its new title before it is sent: %s',
  async (fault) => {
    const place = await makePushPlace();
    place.drop('points_of_interest', '0.json', [
      pointOfInterest('By hand', { external_code: 'C0' }),
      pointOfInterest('Control record', { external_code: 'C2' }),
    ]);
    await place.run(POINTS);
    const { remote_id } = await place.entry('C0');
    // "By hand" is at the service, and was not sent from here.
    await place.engine.write(({ sql }) => sql('push_outbox').where({ external_code: 'C0' }).delete());
    place.sandbox.addFault({ call: 'create-point-of-interest', fault, times: 1 });
    give(place, 'a.json', 'Typo');
    await place.run(POINTS);
    give(place, 'b.json', 'By hand');
    await place.runs(POINTS, 4);
    expect(place.sandbox.ledger().points_of_interest).toEqual({ 'By hand': 1, 'Control record': 1 });
    expect(await place.entry('C1')).toMatchObject({ state: 'confirmed', remote_id });
  },
);

it('a code has no surrounding blanks, in the outbox, at the service or in a read-back', async () => {
  const place = await makePushPlace();
  place.sandbox.addFault({ call: 'import-route-plan', fault: 'reset-after-commit', times: 1 });
  place.drop('route_plans', 'a.json', [plan(' P1 ')]);
  await place.runs('push-route-plans', 3);
  expect(place.sandbox.ledger().plans).toEqual({ P1: 1 });
  expect(await place.entry('P1')).toMatchObject({ state: 'confirmed' });
});
