// A listing that the service does not answer holds up only the entries that wait for it, and their history says so.
import { expect, it } from 'vitest';
import { makePushPlace, type PlaceOptions, type PushPlace } from '../../support/push/push-place.ts';
import { plan } from '../../support/push/push-samples.ts';

const JOB = 'push-route-plans';
const CALL = 'import-route-plan' as const;
const DAY_MS = 86_400_000;

const on = (from: string, to = from) => ({
  date_time_start: `2025-${from}T08:00:00-03:00`,
  date_time_end: `2025-${to}T18:00:00-03:00`,
});

const readBacks = async (place: PushPlace, code: string): Promise<(string | null)[]> =>
  (await place.story(code)).filter(({ what }) => what === 'read-back').map(({ outcome }) => outcome);

/** Listings of such periods are answered by the status. */
const rejecting = (status: number, isRejected: (start: Date, spanMs: number) => boolean): PlaceOptions => ({
  answering: ({ searchParams }, _original, { method }) => {
    const [from, to] = [searchParams.get('begin_date'), searchParams.get('end_date')];
    if (method !== 'GET' || from === null || to === null) return undefined;
    return isRejected(new Date(from), Date.parse(to) - Date.parse(from)) ? { status, body: {} } : undefined;
  },
});

it.each([500, 422])('plans of other days are sent when the listing of one day is answered by %i', async (status) => {
  let isRejecting = false;
  const place = await makePushPlace(rejecting(status, (start) => isRejecting && start.getUTCDate() < 20));
  place.sandbox.addFault({ call: CALL, fault: 'reset-after-commit', times: 1 });
  place.sandbox.addFault({ call: 'route-plans', fault: '400', skip: 1, times: 1 });
  place.drop('route_plans', 'a.json', plan('P1'));
  await place.runs(JOB, 1);
  isRejecting = true;
  place.drop('route_plans', 'b.json', [plan('P2'), plan('P3', on('03-25'))]);
  expect(await place.run(JOB)).toMatchObject({ status: 'partial', sent: 1 });
  expect(place.sandbox.ledger().plans).toEqual({ P1: 1, P3: 1 });
  expect(await readBacks(place, 'P1')).toEqual(['unreadable']);
  isRejecting = false;
  await place.run(JOB);
  expect(place.sandbox.ledger().plans).toEqual({ P1: 1, P2: 1, P3: 1 });
  expect(await readBacks(place, 'P1')).toEqual(['unreadable', 'found']);
});

it('a plan of a day is sent when the service answers for no longer period', async () => {
  const place = await makePushPlace(rejecting(422, (_, spanMs) => spanMs > 10 * DAY_MS));
  place.drop('route_plans', 'a.json', [plan('LONG', on('03-13', '04-25')), plan('DAY', on('03-20'))]);
  expect(await place.run(JOB)).toMatchObject({ status: 'partial', sent: 1, confirmed: 1 });
  expect(place.sandbox.ledger().plans).toEqual({ DAY: 1 });
});

it.each([500, 400, 403])('other plans are sent when a control listing is answered by %i', async (status) => {
  const place = await makePushPlace(rejecting(status, (_, spanMs) => spanMs > 10 * DAY_MS));
  place.sandbox.addFault({ call: CALL, fault: 'reset-before-commit', times: 1 });
  place.drop('route_plans', 'a.json', plan('P1', on('06-13')));
  await place.runs(JOB, 1);
  place.drop('route_plans', 'b.json', [plan('P2', on('06-13')), plan('P3', on('06-13'))]);
  await place.runs(JOB, 1);
  expect(place.sandbox.ledger().plans).toEqual({ P2: 1, P3: 1 });
  expect(await readBacks(place, 'P1')).toContain('inconclusive');
  await place.runs(JOB, 3);
  expect(place.sandbox.ledger().plans).toEqual({ P1: 1, P2: 1, P3: 1 });
});

it('a listing that fails once does not restart the wait', async () => {
  const place = await makePushPlace();
  place.sandbox.addFault({ call: CALL, fault: 'reset-before-commit', times: 1 });
  place.drop('route_plans', 'a.json', plan('P1'));
  await place.run(JOB);
  await place.clock.advance(180_000);
  place.sandbox.addFault({ call: 'route-plans', fault: '400', times: 1 });
  expect(await place.run(JOB)).toMatchObject({ sent: 0, unknown: 1 });
  await place.clock.advance(70_000);
  expect(await place.run(JOB)).toMatchObject({ sent: 1, confirmed: 1 });
  expect(await readBacks(place, 'P1')).toEqual(['absent', 'unreadable', 'absent']);
});
