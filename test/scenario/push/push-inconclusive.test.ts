// An inconclusive listing: it is answered but does not show records that exist. It proves nothing, so nothing is sent
// again because of it, and each run says so until that changes.
import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../../src/core/time/manual-clock.ts';
import { NOON } from '../../support/fleet/fleet-setup.ts';
import { pushCases } from '../../support/push/push-cases.ts';
import { expectTruth, HOUR_MS } from '../../support/push/push-faults.ts';
import { makePushPlace, type PushPlace } from '../../support/push/push-place.ts';
import { plan, pointOfInterest } from '../../support/push/push-samples.ts';

const JOB = 'push-route-plans';

async function runHourly(place: PushPlace, job: string, hours: number): Promise<void> {
  for (let hour = 0; hour < hours; hour++) {
    await place.run(job);
    await place.clock.advance(HOUR_MS);
  }
}

describe('a listing that shows nothing at all', () => {
  it.each(pushCases.flatMap((kind) => (['before', 'after'] as const).map((when) => [kind.job, when, kind] as const)))(
    'has %s send nothing again that was lost %s the commit',
    async (_job, when, kind) => {
      const place = await makePushPlace();
      place.sandbox.addFault({ call: kind.create, fault: `reset-${when}-commit`, times: 1 });
      place.sandbox.addFault({ call: kind.list, fault: 'no-records' });
      place.drop(kind.kind, 'a.json', kind.item(0));
      await runHourly(place, kind.job, 2);
      expect(await place.run(kind.job)).toMatchObject({ status: 'partial', error: { code: 'inconclusive' } });
      const [row] = await place.outbox();
      expect(row).toMatchObject({ state: 'unknown', attempts: 1, attention: 'inconclusive' });
      expect(row?.message).toMatch(/is empty, so it proves nothing.*--not-there/);
      place.sandbox.clearFaults();
      await runHourly(place, kind.job, 2);
      expect(await expectTruth(place, kind, 1)).toEqual(['confirmed']);
      expect(await place.run(kind.job)).toMatchObject({ status: 'ok', error: null });
    },
  );

  it('is accepted for a period without plans when the service shows plans of other days', async () => {
    const place = await makePushPlace();
    const far = { date_time_start: '2025-03-24T08:00:00-03:00', date_time_end: '2025-03-24T18:00:00-03:00' };
    place.sandbox.addFault({ call: 'import-route-plan', fault: 'reset-before-commit', times: 1 });
    place.drop('route_plans', 'a.json', plan('FAR', far));
    await runHourly(place, JOB, 3);
    expect(await place.outbox()).toMatchObject([{ state: 'confirmed', attempts: 2 }]);
    expect(place.sandbox.ledger().plans).toEqual({ FAR: 1 });
  });
});

it('a listing that lacks the records of earlier listings has nothing sent again', async () => {
  const place = await makePushPlace();
  place.drop('points_of_interest', 'a.json', pointOfInterest('Shown'));
  await place.run('push-points-of-interest');
  place.sandbox.addFault({ call: 'create-point-of-interest', fault: 'reset-after-commit', times: 1 });
  place.sandbox.addFault({ call: 'points-of-interest', fault: 'fewer-records' });
  place.drop('points_of_interest', 'b.json', pointOfInterest('Lost'));
  await runHourly(place, 'push-points-of-interest', 3);
  const lost = await place.entry('Lost');
  expect(lost).toMatchObject({ state: 'unknown', attempts: 1 });
  expect(lost.message).toMatch(/omits records that earlier listings showed/);
  expect(place.sandbox.ledger().points_of_interest).toEqual({ Shown: 1, Lost: 1 });
});

describe('a plan that exists although its answer was lost', () => {
  type Listed = Record<string, unknown>[];
  const isLost = ({ external_code }: Listed[number]): boolean => external_code === 'LOST';
  const spanMs = (query: URLSearchParams): number =>
    Date.parse(query.get('end_date') ?? '') - Date.parse(query.get('begin_date') ?? '');

  /** Every listing of plans passes through `alter` once LOST was sent. */
  async function placeWith(alter: (listed: Listed, spanMs: number) => Listed): Promise<PushPlace> {
    let isSent = false;
    const place = await makePushPlace({
      answering: async ({ pathname, searchParams }, original, { method, body }) => {
        if (pathname !== '/import/route_plan') return undefined;
        isSent ||= method === 'POST' && body.includes('LOST');
        if (method !== 'GET' || !isSent) return undefined;
        const { data } = (await original()) as { data?: Listed };
        // Undefined when the session has to be renewed first.
        return data && { body: { data: alter(data, spanMs(searchParams)) } };
      },
    });
    place.drop('route_plans', '0.json', plan('SHOWN'));
    await place.run(JOB);
    place.sandbox.addFault({ call: 'import-route-plan', fault: '502', after_commit: true, times: 1 });
    place.drop('route_plans', 'a.json', plan('LOST'));
    return place;
  }

  it('is found in its own narrow period when the shared listing is cut off', async () => {
    const place = await placeWith((listed, ms) => (ms > 86_400_000 ? listed.slice(0, 1) : listed));
    await runHourly(place, JOB, 3);
    expect(place.sandbox.ledger().plans).toEqual({ SHOWN: 1, LOST: 1 });
    expect(await place.entry('LOST')).toMatchObject({ state: 'confirmed', attempts: 1 });
  });

  it.each([
    ['an identifier', { id: undefined }],
    ['a period', { date_time_start: 'soon' }],
  ])('is not sent again when it is listed without %s, and is found once it has one', async (_, change) => {
    let isAltered = true;
    const place = await placeWith((listed) =>
      listed.map((record) => (isAltered && isLost(record) ? { ...record, ...change } : record)),
    );
    await runHourly(place, JOB, 3);
    expect(place.sandbox.ledger().plans).toEqual({ SHOWN: 1, LOST: 1 });
    expect(await place.entry('LOST')).toMatchObject({ state: 'unknown', attempts: 1 });
    expect((await place.run(JOB)).status).not.toBe('ok');
    isAltered = false;
    await place.run(JOB);
    expect(await place.entry('LOST')).toMatchObject({ state: 'confirmed', attempts: 1 });
  });
});

it('a clock that is set forward does not put two listings a settling time apart', async () => {
  const service = createManualClock(NOON);
  const place = await makePushPlace({ sandbox: { clock: service } });
  place.sandbox.addFault({ call: 'import-route-plan', fault: 'reset-before-commit', times: 1 });
  place.drop('route_plans', 'a.json', plan('P1'));
  await place.run(JOB);
  place.clock.set(HOUR_MS);
  expect(await place.run(JOB)).toMatchObject({ sent: 0, unknown: 1 });
  for (const clock of [place.clock, service]) await clock.advance(300_000);
  expect(await place.run(JOB)).toMatchObject({ sent: 1, confirmed: 1 });
});
