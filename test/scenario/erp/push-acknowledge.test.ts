// The acknowledgements to the ERP: one for each item, even when the ERP rejects others; under the item's own code; once
// for each content.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Action, acknowledgeAgain, act, cancel, retry } from '../../../src/sync/push/actions.ts';
import { outboxAttention } from '../../../src/sync/push/attention.ts';
import { makeSqliteErp } from '../../support/erp/sqlite-erp.ts';
import { makePushPlace, type PushPlace } from '../../support/push/push-place.ts';
import { CPFS, plan } from '../../support/push/push-samples.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe('an ERP that rejects the acknowledgement of some items', () => {
  it('is notified of all the others, however many it rejects before them', async () => {
    const columns = ['plan.external_code', 'plan.date_time_start', 'plan.date_time_end', 'point.name'];
    const erp = await makeSqliteErp(columns, 'state is null');
    const codes = Array.from({ length: 205 }, (_, i) => `P${String(i).padStart(3, '0')}`);
    // Without a place, so that they are rejected and nothing has to be sent.
    const dates = { 'plan.date_time_start': '2025-03-13T08:00', 'plan.date_time_end': '2025-03-13T18:00' };
    for (const code of codes) await erp.give(code, { 'plan.external_code': code, ...dates, 'point.name': 'A' });
    await erp.database('rejecting').insert(codes.slice(0, 200).map((code) => ({ code })));
    const place = await makePushPlace({ feeds: { route_plans: erp.feed } });
    const { error } = await place.run('push-route-plans');
    expect(error?.code).toBe('erp_statement_rejected');
    expect((await erp.acknowledgements()).map(({ code }) => code)).toEqual(codes.slice(200));
    await erp.database('rejecting').delete();
    expect((await place.run('push-route-plans')).error).toBeNull();
    expect(new Set((await erp.acknowledgements()).map(({ code }) => code))).toEqual(new Set(codes));
  });
});

describe('a plan with several cells that cannot be read', () => {
  it('is one rejected plan with all its reasons, of which the ERP is notified once an hour', async () => {
    const columns = ['plan.external_code', 'plan.date_time_start', 'plan.date_time_end', 'point.name'];
    const erp = await makeSqliteErp([...columns, 'point.latitude', 'point.longitude']);
    const dates = { 'plan.date_time_start': '2025-03-13T08:00', 'plan.date_time_end': '2025-03-13T18:00' };
    const place = { 'point.latitude': 'north', 'point.longitude': 'west' };
    await erp.give('P1', { 'plan.external_code': 'P1', ...dates, 'point.name': 'A', ...place });
    const { run, clock, entry, lines } = await makePushPlace({ feeds: { route_plans: erp.feed } });
    for (let runs = 0; runs < 3; runs++) {
      expect(await run('push-route-plans')).toMatchObject({ rejected: 1, error: { message: '1 plan rejected' } });
      await clock.advance(MINUTE);
    }
    const both = /latitude is not .*longitude is not /;
    expect(lines.filter((line) => line.includes('an item of the feed cannot be read'))).toEqual(
      Array(3).fill(expect.stringMatching(both)),
    );
    expect((await entry('P1')).reasons).toMatch(both);
    expect(await erp.acknowledgements()).toEqual([
      { code: 'P1', state: 'rejected', message: expect.stringMatching(both) },
    ]);
  });
});

describe('two plans of a code that is reused, whose ends are no dates', () => {
  it('are two rejected plans, of each of which the ERP is notified once', async () => {
    const columns = ['plan.external_code', 'plan.date_time_start', 'plan.date_time_end', 'point.name'];
    const erp = await makeSqliteErp(columns);
    for (const day of ['13', '14'])
      await erp.give(day, {
        'plan.external_code': 'R7',
        'plan.date_time_start': `2025-03-${day}T08:00`,
        'plan.date_time_end': 'soon',
        'point.name': 'A',
      });
    const place = await makePushPlace({ feeds: { route_plans: erp.feed }, reuseCodes: true });
    for (const inserted of [2, 0])
      expect(await place.run('push-route-plans', { reuse_codes: true })).toMatchObject({ inserted, updated: 0 });
    expect(await erp.acknowledgements()).toHaveLength(2);
    expect(await place.outbox()).toMatchObject(
      ['13', '14'].map((day) => ({ state: 'rejected', period_start: `2025-03-${day}T11:00:00.000Z` })),
    );
  });
});

describe('an ERP whose statement finds no row', () => {
  const JOB = 'push-points-of-interest';
  const shop = { title: 'Shop', latitude: -23.5, longitude: -46.6 };

  async function pushed(feedOptions: object = {}) {
    const erp = await makeSqliteErp(Object.keys(shop), 'state is null');
    await erp.give('C-1', shop);
    const acknowledge = 'update item set state = :state where code = :external_code';
    const feed = { ...erp.feed, acknowledge, ...feedOptions };
    const place = await makePushPlace({ feeds: { points_of_interest: feed } });
    return { erp, place, first: await place.run(JOB) };
  }

  it('is reported by every run and asked again, until the statement finds the row', async () => {
    const { erp, place, first } = await pushed();
    const unknownRow = { status: 'partial', sent: 1, error: { code: 'erp_nothing_changed' } };
    expect(first).toMatchObject(unknownRow);
    expect(await place.entry('Shop')).toMatchObject({ state: 'confirmed', told_at: null });
    expect(await place.run(JOB)).toMatchObject({ ...unknownRow, sent: 0 });
    await place.clock.advance(11 * MINUTE);
    await place.run(JOB);
    expect(place.lines.join('\n')).toContain('not_acknowledged');
    // The title is the code.
    await erp.database('item').update({ code: 'Shop' });
    expect(await place.run(JOB)).toMatchObject({ status: 'ok', sent: 0 });
    expect(await erp.database('item').pluck('state')).toEqual(['confirmed']);
    expect(place.sandbox.ledger().points_of_interest).toEqual({ Shop: 1 });
  });

  it('is left alone if its feed says that no row has to change', async () => {
    const { first } = await pushed({ acknowledgeMayChangeNothing: true });
    expect(first).toMatchObject({ status: 'ok', sent: 1 });
  });

  it('is notified again when a person asks for it', async () => {
    const { erp, place } = await pushed({ acknowledgeMayChangeNothing: true });
    await erp.database('item').update({ code: 'Shop' });
    expect(await place.run(JOB)).toMatchObject({ status: 'ok' });
    expect(await erp.database('item').pluck('state')).toEqual([null]);
    const [entry] = await place.outbox();
    if (entry !== undefined) await act(place.engine, entry, acknowledgeAgain, place.now());
    await place.run(JOB);
    expect(await erp.database('item').pluck('state')).toEqual(['confirmed']);
    expect((await place.story('Shop')).map(({ outcome }) => outcome)).toContain('acknowledged-again');
  });
});

describe('an ERP that goes on offering finished items', () => {
  const JOB = 'push-points-of-interest';

  it('is notified again once an hour, and no entry counts as one that it could not be notified of', async () => {
    const shop = { title: 'Shop', latitude: -23.5, longitude: -46.6 };
    const erp = await makeSqliteErp(Object.keys(shop));
    const seen: unknown[] = [];
    const place = await makePushPlace({
      feeds: { points_of_interest: erp.feed },
      answering: async () => void seen.push(...(await outboxAttention(place.engine, place.now()))),
    });
    await erp.give('1', shop);
    await place.runs(JOB, 2);
    expect(await erp.acknowledgements()).toHaveLength(1);
    await place.clock.advance(HOUR);
    // New, so that the service is called between the offer and the notification.
    await erp.give('2', { ...shop, title: 'New' });
    await place.run(JOB);
    expect((await erp.acknowledgements()).map(({ code }) => code)).toEqual(['Shop', 'New', 'Shop']);
    expect([place.sandbox.ledger().points_of_interest, seen]).toEqual([{ Shop: 1, New: 1 }, []]);
    await place.run(JOB);
    expect(await erp.acknowledgements()).toHaveLength(3);
  });
});

describe('an agent whose code in the ERP is its tax number', () => {
  const JOB = 'push-agents';
  const [cpf] = CPFS;

  async function rejected() {
    const erp = await makeSqliteErp(['name', 'cpf'], 'state is null');
    await erp.give(cpf, { name: 'A. Person', cpf });
    const place = await makePushPlace({ feeds: { agents: erp.feed } });
    place.sandbox.addFault({ call: 'create-agent', fault: '400', times: 1 });
    await place.runs(JOB, 2);
    expect(await erp.acknowledgements(cpf)).toMatchObject([{ state: 'rejected' }]);
    return { erp, place };
  }

  it.each<[string, Action]>([
    ['confirmed', retry],
    ['cancelled', cancel({ isForced: false })],
  ])(
    'is acknowledged as %s under that code after the action of a person, and the code is dropped then',
    async (state, action) => {
      const { erp, place } = await rejected();
      const [entry] = await place.outbox();
      if (entry !== undefined) await act(place.engine, entry, action, place.now());
      await place.run(JOB);
      expect((await erp.acknowledgements(cpf)).map((each) => each.state)).toEqual(['rejected', state]);
      expect(JSON.stringify(await place.outbox())).not.toContain(cpf);
      // Acknowledged again if the ERP has not stored the acknowledgement.
      await erp.database('item').update({ state: null });
      await place.clock.advance(2 * HOUR);
      await place.run(JOB);
      expect((await erp.acknowledgements(cpf)).map((each) => each.state)).toEqual(['rejected', state, state]);
      expect(place.sandbox.ledger().agents).toEqual(state === 'confirmed' ? { [cpf]: 1 } : {});
    },
  );

  it('loses that code from the outbox once it can no longer be sent', async () => {
    const { place } = await rejected();
    await place.clock.advance(8 * 24 * HOUR);
    await place.run(JOB);
    expect(JSON.stringify(await place.outbox())).not.toContain(cpf);
  });

  it('is acknowledged under that code as not readable', async () => {
    const erp = await makeSqliteErp(['name', 'cpf'], 'state is null');
    await erp.give(cpf, { name: 'A. Person', cpf });
    await erp.give('again', { name: 'Another', cpf });
    const place = await makePushPlace({ feeds: { agents: erp.feed } });
    await place.run(JOB);
    expect(await erp.acknowledgements(cpf)).toMatchObject([{ state: 'rejected' }]);
    expect(place.sandbox.ledger().agents).toEqual({});
  });
});

describe('an invalid change of an item that the service has', () => {
  const JOB = 'push-points-of-interest';
  const columns = ['external_code', 'title', 'latitude', 'longitude'];
  const shop = { external_code: 'C-1', title: 'Shop', latitude: -23.5, longitude: -46.6 };

  it('is acknowledged once, again when the error changes, and once more when it is corrected', async () => {
    const erp = await makeSqliteErp(columns);
    await erp.give('C-1', shop);
    const place = await makePushPlace({ feeds: { points_of_interest: erp.feed } });
    await place.run(JOB);
    await erp.give('C-1', { ...shop, latitude: -123.5 });
    for (let runs = 0; runs < 3; runs++)
      expect(await place.run(JOB)).toMatchObject({ status: 'partial', error: { code: 'invalid_change' } });
    expect((await erp.acknowledgements()).map(({ message }) => message)).toEqual([
      null,
      expect.stringMatching(/cannot be sent.*latitude/),
    ]);
    await erp.give('C-1', { ...shop, latitude: -223.5 });
    for (let runs = 0; runs < 2; runs++) await place.run(JOB);
    await erp.give('C-1', shop);
    for (let runs = 0; runs < 2; runs++) await place.run(JOB);
    expect((await erp.acknowledgements()).map(({ message }) => message === null)).toEqual([true, false, false, true]);
    expect(place.sandbox.ledger().requests).not.toHaveProperty('change-point-of-interest');
  });
});

describe('a drop folder whose file has moved', () => {
  const JOB = 'push-route-plans';

  const lateText = (place: PushPlace): string => {
    const path = join(place.folder('route_plans'), 'late-results.jsonl');
    return existsSync(path) ? readFileSync(path, 'utf8') : '';
  };
  const lateResults = (place: PushPlace): Record<string, unknown>[] =>
    lateText(place)
      .split('\n')
      .filter((line) => line.endsWith('}'))
      .map((line) => JSON.parse(line));

  it('gets a late result for a rejected plan that a person had sent again', async () => {
    const place = await makePushPlace();
    place.sandbox.addFault({ call: 'import-route-plan', fault: '422', times: 1 });
    place.drop('route_plans', 'a.json', [plan('P0'), plan('P1')]);
    await place.runs(JOB, 2);
    expect(existsSync(join(place.folder('route_plans'), 'failed', 'a.json.result.json'))).toBe(true);
    expect(lateResults(place)).toEqual([]);
    const rejected = (await place.outbox()).find(({ state }) => state === 'rejected');
    if (rejected !== undefined) await act(place.engine, rejected, retry, place.now());
    await place.runs(JOB, 3);
    expect(lateResults(place)).toEqual([
      expect.objectContaining({
        external_code: rejected?.external_code,
        state: 'confirmed',
        remote_id: expect.any(Number),
      }),
    ]);
  });

  it('gets a late result for an identifier that the service shows late, after a line that was cut off', async () => {
    const place = await makePushPlace({ sandbox: { importVisibleAfterMs: 10 * MINUTE } });
    place.drop('route_plans', 'late-results.jsonl', '{"external_code":"cut');
    place.drop('route_plans', 'a.json', plan('P1'));
    await place.runs(JOB, 5);
    expect(lateText(place)).toMatch(/^\{"external_code":"cut\n/);
    const { remote_id } = await place.entry('P1');
    expect(lateResults(place)).toEqual([
      expect.objectContaining({ external_code: 'P1', state: 'confirmed', remote_id }),
    ]);
  });

  it('gets no late result for an item that could not be read', async () => {
    const place = await makePushPlace();
    place.drop('route_plans', 'a.json', [plan('P1'), plan('P2'), plan('P2', { vehicle_id: 1 })]);
    await place.runs(JOB, 2);
    expect((await place.outbox()).map(({ state }) => state)).toEqual(['confirmed', 'rejected']);
    expect(lateResults(place)).toEqual([]);
  });
});
