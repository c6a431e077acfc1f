// Things that a call can change: what is told as done was done, none is created twice, and none of somebody else is changed.
import { describe, expect, it } from 'vitest';
import { vouchAbsent } from '../../src/sync/push/outbox-orders.ts';
import { makePushPlace, type PlaceOptions, type PushPlace } from '../support/push-place.ts';
import { itinerary, pointOfInterest } from '../support/push-samples.ts';

const JOB = 'push-points-of-interest';
const MINUTE = 60_000;
const BY_CODE = { match: 'external_code' };

const give = (place: PushPlace, file: string, title: string, change: object = {}): void =>
  place.drop('points_of_interest', file, [pointOfInterest(title, { external_code: 'C1', ...change })]);

async function runs(place: PushPlace, times: number, options = {}): Promise<void> {
  for (let n = 0; n < times; n++) {
    await place.run(JOB, options);
    await place.clock.advance(5 * MINUTE);
  }
}

describe('a change that did not arrive', () => {
  it.each(['403', '422'] as const)('is made when the ERP is back at it: %s', async (fault) => {
    const place = await makePushPlace();
    give(place, 'a.json', 'Shop', { phone: '1' });
    await runs(place, 2);
    place.sandbox.addFault({ call: 'change-point-of-interest', fault, times: 1 });
    give(place, 'b.json', 'Shop', { phone: '2' });
    await place.run(JOB);
    await place.clock.advance(1_000);
    give(place, 'c.json', 'Shop', { phone: '2', latitude: 500 });
    await runs(place, 2);
    give(place, 'd.json', 'Shop', { phone: '2' });
    await runs(place, 3);
    expect(place.sandbox.ledger().requests['change-point-of-interest']).toBe(2);
    expect(await place.entry('C1')).toMatchObject({ state: 'confirmed', message: null });
  });

  it('or did, is told beside what breaks the rules since', async () => {
    const place = await makePushPlace();
    give(place, 'a.json', 'Shop', { phone: '1' });
    await runs(place, 2);
    place.sandbox.addFault({ call: 'change-point-of-interest', fault: '403', after_commit: true, times: 1 });
    give(place, 'b.json', 'Shop', { phone: '2' });
    await place.run(JOB);
    await place.clock.advance(1_000);
    give(place, 'c.json', 'Shop', { phone: '3', latitude: 500 });
    await runs(place, 2);
    expect(await place.entry('C1')).toMatchObject({
      state: 'confirmed',
      message: expect.stringContaining('breaks the rules'),
      reasons: expect.stringContaining('latitude'),
    });
  });

  it('stays refused where its content is not kept any more', async () => {
    const place = await makePushPlace();
    give(place, 'a.json', 'Shop', { phone: '1' });
    await runs(place, 2);
    place.sandbox.addFault({ call: 'change-point-of-interest', fault: '422', times: 1 });
    give(place, 'b.json', 'Shop', { phone: '2' });
    await place.run(JOB);
    await place.clock.advance(8 * 24 * 60 * MINUTE);
    await place.run(JOB);
    expect(await place.entry('C1')).toMatchObject({ state: 'rejected', payload: null, is_watched: 0 });
  });
});

describe('a thing that the service took without an identifier', () => {
  const unnamed = (late: number): PlaceOptions => ({
    sandbox: { createdVisibleAfterMs: late, shapes: { created: 'empty' } } as never,
  });

  it('is found before it is changed, where it is shown late', async () => {
    const place = await makePushPlace(unnamed(90_000));
    give(place, 'a.json', 'Shop', { phone: '1' });
    await place.run(JOB);
    await place.clock.advance(MINUTE);
    give(place, 'b.json', 'Shop', { phone: '2' });
    await runs(place, 5);
    expect(place.sandbox.ledger().points_of_interest).toEqual({ Shop: 1 });
    expect(place.sandbox.ledger().requests['change-point-of-interest']).toBe(1);
  });

  it('is found by what was sent, where it gets another title', async () => {
    const place = await makePushPlace(unnamed(0));
    place.sandbox.addFault({ call: 'points-of-interest', fault: '422', skip: 1, times: 1 });
    give(place, 'a.json', 'Shop');
    await place.run(JOB);
    expect(await place.entry('C1')).toMatchObject({ state: 'confirmed', remote_id: null });
    await place.clock.advance(MINUTE);
    give(place, 'b.json', 'Shop new');
    await runs(place, 3);
    expect(place.sandbox.ledger().points_of_interest).toEqual({ Shop: 1 });
    expect(await place.entry('C1')).toMatchObject({ state: 'confirmed', remote_id: expect.any(Number) });
  });

  it('is found before it is changed, where the ERP changes it while it is sent', async () => {
    let isSent = false;
    const place: PushPlace = await makePushPlace({
      ...unnamed(90_000),
      answering: async ({ pathname }, _original, { method }) => {
        if (method !== 'POST' || !pathname.startsWith('/point_of_interest') || isSent) return undefined;
        isSent = true;
        // As another process would take it from the feed.
        await place.engine.write(({ sql }) => sql('push_outbox').update({ content_hash: 'newer' }));
        return undefined;
      },
    });
    give(place, 'a.json', 'Shop');
    await place.run(JOB);
    expect(await place.entry('C1')).toMatchObject({ state: 'unknown', is_doubtful: 1 });
    await runs(place, 5);
    expect(place.sandbox.ledger().points_of_interest).toEqual({ Shop: 1 });
  });

  it('is not created beside itself where no search shows it under its title', async () => {
    const place = await makePushPlace({
      ...unnamed(0),
      answering: async ({ pathname }, original, { method }) => {
        if (method !== 'GET' || !pathname.startsWith('/point_of_interest')) return undefined;
        return { body: JSON.parse(JSON.stringify(await original()).replaceAll('"Shop"', '"SHOP"')) };
      },
    });
    place.drop('points_of_interest', '0.json', [pointOfInterest('Other', { external_code: 'C0' })]);
    await runs(place, 2);
    give(place, 'a.json', 'Shop', { phone: '1' });
    await runs(place, 2);
    give(place, 'b.json', 'Shop', { phone: '2' });
    await runs(place, 3);
    expect(place.sandbox.ledger().points_of_interest).toEqual({ Other: 1, Shop: 1 });
    expect(await place.run(JOB)).toMatchObject({ error: { code: 'accepted_unseen' } });
    expect(await place.entry('C1')).toMatchObject({
      state: 'unknown',
      message: expect.stringContaining('not-there'),
    });
    await vouchAbsent(place.engine, await place.entry('C1'), place.now());
    await runs(place, 1);
    expect(place.sandbox.ledger().points_of_interest).toEqual({ Other: 1, Shop: 2 });
  });

  it('is an itinerary: found before it is changed', async () => {
    const place = await makePushPlace(unnamed(90_000));
    place.drop('itineraries', 'a.json', [itinerary('I1')]);
    await place.run('push-itineraries');
    await place.clock.advance(MINUTE);
    place.drop('itineraries', 'b.json', [itinerary('I1', { description: 'Other' })]);
    await place.runs('push-itineraries', 5);
    expect(place.sandbox.ledger().itineraries).toEqual({ I1: 1 });
  });

  it('is found before it is changed, where only codes count', async () => {
    const place = await makePushPlace(unnamed(90_000));
    give(place, 'a.json', 'Shop', { phone: '1' });
    await place.run(JOB, BY_CODE);
    await place.clock.advance(MINUTE);
    give(place, 'b.json', 'Shop', { phone: '2' });
    await runs(place, 4, BY_CODE);
    expect(place.sandbox.ledger().points_of_interest).toEqual({ Shop: 1 });
    expect(await place.entry('C1')).toMatchObject({ state: 'confirmed' });
  });

  it('is not taken by another code of the same title, however many lie between them', async () => {
    const place = await makePushPlace(unnamed(2 * MINUTE));
    place.drop('points_of_interest', 'a.json', [pointOfInterest('Shop', { external_code: 'Z', phone: '2' })]);
    await place.run(JOB);
    await place.clock.advance(5 * MINUTE);
    const others = Array.from({ length: 201 }, (_, n) =>
      pointOfInterest(`Other ${n}`, { external_code: `M${1_000 + n}` }),
    );
    place.drop('points_of_interest', 'b.json', [
      pointOfInterest('Shop', { external_code: 'C1', phone: '1' }),
      ...others,
    ]);
    await runs(place, 2);
    expect(place.sandbox.ledger().points_of_interest.Shop).toBe(2);
    expect((await place.entry('C1')).remote_id).not.toBe((await place.entry('Z')).remote_id);
  });
});

describe('where only codes count, a point of somebody else with the same title', () => {
  /** "Hand" is at the service, and not from here. */
  async function byHand(options: PlaceOptions = {}) {
    const place = await makePushPlace(options);
    place.drop('points_of_interest', '0.json', [
      pointOfInterest('Hand', { external_code: 'C0', phone: 'hand' }),
      pointOfInterest('Witness', { external_code: 'W' }),
    ]);
    await runs(place, 2);
    const { remote_id } = await place.entry('C0');
    await place.engine.write(({ sql }) => sql('push_outbox').where({ external_code: 'C0' }).delete());
    return { place, hand: remote_id };
  }

  it.each([0, 10])(
    'is not taken for one that was refused for it, and that a person orders (%i minutes later)',
    async (later) => {
      const { place, hand } = await byHand();
      place.sandbox.addFault({ call: 'create-point-of-interest', fault: '409', times: 1 });
      give(place, 'a.json', 'Hand', { phone: '1' });
      await place.run(JOB, BY_CODE);
      await place.clock.advance(later * MINUTE + 1_000);
      if (later > 0) await place.run(JOB, BY_CODE);
      expect(await place.entry('C1')).toMatchObject({ state: 'rejected' });
      give(place, 'b.json', 'Hand 2', { phone: '1' });
      await runs(place, 4, BY_CODE);
      expect(place.sandbox.ledger().requests['change-point-of-interest'] ?? 0).toBe(0);
      expect(await place.entry('C1')).toMatchObject({
        state: 'unknown',
        message: expect.stringContaining('nobody can tell'),
      });
      await vouchAbsent(place.engine, await place.entry('C1'), place.now());
      await runs(place, 2, BY_CODE);
      expect(place.sandbox.ledger().points_of_interest).toEqual({ Hand: 1, Witness: 1, 'Hand 2': 1 });
      expect((await place.entry('C1')).remote_id).not.toBe(hand);
    },
  );

  it('is not changed where ours was accepted without an identifier and is shown late', async () => {
    const shapes = { createdVisibleAfterMs: 90_000, shapes: { created: 'empty' } } as never;
    const { place, hand } = await byHand({ sandbox: shapes });
    place.sandbox.addFault({ call: 'points-of-interest', fault: '422', skip: 1, times: 1 });
    give(place, 'a.json', 'Hand', { phone: '1' });
    await place.run(JOB, BY_CODE);
    expect(await place.entry('C1')).toMatchObject({ state: 'confirmed', remote_id: null });
    await place.clock.advance(MINUTE);
    give(place, 'b.json', 'Hand', { phone: '2' });
    await place.run(JOB, BY_CODE);
    expect(place.sandbox.ledger().requests['change-point-of-interest'] ?? 0).toBe(0);
    expect((await place.entry('C1')).remote_id).not.toBe(hand);
  });

  it('is told from one that was sent and has arrived by its content', async () => {
    const { place, hand } = await byHand();
    place.sandbox.addFault({ call: 'create-point-of-interest', fault: 'reset-after-commit', times: 1 });
    give(place, 'a.json', 'Hand', { phone: '1' });
    await runs(place, 3, BY_CODE);
    expect(place.sandbox.ledger().points_of_interest).toEqual({ Hand: 2, Witness: 1 });
    const { state, remote_id } = await place.entry('C1');
    expect(state).toBe('confirmed');
    expect(remote_id).not.toBe(hand);
  });

  it.each([BY_CODE, { match: 'title' }])(
    'is not taken for one that a listing leaves out: %o',
    async (options) => {
      let [isHidden, own] = [false, 0];
      const { place, hand } = await byHand({
        answering: async ({ pathname }, original, { method }) => {
          if (!isHidden || method !== 'GET' || !pathname.startsWith('/point_of_interest')) return undefined;
          const body = JSON.parse(JSON.stringify(await original()), (_key, value) =>
            Array.isArray(value) ? value.filter((record) => record?.id !== own) : value,
          );
          return { body };
        },
      });
      give(place, 'a.json', 'Mine');
      await runs(place, 2, options);
      own = Number((await place.entry('C1')).remote_id);
      isHidden = true;
      give(place, 'b.json', 'Hand', { phone: '9' });
      await place.run(JOB, options);
      isHidden = false;
      await runs(place, 2, options);
      expect(await place.entry('C1')).toMatchObject({ state: 'confirmed', remote_id: own });
      expect(own).not.toBe(hand);
    },
  );
});

it('looks for one whose identifier is gone by its title before it is created anew', async () => {
  let gone = 0;
  const place = await makePushPlace({
    answering: async ({ pathname }, original, { method }) => {
      if (method !== 'GET' || !pathname.startsWith('/point_of_interest')) return undefined;
      const body = JSON.parse(JSON.stringify(await original()), (_key, value) =>
        Array.isArray(value) ? value.filter((record) => record?.id !== gone) : value,
      );
      return { body };
    },
  });
  place.drop('points_of_interest', '0.json', [
    pointOfInterest('Shop', { external_code: 'C0' }),
    pointOfInterest('Witness', { external_code: 'W' }),
  ]);
  await runs(place, 2);
  const { remote_id } = await place.entry('C0');
  await place.engine.write(({ sql }) => sql('push_outbox').where({ external_code: 'C0' }).delete());
  give(place, 'a.json', 'Old');
  await runs(place, 2);
  gone = Number((await place.entry('C1')).remote_id);
  give(place, 'b.json', 'Shop', { phone: '2' });
  await runs(place, 4);
  expect(await place.entry('C1')).toMatchObject({ state: 'confirmed', remote_id });
  expect(place.sandbox.ledger().points_of_interest).toMatchObject({ Shop: 1 });
});

it('does not search the older periods of an itinerary that has moved', async () => {
  const place = await makePushPlace();
  for (const month of ['03', '06', '09']) {
    const day = {
      date_time_start_estimated: `2025-${month}-13T08:00:00-03:00`,
      date_time_end_estimated: `2025-${month}-14T18:00:00-03:00`,
    };
    place.drop('itineraries', `${month}.json`, [itinerary('I1', day)]);
    await place.runs('push-itineraries', 2);
  }
  expect(await place.entry('I1')).toMatchObject({
    state: 'confirmed',
    period_start: '2025-09-13T11:00:00.000Z',
    period_end: '2025-09-14T21:00:00.000Z',
  });
});
