// Items that a call can change: a change is made again until it is clear, none is created twice, and none that is gone
// is created anew without a person.
import { describe, expect, it } from 'vitest';
import { act, assertAbsent, retry } from '../../src/sync/push/actions.ts';
import { makePushPlace, type PlaceOptions, type PushPlace } from '../support/push-place.ts';
import { itinerary, pointOfInterest } from '../support/push-samples.ts';

const JOB = 'push-points-of-interest';
const CREATE = 'create-point-of-interest' as const;
const CHANGE = 'change-point-of-interest' as const;
const MINUTE = 60_000;

const give = (place: PushPlace, file: string, title: string, change: object = {}): void =>
  place.drop('points_of_interest', file, [pointOfInterest(title, { external_code: 'C1', ...change })]);

/** "Shop" is at the service, under the code C1. */
async function withShop(): Promise<PushPlace> {
  const place = await makePushPlace();
  give(place, 'a.json', 'Shop', { phone: '1' });
  await place.runs(JOB, 1);
  return place;
}

describe('a change', () => {
  it.each(['403', '422'] as const)('that %s kept out is made when the ERP is back at it', async (fault) => {
    const place = await withShop();
    place.sandbox.addFault({ call: CHANGE, fault, times: 1 });
    give(place, 'b.json', 'Shop', { phone: '2' });
    await place.run(JOB);
    give(place, 'c.json', 'Shop', { phone: '2', latitude: 500 });
    await place.runs(JOB, 2);
    expect(await place.entry('C1')).toMatchObject({
      state: 'rejected',
      reasons: expect.stringContaining('latitude'),
    });
    give(place, 'd.json', 'Shop', { phone: '2' });
    await place.runs(JOB, 1);
    expect(place.sandbox.ledger().requests).toMatchObject({ [CREATE]: 1, [CHANGE]: 2 });
    expect(await place.entry('C1')).toMatchObject({ state: 'confirmed', message: null, reasons: null });
  });

  it('without a clear answer is made again, without a read-back', async () => {
    const place = await withShop();
    const { seen_at, remote_id } = await place.entry('C1');
    expect(seen_at).not.toBeNull();
    place.sandbox.addFault({ call: CHANGE, fault: 'reset-after-commit', times: 1 });
    place.sandbox.addFault({ call: 'points-of-interest', fault: '400' });
    give(place, 'b.json', 'Shop', { phone: '2' });
    await place.runs(JOB, 2);
    expect(place.sandbox.ledger().requests).toMatchObject({ [CREATE]: 1, [CHANGE]: 2 });
    expect(await place.entry('C1')).toMatchObject({ state: 'confirmed', remote_id, seen_at, attempts: 3 });
  });

  it('of what is gone is rejected, and created anew only where a person says that it is not there', async () => {
    const place = await withShop();
    place.sandbox.addFault({ call: CHANGE, fault: '404', times: 2 });
    give(place, 'b.json', 'New shop', { phone: '2' });
    await place.runs(JOB, 3);
    expect(await place.entry('C1')).toMatchObject({ state: 'rejected', attempts: 2 });
    await act(place.engine, await place.entry('C1'), retry, place.now());
    await place.runs(JOB, 1);
    expect(await place.entry('C1')).toMatchObject({ state: 'rejected', attempts: 3 });
    expect(place.sandbox.ledger().requests[CREATE]).toBe(1);
    await act(place.engine, await place.entry('C1'), assertAbsent, place.now());
    await place.runs(JOB, 1);
    expect(await place.entry('C1')).toMatchObject({ state: 'confirmed' });
    expect(place.sandbox.ledger().points_of_interest).toEqual({ Shop: 1, 'New shop': 1 });
  });
});

describe('an item that the service accepted without an identifier', () => {
  const unnamed = (lateMs: number): PlaceOptions => ({
    sandbox: { createdVisibleAfterMs: lateMs, shapes: { created: 'empty' } } as never,
  });

  it.each([
    [JOB, 'points_of_interest', pointOfInterest('Shop'), { phone: '2' }, CHANGE],
    ['push-itineraries', 'itineraries', itinerary('Shop'), { description: 'Other' }, 'change-itinerary'],
  ] as const)('is changed once, when it is shown: %s', async (job, kind, item, change, call) => {
    const place = await makePushPlace(unnamed(90_000));
    place.drop(kind, 'a.json', [item]);
    await place.run(job);
    await place.clock.advance(MINUTE);
    place.drop(kind, 'b.json', [{ ...item, ...change }]);
    await place.run(job);
    const waiting = await place.entry('Shop');
    expect(waiting).toMatchObject({ state: 'confirmed', remote_id: null, payload: expect.any(String) });
    expect(waiting.content_hash).not.toBe(waiting.sent_hash);
    await place.clock.advance(MINUTE);
    await place.runs(job, 3);
    const { requests, ...ledger } = place.sandbox.ledger();
    expect(ledger[kind]).toEqual({ Shop: 1 });
    expect(requests[call]).toBe(1);
    const { content_hash, ...done } = await place.entry('Shop');
    expect(done).toMatchObject({ state: 'confirmed', sent_hash: content_hash, payload: null });
  });

  it('is found by what was sent, where the ERP gives it another title', async () => {
    const place = await makePushPlace(unnamed(0));
    place.sandbox.addFault({ call: 'points-of-interest', fault: '422', skip: 1, times: 1 });
    give(place, 'a.json', 'Shop');
    await place.run(JOB);
    expect(await place.entry('C1')).toMatchObject({ state: 'confirmed', remote_id: null });
    await place.clock.advance(MINUTE);
    give(place, 'b.json', 'Shop new');
    await place.runs(JOB, 3);
    expect(place.sandbox.ledger().points_of_interest).toEqual({ Shop: 1 });
    expect(await place.entry('C1')).toMatchObject({ state: 'confirmed', remote_key: 'Shop new' });
  });

  it('and never shows is not created beside itself, until a person says that it is not there', async () => {
    const place = await makePushPlace({
      ...unnamed(0),
      answering: async ({ pathname }, original, { method }) => {
        if (method !== 'GET' || !pathname.startsWith('/point_of_interest')) return undefined;
        return { body: JSON.parse(JSON.stringify(await original()).replaceAll('"Shop"', '"SHOP"')) };
      },
    });
    give(place, 'a.json', 'Shop', { phone: '1' });
    await place.runs(JOB, 1);
    give(place, 'b.json', 'Shop', { phone: '2' });
    await place.runs(JOB, 3);
    expect(await place.run(JOB)).toMatchObject({ status: 'partial', error: { code: 'never_shown' } });
    expect(await place.entry('C1')).toMatchObject({ state: 'confirmed', attention: 'never_shown' });
    expect(place.sandbox.ledger().points_of_interest).toEqual({ Shop: 1 });
    await act(place.engine, await place.entry('C1'), assertAbsent, place.now());
    await place.runs(JOB, 1);
    give(place, 'c.json', 'Shop', { phone: '2' });
    await place.runs(JOB, 1);
    expect(place.sandbox.ledger().points_of_interest).toEqual({ Shop: 2 });
  });
});
