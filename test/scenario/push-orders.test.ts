// What a person may order where Roadbook must not decide: to send what no search can find, and to take again what
// was given up.
import { describe, expect, it } from 'vitest';
import { cancelEntry, namedEntry, retryEntry, vouchAbsent } from '../../src/sync/push/outbox-orders.ts';
import { noteEntry, type OutboxEntry } from '../../src/warehouse/outbox-entry.ts';
import { HOUR_MS } from '../support/push-faults.ts';
import { makePushPlace, type PushPlace } from '../support/push-place.ts';
import { plan } from '../support/push-samples.ts';

const JOB = 'push-route-plans';
const entryOf = (place: PushPlace) => namedEntry(place.engine, 'P1');
const nowIn = (place: PushPlace): string => new Date(place.clock.now()).toISOString();
const story = (place: PushPlace) =>
  place.engine.read((sql) => sql('push_attempt').where({ what: 'order' }).select('outcome', 'run_id'));

describe('a plan that is lost at every send', () => {
  it('is parked after five of them, and sent again when a person vouches for it', async () => {
    const place = await makePushPlace();
    place.sandbox.addFault({ call: 'import-route-plan', fault: 'reset-before-commit' });
    place.drop('route_plans', 'a.json', plan('P1'));
    for (let hours = 0; hours < 20; hours++) {
      await place.run(JOB);
      await place.clock.advance(HOUR_MS);
    }
    expect((await place.run(JOB)).error).toMatchObject({ code: 'resend_limit' });
    expect(place.sandbox.ledger().requests['import-route-plan']).toBe(5);
    const parked = await entryOf(place);
    expect(parked).toMatchObject({ state: 'unknown', attempts: 5 });
    expect(parked.message).toMatch(/Sent 5 times without a clear answer/);
    place.sandbox.clearFaults();
    await vouchAbsent(place.engine, parked, nowIn(place));
    expect(await story(place)).toEqual([{ outcome: 'vouched', run_id: null }]);
    expect(await place.run(JOB)).toMatchObject({ sent: 1, confirmed: 1 });
    expect(place.sandbox.ledger().plans).toEqual({ P1: 1 });
  });
});

describe('a plan that no search can find', () => {
  it.each([true, false])('is sent when a person vouches for it (check_before_send %s)', async (check) => {
    const place = await makePushPlace();
    place.sandbox.addFault({ call: 'import-route-plan', fault: 'reset-before-commit', times: 1 });
    place.sandbox.addFault({ call: 'route-plans', fault: 'no-records' });
    place.drop('route_plans', 'a.json', plan('P1'));
    const options = { check_before_send: check };
    await place.run(JOB, options);
    await vouchAbsent(place.engine, await entryOf(place), nowIn(place));
    expect(await place.run(JOB, options)).toMatchObject({ sent: 1, confirmed: 1 });
    expect(place.sandbox.ledger().plans).toEqual({ P1: 1 });
  });

  it('cannot be vouched for once it is found', async () => {
    const place = await makePushPlace();
    place.drop('route_plans', 'a.json', plan('P1'));
    await place.run(JOB);
    const vouched = vouchAbsent(place.engine, await entryOf(place), nowIn(place));
    await expect(vouched).rejects.toThrow(/confirmed: there is nothing to vouch for/);
  });
});

describe('a plan that was cancelled', () => {
  it('is sent with the same content once it is retried and the ERP gives it again', async () => {
    const place = await makePushPlace();
    place.sandbox.addFault({ call: 'import-route-plan', fault: '403' });
    place.drop('route_plans', 'a.json', plan('P1'));
    await place.run(JOB);
    place.sandbox.clearFaults();
    const cancelled = cancelEntry(place.engine, await entryOf(place), nowIn(place), false);
    await expect(cancelled).rejects.toThrow(/may be at the service/);
    await cancelEntry(place.engine, await entryOf(place), nowIn(place), true);
    await place.run(JOB);
    place.drop('route_plans', 'b.json', plan('P1'));
    await place.clock.advance(HOUR_MS);
    expect(await place.run(JOB)).toMatchObject({ sent: 0, unchanged: 1 });
    const { words } = await retryEntry(place.engine, await entryOf(place), nowIn(place));
    expect(words).toMatch(/let the ERP give it/);
    expect(await story(place)).toEqual([{ outcome: 'revived', run_id: null }]);
    expect(await place.run(JOB)).toMatchObject({ sent: 0 });
    place.drop('route_plans', 'c.json', plan('P1'));
    expect(await place.run(JOB)).toMatchObject({ sent: 1, confirmed: 1 });
    expect(place.sandbox.ledger().plans).toEqual({ P1: 1 });
  });

  it('is not sent twice where it had arrived before it was given up', async () => {
    const place = await makePushPlace();
    place.sandbox.addFault({ call: 'import-route-plan', fault: 'reset-after-commit', times: 1 });
    place.sandbox.addFault({ call: 'route-plans', fault: '400', times: 1 });
    place.drop('route_plans', 'a.json', plan('P1'));
    await place.run(JOB, { check_before_send: false });
    await cancelEntry(place.engine, await entryOf(place), nowIn(place), true);
    await retryEntry(place.engine, await entryOf(place), nowIn(place));
    place.drop('route_plans', 'b.json', plan('P1'));
    expect(await place.run(JOB, { check_before_send: false })).toMatchObject({ sent: 0, confirmed: 1 });
    expect(place.sandbox.ledger().plans).toEqual({ P1: 1 });
  });
});

describe('an order for an entry that has changed since it was shown', () => {
  it.each<[string, string, (place: PushPlace, entry: OutboxEntry) => Promise<unknown>]>([
    ['retry', '422', (place, entry) => retryEntry(place.engine, entry, nowIn(place))],
    ['retry', '403', (place, entry) => retryEntry(place.engine, entry, nowIn(place))],
    ['--not-there', '403', (place, entry) => vouchAbsent(place.engine, entry, nowIn(place))],
    ['cancel', '403', (place, entry) => cancelEntry(place.engine, entry, nowIn(place), true)],
  ])('is refused: %s after %s', async (_, fault, order) => {
    const place = await makePushPlace();
    place.sandbox.addFault({ call: 'import-route-plan', fault: fault as '403', times: 1 });
    place.drop('route_plans', 'a.json', plan('P1'));
    await place.run(JOB);
    const shown = await entryOf(place);
    await place.engine.write((tx) => noteEntry(tx, shown, { message: 'newer' }));
    await expect(order(place, shown)).rejects.toThrow(/has changed in this moment/);
    expect(await entryOf(place)).toMatchObject({ state: shown.state, message: 'newer' });
  });
});
