// A search that is answered and does not show what it should: it proves nothing, so nothing is sent again because
// of it. What has no witness is parked, and said so in plain words.
import { describe, expect, it } from 'vitest';
import { namedEntry, vouchAbsent } from '../../src/sync/push/outbox-orders.ts';
import { pushCases } from '../support/push-cases.ts';
import { expectTruth, HOUR_MS } from '../support/push-faults.ts';
import { makePushPlace, type PushPlace } from '../support/push-place.ts';
import { plan, pointOfInterest } from '../support/push-samples.ts';

const JOB = 'push-route-plans';
const MINUTE_MS = 60_000;

async function runHourly(place: PushPlace, job: string, hours: number): Promise<void> {
  for (let hour = 0; hour < hours; hour++) {
    await place.run(job);
    await place.clock.advance(HOUR_MS);
  }
}

describe('a search that shows nothing at all', () => {
  it.each(
    pushCases.flatMap((kind) =>
      (['before', 'after'] as const).map((when) => [kind.job, when, kind] as const),
    ),
  )('has %s send nothing again that was lost %s the commit', async (_job, when, kind) => {
    const place = await makePushPlace();
    place.sandbox.addFault({ call: kind.create, fault: `reset-${when}-commit`, times: 1 });
    place.sandbox.addFault({ call: kind.list, fault: 'no-records' });
    place.drop(kind.kind, 'a.json', kind.thing(0));
    await runHourly(place, kind.job, 2);
    expect((await place.run(kind.job)).error).toMatchObject({ code: 'search_blind' });
    const [row] = await place.outbox();
    expect(row).toMatchObject({ state: 'unknown', attempts: 1 });
    expect(row?.message).toMatch(/shows nothing at all, so it proves nothing.*--not-there/);
    place.sandbox.clearFaults();
    await runHourly(place, kind.job, 2);
    expect(await expectTruth(place, kind, 1)).toEqual(['confirmed']);
  });

  it('does not hold back a first send', async () => {
    const place = await makePushPlace();
    place.sandbox.addFault({ call: 'route-plans', fault: 'no-records' });
    place.drop('route_plans', 'a.json', plan('P1'));
    expect(await place.run(JOB)).toMatchObject({ sent: 1, confirmed: 1 });
  });

  it('is not believed either where it used to show things', async () => {
    const place = await makePushPlace();
    place.drop('route_plans', 'a.json', plan('SHOWN'));
    await place.run(JOB);
    await place.clock.advance(HOUR_MS);
    place.sandbox.addFault({ call: 'import-route-plan', fault: 'reset-after-commit', times: 1 });
    place.sandbox.addFault({ call: 'route-plans', fault: 'no-records' });
    place.drop('route_plans', 'b.json', plan('LOST'));
    await runHourly(place, JOB, 3);
    expect((await place.outbox()).map(({ state }) => state)).toEqual(['unknown', 'confirmed']);
    expect(place.sandbox.ledger().plans).toEqual({ SHOWN: 1, LOST: 1 });
  });

  it('is believed for a period without plans where a wider search shows some', async () => {
    const place = await makePushPlace();
    const far = { date_time_start: '2025-03-24T08:00:00-03:00', date_time_end: '2025-03-24T18:00:00-03:00' };
    place.sandbox.addFault({ call: 'import-route-plan', fault: 'reset-before-commit', times: 1 });
    place.drop('route_plans', 'a.json', plan('FAR', far));
    await runHourly(place, JOB, 3);
    expect(await place.outbox()).toMatchObject([{ state: 'confirmed', attempts: 2 }]);
    expect(place.sandbox.ledger().plans).toEqual({ FAR: 1 });
  });
});

describe('a search that shows other things than what was confirmed', () => {
  it('has nothing sent again', async () => {
    const place = await makePushPlace();
    place.drop('points_of_interest', 'a.json', pointOfInterest('Shown'));
    await place.run('push-points-of-interest');
    await place.clock.advance(HOUR_MS);
    place.sandbox.addFault({ call: 'create-point-of-interest', fault: 'reset-after-commit', times: 1 });
    place.sandbox.addFault({ call: 'points-of-interest', fault: 'fewer-records' });
    place.drop('points_of_interest', 'b.json', pointOfInterest('Lost'));
    await runHourly(place, 'push-points-of-interest', 3);
    const [lost] = await place.outbox();
    expect(lost).toMatchObject({ external_code: 'Lost', state: 'unknown', attempts: 1 });
    expect(lost?.message).toMatch(/none of what the service has confirmed/);
    expect(place.sandbox.ledger().points_of_interest).toEqual({ Shown: 1, Lost: 1 });
  });
});

describe('a plan that is there, though its answer was lost', () => {
  type Listed = Record<string, unknown>[];
  const isLost = ({ external_code }: Listed[number]): boolean => external_code === 'LOST';

  /** Every list of plans that the service gives passes through `spoilt`. */
  async function placeWith(spoilt: (listed: Listed, isByCode: boolean) => Listed): Promise<PushPlace> {
    const place = await makePushPlace({
      answering: async ({ pathname, searchParams }, original, { method }) => {
        if (method !== 'GET' || pathname !== '/import/route_plan') return undefined;
        const { data } = (await original()) as { data?: Listed };
        // None where the session has to be renewed first.
        return data && { body: { data: spoilt(data, searchParams.has('route_plan_code')) } };
      },
    });
    place.sandbox.addFault({ call: 'import-route-plan', fault: '502', after_commit: true, times: 1 });
    place.drop('route_plans', 'a.json', plan('LOST'));
    return place;
  }

  it('is found by its code where the search of its period shows all but it', async () => {
    const place = await placeWith((listed, isByCode) =>
      isByCode ? listed : listed.filter((record) => !isLost(record)),
    );
    await runHourly(place, JOB, 3);
    expect(place.sandbox.ledger().plans).toEqual({ LOST: 1 });
    expect(await place.outbox()).toMatchObject([{ state: 'confirmed', attempts: 1 }]);
  });

  it('is not sent again where it is listed without an identifier, and found once it has one', async () => {
    let isSpoilt = true;
    const place = await placeWith((listed) =>
      listed.map((record) => (isSpoilt && isLost(record) ? { ...record, id: undefined } : record)),
    );
    await runHourly(place, JOB, 3);
    expect(place.sandbox.ledger().plans).toEqual({ LOST: 1 });
    expect(await place.outbox()).toMatchObject([{ state: 'unknown', attempts: 1 }]);
    isSpoilt = false;
    await place.run(JOB);
    expect(await place.outbox()).toMatchObject([{ state: 'confirmed', attempts: 1 }]);
  });
});

describe('a listing without something that is known', () => {
  const POINTS = 'push-points-of-interest';
  const twoPoints = async (): Promise<PushPlace> => {
    const place = await makePushPlace();
    place.drop('points_of_interest', 'a.json', [pointOfInterest('Shop'), pointOfInterest('Other')]);
    await place.run(POINTS);
    await place.clock.advance(HOUR_MS);
    return place;
  };
  const change = (place: PushPlace): void =>
    place.drop('points_of_interest', 'b.json', pointOfInterest('Shop', { phone: '1' }));

  it.each(['no-records', 'fewer-records'] as const)('has it not created again: %s', async (fault) => {
    const place = await twoPoints();
    place.sandbox.addFault({ call: 'points-of-interest', fault, times: 2 });
    change(place);
    await place.run(POINTS);
    expect((await place.outbox())[1]).toMatchObject({ external_code: 'Shop', state: 'ready', attempts: 1 });
    await runHourly(place, POINTS, 3);
    expect(place.sandbox.ledger().points_of_interest).toEqual({ Shop: 1, Other: 1 });
    expect((await place.outbox())[1]).toMatchObject({ state: 'confirmed' });
  });

  it('has it created anew after two of them a settling time apart', async () => {
    const place = await twoPoints();
    await place.engine.write(({ sql }) =>
      sql('push_outbox').where({ external_code: 'Shop' }).update({ remote_id: 999_999 }),
    );
    place.drop('points_of_interest', 'b.json', pointOfInterest('Moved', { external_code: 'Shop' }));
    expect(await place.run(POINTS)).toMatchObject({ sent: 0 });
    await place.clock.advance(MINUTE_MS);
    expect(await place.run(POINTS)).toMatchObject({ sent: 0 });
    await place.clock.advance(2 * MINUTE_MS);
    expect(await place.run(POINTS), 'its title is looked for next').toMatchObject({ sent: 0 });
    await place.clock.advance(MINUTE_MS);
    expect(await place.run(POINTS)).toMatchObject({ sent: 1, confirmed: 1 });
    expect(place.sandbox.ledger().points_of_interest).toEqual({ Shop: 1, Other: 1, Moved: 1 });
  });

  it('has it created anew at once where a person vouches that it is gone', async () => {
    const place = await twoPoints();
    place.sandbox.addFault({ call: 'points-of-interest', fault: 'no-records' });
    change(place);
    await place.run(POINTS);
    const at = new Date(place.clock.now()).toISOString();
    await vouchAbsent(place.engine, await namedEntry(place.engine, 'Shop'), at);
    expect(await place.run(POINTS)).toMatchObject({ sent: 1, confirmed: 1 });
    expect(place.sandbox.ledger().points_of_interest).toEqual({ Shop: 2, Other: 1 });
  });
});

describe('a clock that is set forward', () => {
  it('makes no two searches a settling time apart', async () => {
    const place = await makePushPlace();
    place.sandbox.addFault({ call: 'import-route-plan', fault: 'reset-before-commit', times: 1 });
    place.drop('route_plans', 'a.json', plan('P1'));
    await place.run(JOB);
    place.clock.set(HOUR_MS);
    expect(await place.run(JOB)).toMatchObject({ sent: 0, unknown: 1 });
    await place.clock.advance(3 * MINUTE_MS);
    expect(await place.run(JOB)).toMatchObject({ sent: 1, confirmed: 1 });
  });
});
