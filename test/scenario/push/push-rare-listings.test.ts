// Rare cases in which push could break a promise, continued: listings that hide records, contents that cannot be sent,
// and files with unfinished items.
import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { act, cancel, retry } from '../../../src/sync/push/actions.ts';
import { HOUR_MS } from '../../support/push/push-faults.ts';
import { makePushPlace, type PushPlace } from '../../support/push/push-place.ts';
import { agent, CPFS, itinerary, plan, pointOfInterest } from '../../support/push/push-samples.ts';

const JOB = 'push-route-plans';
const POINTS = 'push-points-of-interest';
const IMPORT = 'import-route-plan';
const MINUTE = 60_000;
const on = (day: string) => ({
  date_time_start: `2025-03-${day}T08:00:00-03:00`,
  date_time_end: `2025-03-${day}T18:00:00-03:00`,
});

describe('never twice', () => {
  it('a listing that hides what the service accepted an hour ago proves no absence', async () => {
    const place = await makePushPlace();
    place.sandbox.addFault({ call: IMPORT, fault: 'reset-after-commit', times: 1 });
    place.sandbox.addFault({ call: 'route-plans', fault: 'fewer-records', skip: 1, times: 4 });
    place.drop('route_plans', 'a.json', [plan('P1'), plan('P2')]);
    for (let runs = 0; runs < 3; runs++) {
      await place.run(JOB);
      await place.clock.advance(HOUR_MS);
    }
    expect(place.sandbox.ledger().plans).toEqual({ P1: 1, P2: 1 });
  });

  /** P1 is at the service, and a person has cancelled it here. */
  async function cancelled(): Promise<PushPlace> {
    const place = await makePushPlace();
    place.drop('route_plans', 'a.json', plan('P1'));
    await place.runs(JOB, 2);
    await act(place.engine, await place.entry('P1'), cancel({ isForced: true }), place.now());
    return place;
  }

  it('a cancelled plan that the ERP offers again is read back before it is created', async () => {
    const place = await cancelled();
    place.drop('route_plans', 'b.json', plan('P1', { date_time_end: '2025-03-13T20:00:00-03:00' }));
    await place.runs(JOB, 2);
    expect(place.sandbox.ledger().plans).toEqual({ P1: 1 });
  });

  it('a cancelled plan that the ERP moves is sent once, even if the answer is lost', async () => {
    const place = await cancelled();
    place.sandbox.addFault({ call: IMPORT, fault: 'reset-after-commit', times: 1 });
    place.drop('route_plans', 'b.json', plan('P1', on('20')));
    await place.runs(JOB, 4);
    // The cancelled plan, and the one of the other day.
    expect(place.sandbox.ledger().plans).toEqual({ P1: 2 });
  });

  it('a plan that was turned away after it was created is read back on its first day, although the ERP moved it', async () => {
    const place = await makePushPlace();
    place.drop('route_plans', '0.json', plan('P0'));
    await place.runs(JOB, 2);
    place.sandbox.addFault({ call: IMPORT, fault: '403', after_commit: true, times: 1 });
    place.drop('route_plans', 'a.json', plan('P1'));
    await place.runs(JOB, 1);
    place.drop('route_plans', 'b.json', plan('P1', on('15')));
    await place.runs(JOB, 3);
    expect(place.sandbox.ledger().plans).toEqual({ P0: 1, P1: 1 });
  });

  it('a point that was turned away after it was created is read back by its title, although the ERP renamed it', async () => {
    const place = await makePushPlace();
    place.sandbox.addFault({ call: 'create-point-of-interest', fault: '429', after_commit: true, times: 1 });
    place.sandbox.addFault({ call: 'points-of-interest', fault: '503', skip: 1, times: 3 });
    place.drop('points_of_interest', 'a.json', pointOfInterest('Shop', { external_code: 'C1' }));
    await place.runs(POINTS, 1);
    place.drop('points_of_interest', 'b.json', pointOfInterest('Store', { external_code: 'C1' }));
    await place.runs(POINTS, 4);
    expect(place.sandbox.ledger().points_of_interest).toEqual({ Shop: 1 });
  });
});

describe('never lost', () => {
  it('a plan that still has to be sent is not reported as final: its file waits', async () => {
    const place = await makePushPlace();
    place.drop('route_plans', '0.json', plan('P0'));
    await place.runs(JOB, 2);
    place.sandbox.addFault({ call: IMPORT, fault: 'reset-before-commit', times: 1 });
    place.sandbox.addFault({ call: IMPORT, fault: '403', skip: 1, times: 1 });
    place.drop('route_plans', 'a.json', plan('P1'));
    await place.runs(JOB, 2);
    expect(await place.entry('P1')).toMatchObject({ state: 'ready' });
    expect(readdirSync(place.folder('route_plans'))).toContain('a.json');
  });
});

describe('never silent', () => {
  it('a change that the service never answers makes the run partial', async () => {
    const place = await makePushPlace();
    place.drop('points_of_interest', 'a.json', pointOfInterest('Shop'));
    await place.runs(POINTS, 2);
    place.sandbox.addFault({ call: 'change-point-of-interest', fault: '500' });
    place.drop('points_of_interest', 'b.json', pointOfInterest('Shop', { phone: '1' }));
    await place.run(POINTS);
    await place.clock.advance(HOUR_MS);
    const { status, sent } = await place.run(POINTS);
    expect({ status, sent }).toEqual({ status: 'partial', sent: 1 });
  });

  it('an unreadable offer is not forgotten after an inconclusive listing', async () => {
    const place = await makePushPlace();
    place.drop('route_plans', '0.json', plan('P0'));
    await place.runs(JOB, 2);
    place.sandbox.addFault({ call: IMPORT, fault: 'reset-after-commit', times: 1 });
    place.sandbox.addFault({ call: 'route-plans', fault: 'no-records', skip: 1 });
    place.drop('route_plans', 'a.json', plan('P1'));
    await place.runs(JOB, 1);
    place.drop('route_plans', 'b.json', [plan('P1'), plan('P1')]);
    await place.runs(JOB, 1);
    place.sandbox.clearFaults();
    await place.run(JOB);
    expect(await place.entry('P1')).toMatchObject({ state: 'confirmed', attention: 'read_error' });
  });

  it('an unreadable offer is not forgotten when the service shows the plan late', async () => {
    const place = await makePushPlace({ sandbox: { importVisibleAfterMs: 10 * MINUTE } });
    place.drop('route_plans', 'a.json', plan('P1'));
    await place.runs(JOB, 1);
    place.drop('route_plans', 'b.json', [plan('P1'), plan('P1')]);
    await place.runs(JOB, 6);
    expect(await place.entry('P1')).toMatchObject({ state: 'confirmed', attention: 'read_error' });
  });

  it('an invalid change is not forgotten by a retry', async () => {
    const place = await makePushPlace();
    place.drop('points_of_interest', 'a.json', pointOfInterest('Shop'));
    await place.runs(POINTS, 2);
    place.drop('points_of_interest', 'b.json', pointOfInterest('Shop', { latitude: 500 }));
    expect(await place.run(POINTS)).toMatchObject({ error: { code: 'invalid_change' } });
    const retried = act(place.engine, await place.entry('Shop'), retry, place.now());
    await expect(retried).rejects.toThrow(/cannot be sent/);
    expect(await place.run(POINTS)).toMatchObject({ status: 'partial', error: { code: 'invalid_change' } });
  });

  it('an itinerary that the service has twice is named, even if the ERP changed it meanwhile', async () => {
    const place = await makePushPlace();
    place.sandbox.addFault({ call: 'create-itinerary', fault: 'reset-after-commit', times: 1 });
    place.sandbox.addFault({ call: 'itineraries', fault: '503', skip: 1, times: 3 });
    place.drop('itineraries', 'a.json', itinerary('I1'));
    await place.run('push-itineraries');
    const truth = `${place.sandbox.url}/_sandbox/truth/itineraries?from=2025-03-13&to=2025-03-15`;
    const shown = (await (await fetch(truth)).json()) as Record<string, unknown>[];
    const again = { ...shown.find(({ external_id }) => external_id === 'I1'), id: 999_999 };
    await fetch(`${place.sandbox.url}/_sandbox/records`, {
      method: 'POST',
      body: JSON.stringify({ call: 'itineraries', records: [again] }),
    });
    place.sandbox.clearFaults();
    place.drop('itineraries', 'b.json', itinerary('I1', { description: 'Other' }));
    for (let runs = 0; runs < 3; runs++) {
      await place.run('push-itineraries');
      await place.clock.advance(HOUR_MS);
    }
    expect(await place.entry('I1')).toMatchObject({ attention: 'found_twice' });
  });

  it('a plan turned away after it was created is not reported as rejected because of later content', async () => {
    const place = await makePushPlace();
    place.sandbox.addFault({ call: IMPORT, fault: '403', after_commit: true, times: 1 });
    place.drop('route_plans', 'a.json', plan('P1'));
    await place.runs(JOB, 1);
    place.drop('route_plans', 'b.json', plan('P1', { vehicle_plate: 'bad' }));
    await place.runs(JOB, 3);
    expect(place.sandbox.ledger().plans).toEqual({ P1: 1 });
    expect(await place.entry('P1')).toMatchObject({ state: 'confirmed' });
  });
});

it('a preview shows what a run would do while a plan is being sent', async () => {
  const place = await makePushPlace();
  place.drop('route_plans', 'a.json', [plan('P1')]);
  await place.run('push-route-plans');
  // A plan is in this state while a run waits for the answer, or after its process died.
  await place.engine.write(({ sql }) => sql('push_outbox').update({ state: 'sending', payload: '{}' }));
  place.drop('route_plans', 'b.json', [plan('P1', { date_time_end: '2025-03-13T19:00:00-03:00' })]);
  expect(await place.preview('push-route-plans')).toMatchObject([{ detail: { external_code: 'P1' } }]);
});

it('an agent is not sent twice when its own list is empty, whatever the list of drivers shows', async () => {
  let isSent = false;
  const place = await makePushPlace({
    answering: ({ pathname, searchParams }, _, { method, body }) => {
      isSent ||= method === 'POST' && body.includes(CPFS[1]);
      const isListed = pathname === '/driver/' && searchParams.get('is_deliveryman') === '1';
      return isSent && isListed ? { body: { data: [] } } : undefined;
    },
  });
  place.drop('agents', 'a.json', [agent(CPFS[0], { is_deliveryman: false })]);
  await place.runs('push-agents', 2);
  place.sandbox.addFault({ call: 'create-agent', fault: '502', after_commit: true, times: 1 });
  place.drop('agents', 'b.json', [agent(CPFS[1])]);
  await place.runs('push-agents', 4);
  expect(isSent).toBe(true);
  expect(place.sandbox.ledger().agents).toEqual({ [CPFS[0]]: 1, [CPFS[1]]: 1 });
});
