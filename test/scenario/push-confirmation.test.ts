// What is stored of a thing once it is known that the service has it: by its answer, or because it was found there.
import { describe, expect, it } from 'vitest';
import { makePushPlace, type PlaceOptions } from '../support/push-place.ts';
import { agent, CPFS, plan, pointOfInterest } from '../support/push-samples.ts';

const MINUTE = 60_000;
const PLANS = 'push-route-plans';
const POINTS = 'push-points-of-interest';
const CHANGED = { date_time_end: '2025-03-13T19:00:00-03:00' };

/** A plan that arrived, of which the answer was lost and no search was answered yet. */
async function withLostPlan(options: Record<string, unknown> = {}, of: PlaceOptions = {}) {
  const place = await makePushPlace(of);
  place.sandbox.addFault({ call: 'import-route-plan', fault: 'reset-after-commit', times: 1 });
  place.sandbox.addFault({ call: 'route-plans', fault: '400', skip: 1, times: 1 });
  place.drop('route_plans', 'a.json', plan('P1', { options }));
  await place.run(PLANS);
  expect(await place.outbox()).toMatchObject([{ state: 'unknown', seen_at: null }]);
  await place.clock.advance(MINUTE);
  return place;
}

describe('a plan that is found', () => {
  it.each([
    [true, 'W', true],
    [true, 'R', true],
    [true, 'P', false],
    [true, null, false],
    [false, 'W', false],
  ])('optimised afterwards: %s, in status %s, is watched: %s', async (is_async, status, isWatched) => {
    // Shown once: another search of the same run would tell what is awaited in its own way.
    const shown = { isLost: false, times: 0 };
    const place = await withLostPlan(
      { optimize: true, is_async },
      {
        answering: async ({ pathname }, original, { method }) => {
          if (!shown.isLost || method !== 'GET' || !pathname.includes('route_plan')) return undefined;
          if (++shown.times > 1) return { status: 400, body: {} };
          return { body: withStatus(await original(), status) };
        },
      },
    );
    shown.isLost = true;
    const at = place.now();
    expect(await place.run(PLANS)).toMatchObject({ confirmed: 1, sent: 0 });
    const [entry] = await place.outbox();
    expect(entry).toMatchObject({ state: 'confirmed', remote_status: status, seen_at: at, reasons: null });
    expect(Boolean(entry?.is_watched)).toBe(isWatched);
    expect(place.sandbox.ledger().plans).toEqual({ P1: 1 });
  });

  it.each([
    ['flag', 1, expect.stringContaining('changed it after the service had it')],
    ['ignore', 0, null],
  ])('and was changed meanwhile: %s', async (after_confirmation, changed_after_push, message) => {
    const place = await withLostPlan({ optimize: false, geocoding: false });
    place.drop('route_plans', 'b.json', plan('P1', CHANGED));
    expect(await place.run(PLANS, { after_confirmation })).toMatchObject({ confirmed: 1, sent: 0 });
    expect(await place.outbox()).toMatchObject([{ state: 'confirmed', changed_after_push, message }]);
  });
});

it('an agent is not awaited, whatever its status and the options of its feed', async () => {
  const place = await makePushPlace({
    feedOptions: { is_async: true },
    answering: async ({ pathname }, original, { method }) =>
      method === 'GET' && pathname.includes('driver')
        ? { body: withStatus(await original(), 'W') }
        : undefined,
  });
  place.drop('agents', 'a.json', [agent(CPFS[0])]);
  expect(await place.run('push-agents')).toMatchObject({ status: 'ok', confirmed: 1 });
  const [entry] = await place.outbox();
  expect(entry).toMatchObject({ state: 'confirmed', is_async: 1, remote_status: 'W', is_watched: 0 });
});

/** A listing whose records have this status. */
const withStatus = (listing: unknown, status: string | null): unknown =>
  JSON.parse(JSON.stringify(listing), (_key, value) =>
    typeof value === 'object' && value !== null && 'id' in value && 'status' in value
      ? { ...value, status }
      : value,
  );

describe('a point that can be changed', () => {
  it('is changed by the next run where the ERP changed it while it was on its way', async () => {
    let isNewer = false;
    const place = await makePushPlace({
      answering: async (_url, _original, { method, body }) => {
        if (method !== 'POST' || !body.includes('Shop') || isNewer) return undefined;
        isNewer = true;
        const [{ payload } = { payload: '' }] = await place.outbox();
        const changed = { content_hash: 'newer', payload: payload?.replace('11 5555', '11 6666') };
        await place.engine.write(({ sql }) => sql('push_outbox').update(changed));
        return undefined;
      },
    });
    place.drop('points_of_interest', 'a.json', pointOfInterest('Shop', { phone: '11 5555' }));
    expect(await place.run(POINTS)).toMatchObject({ sent: 1, confirmed: 0 });
    expect(await place.outbox()).toMatchObject([
      { state: 'ready', content_hash: 'newer', remote_id: expect.any(Number), message: null },
    ]);
    expect(await place.run(POINTS)).toMatchObject({ status: 'ok', sent: 1, confirmed: 1 });
    const { requests, points_of_interest } = place.sandbox.ledger();
    expect(points_of_interest).toEqual({ Shop: 1 });
    expect(requests).toMatchObject({ 'create-point-of-interest': 1, 'change-point-of-interest': 1 });
    expect(await place.outbox()).toMatchObject([
      { state: 'confirmed', content_hash: 'newer', sent_hash: 'newer', changed_after_push: 0 },
    ]);
  });

  it('keeps the instant at which a search first showed it', async () => {
    const place = await makePushPlace();
    place.drop('points_of_interest', 'a.json', pointOfInterest('Shop'));
    await place.run(POINTS);
    const [first] = await place.outbox();
    expect(first?.seen_at).toEqual(expect.any(String));
    await place.clock.advance(MINUTE);
    place.sandbox.addFault({ call: 'change-point-of-interest', fault: 'reset-after-commit', times: 1 });
    place.drop('points_of_interest', 'b.json', pointOfInterest('Shop', { phone: '11 5555' }));
    for (let runs = 0; runs < 2; runs++) {
      await place.run(POINTS);
      await place.clock.advance(MINUTE);
    }
    expect(await place.outbox()).toMatchObject([
      { state: 'confirmed', seen_at: first?.seen_at, unclear_sends: 0, attempts: 2 },
    ]);
  });

  it('is one for each code, also where two that arrive together have one title', async () => {
    const place = await makePushPlace();
    const codes = ['C1', 'C2'];
    place.drop(
      'points_of_interest',
      'a.json',
      codes.map((external_code) => pointOfInterest('Shop', { external_code })),
    );
    expect(await place.run(POINTS)).toMatchObject({ status: 'ok', sent: 2, confirmed: 2 });
    expect(place.sandbox.ledger().points_of_interest).toEqual({ Shop: 2 });
  });
});
