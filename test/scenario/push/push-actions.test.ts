// The actions that a person may take where Roadbook must not decide: send an entry that no listing can show, retry a
// cancelled one, and act on many entries at once. No action sends anything by itself.
import { describe, expect, it } from 'vitest';
import {
  type Action,
  act,
  actOnMany,
  assertAbsent,
  cancel,
  namedEntry,
  retry,
} from '../../../src/sync/push/actions.ts';
import { isChangedAfterPush, type OutboxEntry } from '../../../src/warehouse/outbox/entry.ts';
import { newEntry, storeEntries, transition } from '../../../src/warehouse/outbox/transitions.ts';
import { HOUR_MS } from '../../support/push/push-faults.ts';
import { makePushPlace, type PushPlace } from '../../support/push/push-place.ts';
import { agent, CPFS, plan, plans } from '../../support/push/push-samples.ts';

const JOB = 'push-route-plans';
const CALL = 'import-route-plan' as const;
const DAY_MS = 24 * HOUR_MS;
const FORCED = cancel({ isForced: true });
const entryOf = (place: PushPlace, code = 'P1') => namedEntry(place.engine, { code });
const actOn = async (place: PushPlace, action: Action): Promise<string> =>
  act(place.engine, await entryOf(place), action, place.now());
const actionsOf = async (place: PushPlace): Promise<(string | null)[]> =>
  (await place.story('P1')).filter(({ what }) => what === 'action').map(({ outcome }) => outcome);

/** P1 was offered and its first send met the fault. */
async function sentWith(fault: '403' | '422' | 'reset-before-commit' | 'reset-after-commit') {
  const place = await makePushPlace();
  place.sandbox.addFault({ call: CALL, fault, times: 1 });
  place.drop('route_plans', 'a.json', plan('P1'));
  await place.run(JOB);
  return place;
}

describe('a plan that is asserted absent', () => {
  it('is sent again after five unclear sends', async () => {
    const place = await makePushPlace();
    place.sandbox.addFault({ call: CALL, fault: 'reset-before-commit' });
    place.drop('route_plans', 'a.json', plan('P1'));
    for (let hours = 0; hours < 12; hours++) {
      await place.run(JOB);
      await place.clock.advance(HOUR_MS);
    }
    expect(await place.run(JOB)).toMatchObject({ status: 'partial', error: { code: 'retries_exhausted' } });
    expect(place.sandbox.ledger().requests[CALL]).toBe(5);
    expect(await entryOf(place)).toMatchObject({ state: 'unknown', attention: 'retries_exhausted' });
    await actOn(place, retry);
    expect(await place.run(JOB)).toMatchObject({ sent: 0, unknown: 1 });
    place.sandbox.clearFaults();
    await actOn(place, assertAbsent);
    expect(await place.run(JOB)).toMatchObject({ status: 'ok', sent: 1, confirmed: 1 });
    expect(place.sandbox.ledger().plans).toEqual({ P1: 1 });
    expect(await actionsOf(place)).toEqual(['retried', 'asserted-absent']);
  });

  it('is sent when every listing is inconclusive', async () => {
    const place = await sentWith('reset-before-commit');
    place.sandbox.addFault({ call: 'route-plans', fault: 'no-records' });
    expect(await place.run(JOB)).toMatchObject({ sent: 0, error: { code: 'inconclusive' } });
    await actOn(place, assertAbsent);
    expect(await place.run(JOB)).toMatchObject({ sent: 1, confirmed: 1 });
    expect(place.sandbox.ledger().plans).toEqual({ P1: 1 });
  });

  it('and exists after all is not sent, and the newer content of the ERP is flagged', async () => {
    const place = await makePushPlace();
    place.sandbox.addFault({ call: CALL, fault: 'reset-after-commit', times: 1 });
    place.sandbox.addFault({ call: 'route-plans', fault: '503', skip: 1 });
    place.drop('route_plans', 'a.json', plan('P1'));
    await place.run(JOB);
    place.drop('route_plans', 'b.json', plan('P1', { date_time_end: '2025-03-13T19:00:00-03:00' }));
    await place.run(JOB);
    await actOn(place, assertAbsent);
    place.sandbox.clearFaults();
    await place.runs(JOB, 2);
    expect(place.sandbox.ledger().plans).toEqual({ P1: 1 });
    const entry = await entryOf(place);
    expect(entry.state).toBe('confirmed');
    expect(isChangedAfterPush(entry)).toBe(true);
  });

  it('cannot be one that a listing shows', async () => {
    const place = await makePushPlace();
    place.drop('route_plans', 'a.json', plan('P1'));
    await place.run(JOB);
    await expect(actOn(place, assertAbsent)).rejects.toThrow(/confirmed: there is nothing to assert/);
    await expect(actOn(place, retry)).rejects.toThrow(/confirmed: there is nothing to retry/);
  });
});

describe('a plan that was cancelled', () => {
  it('is sent with the same content once it is retried and the ERP offers it again', async () => {
    const place = await sentWith('403');
    await expect(actOn(place, cancel({ isForced: false }))).rejects.toThrow(/may be at the service/);
    await actOn(place, FORCED);
    await place.clock.advance(HOUR_MS);
    place.drop('route_plans', 'b.json', plan('P1'));
    expect(await place.run(JOB)).toMatchObject({ sent: 0, unchanged: 1 });
    expect(await actOn(place, retry)).toMatch(/let the ERP offer it/);
    expect(await place.run(JOB)).toMatchObject({ sent: 0 });
    place.drop('route_plans', 'c.json', plan('P1'));
    expect(await place.run(JOB)).toMatchObject({ sent: 1, confirmed: 1 });
    expect(place.sandbox.ledger().plans).toEqual({ P1: 1 });
    expect(await actionsOf(place)).toEqual(['cancelled', 'retried']);
  });

  it('is not sent twice if it had arrived before it was cancelled', async () => {
    const place = await makePushPlace();
    place.sandbox.addFault({ call: CALL, fault: 'reset-after-commit', times: 1 });
    place.sandbox.addFault({ call: 'route-plans', fault: '400', skip: 1, times: 1 });
    place.drop('route_plans', 'a.json', plan('P1'));
    await place.run(JOB);
    await actOn(place, FORCED);
    await actOn(place, retry);
    place.drop('route_plans', 'b.json', plan('P1'));
    expect(await place.run(JOB)).toMatchObject({ sent: 0, confirmed: 1 });
    expect(place.sandbox.ledger().plans).toEqual({ P1: 1 });
  });

  it('after it was confirmed needs force, names its identifier, and the ERP is notified', async () => {
    const place = await makePushPlace();
    place.drop('route_plans', 'a.json', plan('P1'));
    await place.run(JOB);
    await expect(actOn(place, cancel({ isForced: false }))).rejects.toThrow(/is at the service/);
    const { remote_id } = await entryOf(place);
    expect(remote_id).toBeGreaterThan(0);
    await actOn(place, FORCED);
    const message = `Cancelled by a person; it may still be at the service as id ${remote_id}`;
    expect(await entryOf(place)).toMatchObject({ state: 'cancelled', told_at: null, message });
    await place.run(JOB);
    expect(await entryOf(place)).toMatchObject({ state: 'cancelled', told_at: expect.any(String) });
    await expect(actOn(place, FORCED)).rejects.toThrow(/cannot be cancelled/);
  });

  it('says that the ERP is not notified if its code is no longer stored', async () => {
    const place = await makePushPlace();
    const cpf = CPFS[0] ?? '';
    place.drop('agents', 'a.json', agent(cpf, { external_code: cpf }));
    await place.run('push-agents');
    await place.run('push-agents');
    const { entries } = await place.engine.read(async (sql) => ({ entries: await sql('push_outbox').select() }));
    expect(entries).toMatchObject([{ state: 'confirmed', erp_code: null }]);
    expect(await act(place.engine, entries[0], FORCED, place.now())).toMatch(
      /no longer stored, so the ERP is not notified/,
    );
  });
});

describe('a plan that was rejected', () => {
  it('is sent by the next run once it is retried', async () => {
    const place = await sentWith('422');
    expect(await actOn(place, retry)).toMatch(/is ready/);
    expect(await place.run(JOB)).toMatchObject({ sent: 1, confirmed: 1 });
    expect(place.sandbox.ledger().plans).toEqual({ P1: 1 });
  });

  it('has to be offered again when its content is no longer kept', async () => {
    const place = await sentWith('422');
    await place.clock.advance(8 * DAY_MS);
    await place.run(JOB);
    expect(await entryOf(place)).toMatchObject({ state: 'rejected', payload: null });
    expect(await actOn(place, retry)).toMatch(/let the ERP offer it/);
    place.drop('route_plans', 'b.json', plan('P1'));
    expect(await place.run(JOB)).toMatchObject({ sent: 1, confirmed: 1 });
  });
});

describe('an action on an entry that has changed since it was shown', () => {
  it.each<[string, '403' | '422', Action]>([
    ['retry of a rejected one', '422', retry],
    ['retry of a ready one', '403', retry],
    ['--not-there', '403', assertAbsent],
    ['cancel', '403', FORCED],
  ])('is rejected: %s', async (_, fault, action) => {
    const place = await sentWith(fault);
    const shown = await entryOf(place);
    const newer = transition(shown, 'note', place.now(), { message: 'newer' });
    await place.engine.write((tx) => storeEntries(tx, [newer]));
    await expect(act(place.engine, shown, action, place.now())).rejects.toThrow(/changed at the same time/);
    expect(await entryOf(place)).toMatchObject({ state: shown.state, message: 'newer' });
    expect(await actionsOf(place)).toEqual([]);
  });
});

describe('an action on many entries', () => {
  it('is done where the state allows it, and reports how many entries it skipped', async () => {
    const place = await makePushPlace();
    place.sandbox.addFault({ call: CALL, fault: '422', times: 250 });
    place.dependencies.concurrency = 1;
    place.drop('route_plans', 'a.json', [...plans(250), plan('Q'), plan('bad', { vehicle_plate: 'x' })]);
    await place.run(JOB);
    const states = () => place.outbox().then((rows) => Object.groupBy(rows, ({ state }) => state));
    expect((await states()).rejected).toHaveLength(251);
    expect((await states()).confirmed).toMatchObject([{ external_code: 'Q' }]);

    const all = { states: ['rejected', 'confirmed'] } as const;
    expect(await actOnMany(place.engine, all, retry, place.now())).toEqual({ done: 251, skipped: 1 });
    expect(await place.run(JOB)).toMatchObject({ sent: 250, confirmed: 250 });
    expect(new Set(Object.values(place.sandbox.ledger().plans))).toEqual(new Set([1]));
    // An invalid entry has no content that could be sent: it waits for the ERP.
    expect((await states()).rejected).toMatchObject([{ external_code: 'bad', content_hash: '' }]);
    const some = { states: ['rejected'], code: 'P' } as const;
    expect(await actOnMany(place.engine, some, FORCED, place.now())).toEqual({ done: 0, skipped: 0 });
  });

  it('reaches every entry, however many there are', async () => {
    const { engine, now } = await makePushPlace();
    const waiting = { kind: 'route_plans', code_use: 1, state: 'unknown', content_hash: 'x', remote_key: '' } as const;
    const entries = Array.from({ length: 10_050 }, (_, i) => newEntry({ ...waiting, external_code: `P${i}` }, now()));
    await engine.write((tx) => storeEntries(tx, entries));
    expect(await actOnMany(engine, { states: ['unknown'] }, retry, now())).toEqual({ done: 10_050, skipped: 0 });
  });
});

describe('an entry is named', () => {
  const entry = (kind: string, code_use: number): OutboxEntry =>
    newEntry({ kind, external_code: 'R7', code_use, state: 'ready', content_hash: 'x', remote_key: 'R7' }, '');

  it('by its code, and by kind or use if several entries have that code', async () => {
    const place = await makePushPlace();
    const entries = [entry('route_plans', 1), entry('route_plans', 2), entry('itineraries', 1)];
    await place.engine.write((tx) => storeEntries(tx, entries));
    const named = (name: object) => namedEntry(place.engine, { code: 'R7', ...name });
    await expect(named({})).rejects.toThrow(/Several.*itineraries --use 1, route_plans --use 1, route_plans --use 2/);
    await expect(named({ kind: 'route_plans' })).rejects.toThrow(/Several/);
    expect(await named({ kind: 'itineraries' })).toMatchObject(entries[2] as object);
    expect(await named({ use: 2 })).toMatchObject(entries[1] as object);
    await expect(named({ use: 3 })).rejects.toThrow(/no entry/);
  });
});
