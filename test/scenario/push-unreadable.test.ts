// Questions about one plan that the service does not answer: no other plan waits for them, and the story of the one tells.
import { expect, it } from 'vitest';
import { makePushPlace, type PushPlace } from '../support/push-place.ts';
import { plan } from '../support/push-samples.ts';

const JOB = 'push-route-plans';
const CALL = 'import-route-plan';
const MINUTE = 60_000;
const DAY = 86_400_000;

const on = (day: string) => ({
  date_time_start: `2025-${day}T08:00:00-03:00`,
  date_time_end: `2025-${day}T18:00:00-03:00`,
});

async function readings(place: PushPlace, code: string): Promise<(string | null)[]> {
  const story = await place.story(code);
  return story.filter(({ what }) => what === 'read-back').map(({ outcome }) => outcome);
}

it.each([500, 403])('a search by code that is answered by %i', async (status) => {
  const place = await makePushPlace({
    answering: ({ searchParams }) =>
      searchParams.get('route_plan_code') === 'P1' ? { status, body: {} } : undefined,
  });
  place.drop('route_plans', '0.json', plan('P0'));
  await place.runs(JOB, 2);
  place.sandbox.addFault({ call: CALL, fault: '403', times: 1 });
  place.drop('route_plans', 'a.json', plan('P1'));
  await place.runs(JOB, 1);
  place.drop('route_plans', 'b.json', [plan('P2'), plan('P3', on('03-25'))]);
  await place.runs(JOB, 2);
  expect(place.sandbox.ledger().plans).toEqual({ P0: 1, P2: 1, P3: 1 });
  expect(await readings(place, 'P1')).toContain('unreadable');
});

it.each([500, 400, 403])('a control search that is answered by %i', async (status) => {
  const place = await makePushPlace({
    answering: ({ searchParams }, _original, { method }) => {
      const [from, to] = [searchParams.get('begin_date'), searchParams.get('end_date')];
      const isLong = from !== null && to !== null && Date.parse(to) - Date.parse(from) > 10 * DAY;
      return method === 'GET' && isLong ? { status, body: {} } : undefined;
    },
  });
  place.sandbox.addFault({ call: CALL, fault: 'reset-before-commit', times: 1 });
  place.drop('route_plans', 'a.json', plan('P1', on('06-13')));
  await place.run(JOB);
  await place.clock.advance(5 * MINUTE);
  place.drop('route_plans', 'b.json', [plan('P2', on('06-13')), plan('P3', on('06-13'))]);
  await place.runs(JOB, 1);
  expect(await readings(place, 'P1')).toContain('unreadable');
  await place.runs(JOB, 4);
  expect(place.sandbox.ledger().plans).toEqual({ P1: 1, P2: 1, P3: 1 });
});

it('one that fails once does not have the wait begin anew', async () => {
  let failures = 0;
  const place = await makePushPlace({
    answering: ({ searchParams }) =>
      searchParams.get('route_plan_code') === 'P1' && failures++ < 1 ? { status: 403, body: {} } : undefined,
  });
  place.drop('route_plans', '0.json', plan('P0'));
  await place.runs(JOB, 2);
  place.sandbox.addFault({ call: CALL, fault: 'reset-before-commit', times: 1 });
  place.drop('route_plans', 'a.json', plan('P1'));
  await place.runs(JOB, 3);
  expect(await readings(place, 'P1')).toContain('unreadable');
  await place.runs(JOB, 1);
  expect(place.sandbox.ledger().plans).toEqual({ P0: 1, P1: 1 });
});
