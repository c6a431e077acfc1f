// The priority of calls: those of a push go first, and calls for history wait for the others, in a first run and in a
// backfill.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PRIORITY } from '../../../src/core/rate/rate.ts';
import type { Fleet } from '../../../src/fleet/client.ts';
import { makeRig, type Rig } from '../../support/pull/rig.ts';
import { makePushPlace } from '../../support/push/push-place.ts';
import { plan } from '../../support/push/push-samples.ts';

const NOON = '2026-03-11T15:00:00Z';
const YESTERDAY = '2026-03-10T15:00:00.000Z';

interface Sent {
  name: string;
  /** End of the requested period. */
  until: string;
  priority: number | undefined;
}

let rig: Rig;
let sent: Sent[];

beforeEach(async () => {
  rig = await makeRig({ startAt: NOON, sandbox: { vehicles: 3 } });
  await rig.run('pull-vehicles');
  await rig.run('pull-drivers');
  const { call } = rig.dependencies.fleet;
  sent = [];
  const noted: Fleet['call'] = (endpoint, request, context) => {
    const { end_date = '', date_time_end = end_date } = request as Record<string, string>;
    sent.push({ name: endpoint.name, until: date_time_end, priority: context?.priority });
    return call(endpoint, request, context);
  };
  Object.assign(rig.dependencies, { fleet: { ...rig.dependencies.fleet, call: noted } });
});
afterEach(() => rig.close());

/** `live` or `history` of each call, in the order of the calls. */
const words = () => sent.map(({ priority }) => Object.entries(PRIORITY).find(([, number]) => number === priority)?.[0]);

describe('a first run', () => {
  it('reads periods that ended more than a day ago as history, after the rest', async () => {
    expect(await rig.run('pull-daily-summaries', { since: '5d' })).toMatchObject({ status: 'ok' });
    const expected = sent.map(({ until }) => (until < YESTERDAY ? 'history' : 'live'));
    expect(words()).toEqual(expected);
    expect(expected.filter((word) => word === 'live')).toHaveLength(4);
    expect(expected.indexOf('history')).toBe(4);
    expect(expected.length).toBeGreaterThan(10);
  });

  it('reads the days of history one after the other for all vehicles, so that none seems complete before it is', async () => {
    await rig.run('pull-daily-summaries', { since: '5d' });
    const days = sent.filter(({ priority }) => priority === PRIORITY.history).map(({ until }) => until);
    expect(new Set(days).size).toBeGreaterThan(2);
    expect(days).toEqual(days.toSorted());
  });

  it('reads a listing, and a period that reaches up to now, as live', async () => {
    await rig.run('pull-points-of-interest');
    await rig.run('pull-itineraries');
    expect(new Set(words())).toEqual(new Set(['live']));
    expect(sent.length).toBeGreaterThan(1);
  });
});

describe('a backfill', () => {
  it('is history up to its end', async () => {
    const period = {
      beginAt: '2026-03-10T03:00:00.000Z',
      endAt: '2026-03-11T12:00:00.000Z',
      resumable: true,
    };
    await rig.run('pull-daily-summaries', {}, period);
    expect(new Set(words())).toEqual(new Set(['history']));
    expect(sent.length).toBeGreaterThan(1);
  });
});

describe('a push beside first fills, at one request a second', () => {
  const FILLS = ['pull-daily-summaries', 'pull-events', 'pull-checklists'];

  it('goes before the calls of pulls that wait', async () => {
    const arrived: string[] = [];
    const fillsRun = Promise.withResolvers<void>();
    const place = await makePushPlace({
      perMinute: 60,
      sandbox: { vehicles: 6 },
      answering: (url, _, { method }) => {
        arrived.push(`${method} ${url.pathname}`);
        if (arrived.length === 40) fillsRun.resolve();
        return undefined;
      },
    });
    await place.run('pull-vehicles');
    await place.run('pull-drivers');
    const fills = FILLS.map((job) => place.run(job, { since: '30d' }));
    await fillsRun.promise;
    place.drop('route_plans', 'a.json', plan('P1'));
    expect(await place.run('push-route-plans')).toMatchObject({ status: 'ok', confirmed: 1 });
    const [first = 0, sent = 0] = ['GET', 'POST'].map((method) => arrived.indexOf(`${method} /import/route_plan`));
    for (const summary of await Promise.all(fills)) expect(summary).toMatchObject({ status: 'ok' });
    // The calls that had started, or held a permit, when the push asked. In order of arrival there would be 30 between its two.
    expect(first).toBeLessThan(60);
    expect(sent - first).toBeLessThanOrEqual(5);
    expect(arrived.length).toBeGreaterThan(400);
  });
});
