// Items that a call can change: a change is repeated until its outcome is clear, no item is created twice, and no
// vanished item is created again without a person.
import { describe, expect, it } from 'vitest';
import { act, assertAbsent, retry } from '../../../src/sync/push/actions.ts';
import { makePushPlace, type PlaceOptions, type PushPlace } from '../../support/push/push-place.ts';
import { itinerary, pointOfInterest } from '../../support/push/push-samples.ts';

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
  it.each(['403', '422'] as const)('that %s kept out is made when the ERP offers it again', async (fault) => {
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

  it('of a vanished item is rejected, and the item is created again only after a person asserts it absent', async () => {
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
  ] as const)('is changed once, when a listing shows it: %s', async (job, kind, item, change, call) => {
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

  it('is found by the title that was sent, when the ERP gives it another title', async () => {
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

  it('and never appears is not created a second time until a person asserts it absent', async () => {
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
