// Route plans from a drop folder to the service, run by run: the plans that are sent, the rejected ones with their
// reasons, and the results for the ERP.
import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Policy } from '../../../src/core/privacy-policy.ts';
import type { Fleet } from '../../../src/fleet/client.ts';
import { plansByDeadline } from '../../../src/sync/push/deadline.ts';
import { pushIssues } from '../../../src/sync/push/push-issues.ts';
import { ITEM_CODES } from '../../../src/warehouse/control/runs.ts';
import { isChangedAfterPush, shownState } from '../../../src/warehouse/outbox/entry.ts';
import { createPrivacy } from '../../../src/warehouse/privacy/privacy.ts';
import { enforcePrivacy } from '../../../src/warehouse/privacy/rewrite.ts';
import { makeSqliteErp } from '../../support/erp/sqlite-erp.ts';
import { makePushPlace, type PlaceOptions, type PushPlace } from '../../support/push/push-place.ts';
import { CPFS, plan, plans } from '../../support/push/push-samples.ts';

const JOB = 'push-route-plans';
const MINUTE_MS = 60_000;
/** Longer than a result could have. */
const LONG_NAME = `${'ç'.repeat(99)}.json`;
const NOT_COMPARED = '["The service does not show its points; compare them there"]';
const FOUND_IN_PART = 'Found at the service; parts may be missing, see the reasons';
/** Another day than that of the sample plan. */
const NEXT_DAY = { date_time_start: '2025-03-14T08:00:00-03:00', date_time_end: '2025-03-14T18:00:00-03:00' };
const LONGER = { date_time_end: '2025-03-13T20:00:00-03:00' };

const resultOf = (place: PushPlace, folder: 'done' | 'failed', name: string) =>
  JSON.parse(readFileSync(join(place.folder('route_plans'), folder, `${name}.result.json`), 'utf8'));

describe('push-route-plans', () => {
  it('sends each plan once, stores its identifier and moves the file with its result', async () => {
    const place = await makePushPlace();
    place.drop('route_plans', 'a.json', [plan('P1'), plan('P2')]);
    place.drop('route_plans', 'b.json', plan('P3'));
    const summary = await place.run(JOB);
    expect(summary).toMatchObject({
      status: 'ok',
      sent: 3,
      confirmed: 3,
      rejected: 0,
      unknown: 0,
      inserted: 3,
    });
    expect(place.sandbox.ledger().plans).toEqual({ P1: 1, P2: 1, P3: 1 });
    const rows = await place.outbox();
    expect(rows.map(({ state, payload, message }) => ({ state, payload, message }))).toEqual(
      Array(3).fill({ state: 'confirmed', payload: null, message: null }),
    );
    expect(rows.every(({ remote_id, told_at }) => remote_id !== null && told_at !== null)).toBe(true);
    const done = join(place.folder('route_plans'), 'done');
    expect(readdirSync(done).sort()).toEqual(
      ['a', 'b'].flatMap((name) => ['', '.result.csv', '.result.json'].map((end) => `${name}.json${end}`)),
    );
    expect(JSON.stringify(resultOf(place, 'done', 'a.json'))).toContain(`"remote_id":${rows[0]?.remote_id}`);
    expect(await place.run(JOB)).toMatchObject({ status: 'ok', sent: 0, requests: 0 });
  });

  it('keeps the stops as the ERP offered them last, by the privacy policies, to compare them with the service', async () => {
    const place = await makePushPlace();
    const policies: Record<string, Policy> = { 'route_point.name': 'drop' };
    place.dependencies.privacy = createPrivacy(policies, 'test');
    const contents = async () => {
      const rows: { external_code: string; stops: string }[] = await place.engine.read((sql) => sql('push_content'));
      return Object.fromEntries(rows.map((row) => [row.external_code, JSON.parse(row.stops)]));
    };
    place.drop('route_plans', 'a.json', [plan('P1'), plan('BAD', LONGER), plan('P2')]);
    await place.run(JOB);
    expect((await place.outbox()).map(({ state, payload }) => ({ state, payload }))).toEqual(
      Array(3).fill({ state: 'confirmed', payload: null }),
    );
    const { P1, ...others } = await contents();
    expect(Object.keys(others)).toEqual(['BAD', 'P2']);
    const nowhere = { name: null, latitude: null, longitude: null };
    expect(P1).toEqual([
      { ...nowhere, order: 1, latitude: -23.5, longitude: -46.6 },
      { ...nowhere, order: 2 },
    ]);
    const moved = [{ name: 'Customer', type: 'Entrega', latitude: -23.6, longitude: -46.7 }];
    place.drop('route_plans', 'b.json', [plan('P1', { route_points: moved }), plan('BAD', { date_time_end: 'soon' })]);
    await place.run(JOB);
    expect(place.sandbox.ledger().plans).toEqual({ BAD: 1, P1: 1, P2: 1 });
    expect(await contents()).toMatchObject({
      P1: [{ latitude: -23.6, longitude: -46.7 }],
      BAD: others.BAD,
      P2: others.P2,
    });
    const period = { starts_at: '2025-03-13T11:00:00.000Z', origin: 'b.json record 1' };
    expect(await place.engine.read((sql) => sql('push_content').where({ external_code: 'P1' }))).toMatchObject([
      period,
    ]);
    const stricter = createPrivacy({ 'route_point.name': 'hash' }, 'test');
    await enforcePrivacy(place.engine, stricter, place.dependencies);
    expect(await contents()).toEqual({});
    // A process that still has the policies before stores nothing, and sends the plan.
    place.drop('route_plans', 'c.json', plan('P3'));
    expect(await place.run(JOB)).toMatchObject({ confirmed: 1 });
    expect(await contents()).toEqual({});
  });

  it('keeps as many requests in flight as allowed, and no more', async () => {
    let [underWay, most] = [0, 0];
    const three = Promise.withResolvers<void>();
    const place = await makePushPlace({
      answering: async ({ pathname }, original, { method }) => {
        if (method === 'GET' || !pathname.startsWith('/import/')) return undefined;
        most = Math.max(most, ++underWay);
        if (underWay === 3) three.resolve();
        await three.promise;
        // One more request sent together with these would have arrived by the time the service has answered.
        const body = await original();
        underWay--;
        return { body };
      },
    });
    place.dependencies.concurrency = 3;
    place.drop('route_plans', 'a.json', plans(9));
    expect(await place.run(JOB)).toMatchObject({ status: 'ok', confirmed: 9 });
    expect(most).toBe(3);
    expect((await place.story('P00')).map(({ outcome }) => outcome)).toEqual(['accepted']);
  });

  it('sends the valid plans, and stores why the others are rejected or partial', async () => {
    const place = await makePushPlace();
    const crowd = Array.from({ length: 70 }, (_, i) => ({
      name: `Stop ${i}`,
      latitude: -23.5 - i / 1_000,
      longitude: -46.6,
      external_code: `S${i}`,
    }));
    place.drop('route_plans', 'a.json', [
      plan('BAD', { date_time_end: '2025-03-12T08:00:00-03:00', vehicle_plate: 'nonsense' }),
      plan('CROWD', { route_points: crowd, options: { optimize: true } }),
      plan('GOOD'),
      plan('NOBODY', { vehicle_plate: 'ZZZ0Z00' }),
    ]);
    expect(await place.run(JOB)).toMatchObject({ status: 'partial', sent: 3, confirmed: 2, rejected: 2 });
    expect(place.sandbox.ledger().plans).toEqual({ CROWD: 1, GOOD: 1 });
    const [bad, part, , nobody] = await place.outbox();
    expect(bad).toMatchObject({ state: 'rejected', payload: null, attempts: 0 });
    expect(JSON.parse(bad?.reasons ?? '[]')).toHaveLength(2);
    expect(part).toMatchObject({ state: 'confirmed', message: 'Accepted in part; 10 rejected' });
    expect(JSON.parse(part?.reasons ?? '[]')[0]).toMatch(/point not assigned: S\d+/);
    expect(nobody).toMatchObject({ state: 'rejected', attempts: 1 });
    expect(nobody?.reasons).toContain('No vehicle has this plate');
    const result = resultOf(place, 'failed', 'a.json');
    expect(JSON.stringify(result)).toContain('date_time_end');
    expect(result.totals).toEqual({ items: 4, confirmed: 1, partial: 1, rejected: 2, cancelled: 0 });
    expect(result.results[1]).toMatchObject({ external_code: 'CROWD', state: 'partial', remote_id: part?.remote_id });
    expect(await pushIssues(place.engine, place.clock.now())).toMatchObject([
      { reason: 'rejected', entries: 2 },
      { reason: 'partial', entries: 1 },
    ]);
  });

  it('ends partial with the codes of partial plans', async () => {
    const place = await makePushPlace();
    const stop = (i: number) => ({ name: `Stop ${i}`, latitude: -23.5, longitude: -46.6 + i / 1_000 });
    const route_points = Array.from({ length: 70 }, (_, i) => stop(i));
    place.drop('route_plans', 'a.json', plan('CROWD', { route_points, options: { optimize: true } }));
    expect(await place.run(JOB)).toMatchObject({
      status: 'partial',
      error: { code: 'items_partial', message: '1 plan taken without some parts: CROWD' },
    });
  });

  describe('a partial plan without a clear answer', () => {
    const stop = (i: number) => ({ name: `Stop ${i}`, latitude: -23.5, longitude: -46.6 + i / 1_000 });
    const coded = Array.from({ length: 62 }, (_, i) => ({ ...stop(i), external_code: `S${i}` }));
    const uncoded = Array.from({ length: 62 }, (_, i) => stop(i));
    const crowd = (route_points: unknown) => plan('CROWD', { route_points, options: { optimize: true } });

    it.each([
      ['code', coded, ['S60', 'S61']],
      ['name', uncoded, ['Stop 60', 'Stop 61']],
    ])('is found with the missing stops by %s, for one call more', async (_by, route_points, missing) => {
      const place = await makePushPlace();
      place.sandbox.addFault({ call: 'import-route-plan', fault: 'reset-after-commit', times: 2 });
      place.drop('route_plans', 'a.json', [crowd(route_points), plan('WHOLE')]);
      // The missing stops may still be on their way.
      expect(await place.run(JOB)).toMatchObject({ confirmed: 1, unknown: 1 });
      await place.clock.advance(2 * MINUTE_MS);
      expect(await place.run(JOB)).toMatchObject({
        status: 'partial',
        confirmed: 1,
        unknown: 0,
        error: { code: 'items_partial', message: '1 plan taken without some parts: CROWD' },
      });
      const [part, whole] = await place.outbox();
      expect(part).toMatchObject({ state: 'confirmed', message: FOUND_IN_PART });
      const reasons = missing.map((name) => `point not at the service: ${name}`);
      expect(JSON.parse(part?.reasons ?? '')).toEqual(reasons);
      expect(whole).toMatchObject({ state: 'confirmed', message: null, reasons: null });
      expect(resultOf(place, 'failed', 'a.json').results).toMatchObject([
        { external_code: 'CROWD', state: 'partial', reasons },
        { external_code: 'WHOLE', state: 'confirmed', reasons: [] },
      ]);
      expect(await pushIssues(place.engine, place.clock.now())).toMatchObject([{ reason: 'partial' }]);
      const { plans: sent, requests } = place.sandbox.ledger();
      expect([sent, requests['route-plan'], requests['route-plans']]).toEqual([{ CROWD: 1, WHOLE: 1 }, 3, 3]);
      expect((await place.story('CROWD')).at(-1)).toMatchObject({ outcome: 'found', message: FOUND_IN_PART });
    });

    it('is found with the missing stops by the run after a process that died while it sent the plan', async () => {
      const place = await makePushPlace({ sandbox: { importVisibleAfterMs: MINUTE_MS } });
      place.sandbox.addFault({ call: 'import-route-plan', fault: 'reset-after-commit', times: 1 });
      place.drop('route_plans', 'a.json', crowd(coded));
      await place.run(JOB);
      const sending = { state: 'sending', unknown_since: null, unclear_sends: 0 };
      await place.engine.write(({ sql }) => sql('push_outbox').update(sending));
      await place.clock.advance(2 * MINUTE_MS);
      expect(await place.run(JOB)).toMatchObject({ sent: 0, confirmed: 1, error: { code: 'items_partial' } });
      expect(place.sandbox.ledger().plans).toEqual({ CROWD: 1 });
    });

    it('waits for its stops, and is compared by hand if they cannot be read', async () => {
      const place = await makePushPlace();
      place.sandbox.addFault({ call: 'import-route-plan', fault: 'reset-after-commit', times: 1 });
      place.sandbox.addFault({ call: 'route-plan', fault: '500' });
      place.drop('route_plans', 'a.json', crowd(coded));
      await place.run(JOB);
      expect(await place.entry('CROWD')).toMatchObject({ state: 'unknown', attention: null });
      await place.clock.advance(2 * MINUTE_MS);
      expect(await place.run(JOB)).toMatchObject({ sent: 0, confirmed: 1, error: { code: 'service_failed' } });
      expect(await place.entry('CROWD')).toMatchObject({ state: 'confirmed', reasons: NOT_COMPARED });
      expect(place.sandbox.ledger().plans).toEqual({ CROWD: 1 });
    });

    it('is confirmed at once after a rejection, which is not watched for long', async () => {
      const place = await makePushPlace();
      place.sandbox.addFault({ call: 'import-route-plan', fault: '400', after_commit: true, times: 1 });
      place.sandbox.addFault({ call: 'route-plan', fault: '500' });
      place.drop('route_plans', 'a.json', crowd(coded));
      await place.runs(JOB, 2);
      expect(await place.entry('CROWD')).toMatchObject({ state: 'confirmed', reasons: NOT_COMPARED });
    });

    it('is compared by hand if the service shows no stops of plans', async () => {
      const place = await makePushPlace({
        answering: async ({ searchParams }, original) => {
          if (!searchParams.has('route_plan_id')) return undefined;
          const { data } = (await original()) as { data: object[] };
          return { body: { data: data.map((record) => ({ ...record, route_points: null })) } };
        },
      });
      place.sandbox.addFault({ call: 'import-route-plan', fault: 'reset-after-commit', times: 1 });
      place.drop('route_plans', 'a.json', crowd(coded));
      await place.runs(JOB, 2);
      expect(await place.entry('CROWD')).toMatchObject({ state: 'confirmed', reasons: NOT_COMPARED });
    });
  });

  it('reads files of one age by number, sends the newer content, and each result says which counted', async () => {
    const place = await makePushPlace();
    for (const [name, vehicle_plate] of [
      ['viagens-10.json', undefined],
      ['viagens-9.json', 'ZZZ0Z00'],
    ] as const) {
      place.drop('route_plans', name, plan('P1', { vehicle_plate }));
      utimesSync(join(place.folder('route_plans'), name), 1_000, 1_000);
    }
    expect(await place.run(JOB)).toMatchObject({ status: 'ok', sent: 1, confirmed: 1 });
    for (const name of ['viagens-9.json', 'viagens-10.json'])
      expect(resultOf(place, 'done', name).results).toMatchObject([{ origin: 'viagens-10.json record 1' }]);
    const table = readFileSync(join(place.folder('route_plans'), 'done', 'viagens-9.json.result.csv'), 'utf8');
    expect(table).toContain('P1;confirmado;enviado como lido em viagens-10.json record 1');
  });

  it('keeps a file that cannot be read in the health for a day, or until it is read', async () => {
    const place = await makePushPlace();
    const reasons = async () => (await pushIssues(place.engine, place.clock.now())).map(({ reason }) => reason);
    const drop = (name: string, text: string) => writeFileSync(join(place.folder('route_plans'), name), text);
    mkdirSync(place.folder('route_plans'), { recursive: true });
    drop('a.json', '{"broken');
    drop('b.csv', 'WRONG\n1\n');
    place.drop('route_plans', 'c.json', plan('P2', { vehicle_plate: 'XXX0X00' }));
    expect(await place.run(JOB)).toMatchObject({
      status: 'partial',
      error: { code: 'items_rejected', message: '1 plan rejected, 2 files not read completely' },
    });
    expect(await pushIssues(place.engine, place.clock.now())).toMatchObject([
      { reason: 'unreadable', entries: 2, jobs: [JOB] },
      { reason: 'rejected', entries: 1, jobs: [JOB] },
    ]);
    const [entry] = await place.outbox();
    expect(JSON.parse(entry?.reasons ?? '')).toEqual(['No vehicle has this plate']);
    place.drop('route_plans', 'a.json', plan('P1'));
    expect(await place.run(JOB)).toMatchObject({ status: 'ok', error: null });
    expect(await reasons()).toEqual(['unreadable', 'rejected']);
    await place.clock.advance(24 * 60 * MINUTE_MS + 1);
    expect(await reasons()).toEqual(['rejected']);
    place.drop('route_plans', LONG_NAME, plan('P3'));
    const error = { code: 'items_rejected', message: '1 file not read completely' };
    for (let runs = 0; runs < 2; runs++) expect(await place.run(JOB)).toMatchObject({ status: 'partial', error });
    expect(await reasons()).toEqual(['unreadable', 'rejected']);
  });

  it('reports a spreadsheet or text of a format that is not read, and leaves it in place', async () => {
    const place = await makePushPlace();
    for (const name of ['a.xls', 'B.XLSM', 'c.ods', 'd.txt']) place.drop('route_plans', name, 'x');
    for (const name of ['~$e.xls', '.f.txt', 'g.csv.part', 'h.tmp', 'late-results.jsonl', 'done/i.txt'])
      place.drop('route_plans', name, 'x');
    place.drop('route_plans', 'j.json', plan('P1'));
    const files = readdirSync(place.folder('route_plans'));
    const error = { code: 'items_rejected', message: '4 files not read completely' };
    for (const confirmed of [1, 0]) expect(await place.run(JOB)).toMatchObject({ status: 'partial', confirmed, error });
    expect(await pushIssues(place.engine, place.clock.now())).toMatchObject([{ reason: 'unreadable', entries: 4 }]);
    expect(place.lines.join('')).toContain('has a format that is not read; save it as .xlsx or .csv');
    expect(readdirSync(place.folder('route_plans'))).toEqual(files.filter((name) => name !== 'j.json'));
  });

  it('keeps a query that cannot be read in the health while runs fail to, with the time of the first failure', async () => {
    const erp = await makeSqliteErp(['plan.external_code']);
    await erp.give('P1', { 'plan.external_code': 'P1' });
    const place = await makePushPlace({ feeds: { route_plans: erp.feed } });
    const newest = place.now();
    for (let day = 0; day < 3; day++) {
      expect((await place.run(JOB)).error).toMatchObject({ code: 'feed_unreadable' });
      await place.clock.advance(23 * 60 * MINUTE_MS);
      const issues = await pushIssues(place.engine, place.clock.now());
      expect(issues).toMatchObject([{ reason: 'unreadable', entries: 1, newest }]);
    }
  });

  it('sends an item that waits with the options that the feed has now, and its own before those', async () => {
    const feedOptions: Record<string, unknown> = { optimize: true, geocoding: true };
    const place = await makePushPlace({ feedOptions: feedOptions as never });
    const { call } = place.dependencies.fleet;
    const sent: unknown[] = [];
    const noted: Fleet['call'] = (endpoint, request, context) => {
      if (endpoint.name === 'import-route-plan') sent.push((request as { options?: unknown }).options ?? request);
      return call(endpoint, request, context);
    };
    Object.assign(place.dependencies, { fleet: { ...place.dependencies.fleet, call: noted } });
    place.sandbox.addFault({ call: 'import-route-plan', fault: '403', times: 1 });
    place.drop('route_plans', 'a.json', plan('P1', { options: { geocoding: false } }));
    await place.run(JOB);
    expect(await place.entry('P1')).toMatchObject({ state: 'ready' });
    feedOptions.optimize = false;
    await place.clock.advance(MINUTE_MS);
    expect(await place.run(JOB)).toMatchObject({ confirmed: 1 });
    expect(sent).toMatchObject([
      { optimize: true, geocoding: false },
      { optimize: false, geocoding: false },
    ]);
  });

  it('is no success if its query cannot be read, also while a plan has missed the deadline', async () => {
    const feeds: PlaceOptions['feeds'] = {};
    const place = await makePushPlace({ feeds });
    place.drop('route_plans', 'a.json', plan('P1', { vehicle_plate: 'ZZZ0Z00' }));
    await place.run(JOB);
    await place.clock.advance(7 * 60 * MINUTE_MS);
    expect((await place.run(JOB, { deadline: '18:00' })).error).toMatchObject({ code: 'deadline_missed' });
    const erp = await makeSqliteErp(['plan.external_code']);
    await erp.give('P2', { 'plan.external_code': 'P2' });
    feeds.route_plans = erp.feed;
    place.restart();
    expect((await place.run(JOB, { deadline: '18:00' })).error).toMatchObject({ code: 'feed_unreadable' });
  });

  it('keeps a plan that is not at the service as a whole in the health until its period is over, if it has one', async () => {
    const place = await makePushPlace();
    const later = { date_time_start: '2025-03-14T08:00:00-03:00', date_time_end: '2025-03-14T18:00:00-03:00' };
    const route_points = Array.from({ length: 70 }, (_, i) => ({
      name: `Stop ${i}`,
      latitude: -23.5,
      longitude: -46.6 + i / 1_000,
    }));
    place.drop('route_plans', 'a.json', [
      plan('CROWD', { ...later, route_points, options: { optimize: true } }),
      plan('LATER', { ...later, vehicle_plate: 'XXX0X00' }),
      plan('MENDED', { ...later, vehicle_plate: 'XXX0X00' }),
      plan('SOON', { vehicle_plate: 'XXX0X00' }),
      plan('UNDATED', { date_time_start: 'soon', date_time_end: null }),
    ]);
    await place.run(JOB);
    const issues = async () =>
      (await pushIssues(place.engine, place.clock.now())).map(({ reason, entries }) => `${entries} ${reason}`);
    expect(await issues()).toEqual(['4 rejected', '1 partial']);
    await place.clock.advance(25 * 60 * MINUTE_MS);
    expect(await issues()).toEqual(['4 rejected', '1 partial']);
    place.drop('route_plans', 'b.json', plan('MENDED', later));
    expect(await place.run(JOB)).toMatchObject({ sent: 1, confirmed: 1 });
    expect(await issues()).toEqual(['3 rejected', '1 partial']);
    await place.clock.advance(12 * 60 * MINUTE_MS);
    expect(await issues()).toEqual(['2 rejected', '1 partial']);
    await place.clock.advance(24 * 60 * MINUTE_MS);
    expect(await issues()).toEqual(['1 rejected']);
  });

  it('no longer counts an unreadable plan once its code, which may be reused, has a later use', async () => {
    const place = await makePushPlace();
    const issues = async () => (await pushIssues(place.engine, place.clock.now())).map(({ entries }) => entries);
    place.drop('route_plans', 'a.json', plan('R7', { date_time_start: 'soon' }));
    await place.run(JOB, { reuse_codes: true });
    await place.clock.advance(25 * 60 * MINUTE_MS);
    expect(await issues()).toEqual([1]);
    place.drop('route_plans', 'b.json', plan('R7', LONGER));
    expect(await place.run(JOB, { reuse_codes: true })).toMatchObject({ confirmed: 1 });
    expect(await issues()).toEqual([]);
  });

  it('accepts a plan again that changed after it was rejected, and leaves an equal one alone', async () => {
    const place = await makePushPlace();
    place.drop('route_plans', 'a.json', plan('P1', { vehicle_plate: 'ZZZ0Z00' }));
    await place.run(JOB);
    place.drop('route_plans', 'b.json', plan('P1', { vehicle_plate: 'ZZZ0Z00' }));
    expect(await place.run(JOB)).toMatchObject({ sent: 0, unchanged: 1 });
    expect(resultOf(place, 'failed', 'b.json')).toBeDefined();
    place.drop('route_plans', 'c.json', plan('P1'));
    expect(await place.run(JOB)).toMatchObject({ sent: 1, confirmed: 1, updated: 1 });
    expect(place.sandbox.ledger().plans).toEqual({ P1: 1 });
  });

  it('flags a plan that the ERP changed after it was confirmed, reports it once, and never sends it', async () => {
    const place = await makePushPlace();
    const entry = () => place.entry('P1');
    place.drop('route_plans', 'a.json', plan('P1'));
    await place.run(JOB);
    place.drop('route_plans', 'b.json', plan('P1', LONGER));
    expect(await place.run(JOB)).toMatchObject({
      ...{ status: 'partial', sent: 0 },
      error: { code: 'differs', message: '1 plan at the service not as the ERP offers: P1' },
    });
    // The run did its work: the job is not late.
    expect(ITEM_CODES).toContain('differs');
    expect(await place.run(JOB)).toMatchObject({ status: 'ok', error: null });
    expect(isChangedAfterPush(await entry())).toBe(true);
    expect(JSON.stringify(resultOf(place, 'done', 'b.json'))).toContain('changed it after it was pushed');
    const issues = () => pushIssues(place.engine, place.clock.now());
    const text = '1 item at the service differs from what the ERP offers, and no call can change that';
    expect(await issues()).toMatchObject([{ reason: 'differs', entries: 1, jobs: [JOB], text }]);
    const { told_at } = await entry();
    await place.clock.advance(MINUTE_MS);
    await place.run(JOB);
    expect(await entry()).toMatchObject({ told_at });
    place.drop('route_plans', 'c.json', plan('P1'));
    await place.run(JOB);
    expect(isChangedAfterPush(await entry())).toBe(false);
    expect(await issues()).toEqual([]);
    expect(await entry()).toMatchObject({ state: 'confirmed', message: null });
    expect(place.sandbox.ledger().plans).toEqual({ P1: 1 });
  });

  it('says in the health when each of two plans was changed after it was confirmed', async () => {
    const place = await makePushPlace();
    const newest = async () => (await pushIssues(place.engine, place.clock.now())).map((issue) => issue.newest);
    place.drop('route_plans', 'a.json', [plan('P1'), plan('P2')]);
    await place.run(JOB);
    for (const code of ['P1', 'P2']) {
      await place.clock.advance(MINUTE_MS);
      place.drop('route_plans', `${code}.json`, plan(code, LONGER));
      await place.run(JOB);
      expect(await newest()).toEqual([place.now()]);
    }
  });

  it('does not take the reasons of content that could not be read for parts that are missing', async () => {
    const place = await makePushPlace();
    place.drop('route_plans', 'a.json', plan('P1'));
    await place.run(JOB);
    place.drop('route_plans', 'b.json', [plan('P1'), plan(' P1 ', LONGER)]);
    await place.run(JOB);
    expect(await place.entry('P1')).toMatchObject({ attention: 'read_error' });
    place.drop('route_plans', 'c.json', plan('P1', LONGER));
    await place.run(JOB);
    expect(shownState(await place.entry('P1'))).toBe('differs');
  });

  it('names the stops that a plan does not have which the service already had', async () => {
    const place = await makePushPlace();
    place.drop('route_plans', 'a.json', plan('P1'));
    await place.run(JOB);
    await place.engine.write(({ sql }) => sql('push_outbox').delete());
    const stop = { name: 'Late order', type: 'Entrega', address: 'Rua Dois', order: 9, external_code: 'P1-9' };
    const { route_points } = plan('P1') as { route_points: object[] };
    place.drop('route_plans', 'b.json', plan('P1', { route_points: [...route_points, stop] }));
    await place.runs(JOB, 2);
    expect(await place.entry('P1')).toMatchObject({
      state: 'confirmed',
      reasons: expect.stringContaining('P1-9'),
    });
    expect(place.sandbox.ledger().plans).toEqual({ P1: 1 });
  });

  it('confirms a plan that the service already had although its stops cannot be read, says so, and never sends it', async () => {
    const place = await makePushPlace();
    place.drop('route_plans', 'a.json', plan('P1'));
    await place.run(JOB);
    await place.engine.write(({ sql }) => sql('push_outbox').delete());
    place.sandbox.addFault({ call: 'route-plan', fault: '500' });
    place.drop('route_plans', 'b.json', plan('P1'));
    expect(await place.run(JOB)).toMatchObject({ sent: 0, confirmed: 1, error: { code: 'service_failed' } });
    const message = expect.stringMatching(/were not compared$/);
    expect(await place.entry('P1')).toMatchObject({ state: 'confirmed', reasons: null, message });
    place.drop('route_plans', 'c.json', plan('P1', LONGER));
    await place.run(JOB);
    expect(place.sandbox.ledger().plans).toEqual({ P1: 1 });
  });

  it('reads the stops of a hundred plans that the service already had, confirms all of them, and says which were not compared', async () => {
    const place = await makePushPlace();
    const many = Array.from({ length: 120 }, (_, n) => plan(`P${n}`));
    place.drop('route_plans', 'a.json', many);
    await place.run(JOB);
    await place.engine.write(({ sql }) => sql('push_outbox').delete());
    const { requests: before } = place.sandbox.ledger();
    place.drop('route_plans', 'b.json', many);
    expect(await place.run(JOB)).toMatchObject({ sent: 0, confirmed: 120, error: null });
    const uncompared = (await place.outbox()).filter(({ message }) => message?.endsWith('were not compared'));
    expect(uncompared).toHaveLength(20);
    const { plans, requests } = place.sandbox.ledger();
    expect((requests['route-plan'] ?? 0) - (before['route-plan'] ?? 0)).toBe(100);
    expect(new Set(Object.values(plans))).toEqual(new Set([1]));
  });

  it('sends a rejected plan once that was corrected wrongly and then rightly, wherever the first send may have put it', async () => {
    const WRONG = [{ date_time_end: 'soon' }, { ...NEXT_DAY, route_points: [] }];
    for (const wrong of WRONG)
      for (const isStored of [false, true]) {
        const place = await makePushPlace({ sandbox: { importVisibleAfterMs: MINUTE_MS / 2 } });
        place.sandbox.addFault({ call: 'import-route-plan', fault: '422', after_commit: isStored, times: 1 });
        place.drop('route_plans', 'a.json', plan('P1'));
        await place.run(JOB);
        await place.clock.advance(MINUTE_MS / 4);
        place.drop('route_plans', 'b.json', plan('P1', wrong));
        expect(await place.run(JOB)).toMatchObject({ rejected: 1 });
        await place.clock.advance(MINUTE_MS);
        place.drop('route_plans', 'c.json', plan('P1', NEXT_DAY));
        await place.run(JOB);
        await place.clock.advance(5 * MINUTE_MS);
        await place.run(JOB);
        expect(place.sandbox.ledger().plans).toEqual({ P1: 1 });
        expect(await place.entry('P1')).toMatchObject({ state: 'confirmed' });
      }
  });

  it('does not send plans that the service already has, as after a lost outbox', async () => {
    const place = await makePushPlace();
    place.drop('route_plans', 'a.json', [plan('P1'), plan('P2')]);
    await place.run(JOB);
    await place.engine.write(async ({ sql }) => {
      await sql('push_attempt').delete();
      await sql('push_outbox').delete();
    });
    place.drop('route_plans', 'b.json', [plan('P1'), plan('P2'), plan('P3')]);
    expect(await place.run(JOB)).toMatchObject({ sent: 1, confirmed: 3 });
    expect(place.sandbox.ledger().plans).toEqual({ P1: 1, P2: 1, P3: 1 });
    expect((await place.outbox())[0]?.message).toMatch(/already had it/);
  });

  it('names every identifier when the service has a plan more than once, in every run until it has one', async () => {
    const place = await makePushPlace();
    place.drop('route_plans', 'a.json', plan('P1'));
    await place.run(JOB);
    const { remote_id } = await place.entry('P1');
    const record = { id: 999_999, external_code: 'P1', status: 'P' };
    const records = `${place.sandbox.url}/_sandbox/records`;
    await fetch(records, {
      method: 'POST',
      body: JSON.stringify({ call: 'route-plans', records: [record] }),
    });
    await place.engine.write(({ sql }) => sql('push_outbox').delete());
    place.drop('route_plans', 'b.json', plan('P1'));
    for (let runs = 0; runs < 2; runs++) {
      expect(await place.run(JOB)).toMatchObject({ status: 'partial', error: { code: 'found_twice' } });
      expect(await place.entry('P1')).toMatchObject({
        state: 'confirmed',
        message: expect.stringContaining(`${remote_id}, 999999`),
      });
      await place.clock.advance(15 * MINUTE_MS);
    }
    await fetch(records, { method: 'DELETE' });
    expect(await place.run(JOB)).toMatchObject({ status: 'ok' });
    expect(await place.entry('P1')).toMatchObject({ attention: null, message: null, remote_id });
  });

  it('reads back a plan until its optimisation is over, and reports a failed one', async () => {
    const place = await makePushPlace();
    const options = { optimize: true, geocoding: false, is_async: true };
    place.drop(
      'route_plans',
      'a.json',
      plans(60).map((each) => ({ ...each, options })),
    );
    expect(await place.run(JOB)).toMatchObject({ confirmed: 60 });
    await place.clock.advance(5 * MINUTE_MS);
    await place.run(JOB);
    const failed = (await place.outbox()).filter(({ remote_status }) => remote_status === 'I');
    expect(failed.length).toBeGreaterThan(0);
    for (const { state, message } of failed)
      expect([state, message]).toEqual(['confirmed', expect.stringContaining('could not optimise')]);
    expect(await place.run(JOB)).toMatchObject({ requests: 0 });
  });

  it('reports by the deadline which plans of tomorrow are not confirmed', async () => {
    const place = await makePushPlace();
    place.drop('route_plans', 'a.json', [plan('P1', { vehicle_plate: 'ZZZ0Z00' }), plan('P2')]);
    expect((await place.run(JOB, { deadline: '18:00' })).error).toMatchObject({ code: 'items_rejected' });
    await place.clock.advance(7 * 60 * MINUTE_MS);
    const { error, status } = await place.run(JOB, { deadline: '18:00' });
    expect(status).toBe('partial');
    expect(error).toMatchObject({
      code: 'deadline_missed',
      message: expect.stringContaining('P1 (rejected)'),
    });
    expect(error?.message).not.toContain('P2');
    const asked = { deadline: '18:00', timezone: 'America/Sao_Paulo', now: place.clock.now() };
    const missed = [{ external_code: 'P1', state: 'rejected' }];
    expect(await plansByDeadline(place.engine, asked)).toMatchObject({ confirmed: 1, open: 1, missed });
    const on = (time: string, deadline = '18:00') =>
      plansByDeadline(place.engine, { ...asked, deadline, now: Date.parse(`2025-03-${time}-03:00`) });
    expect(await on('12T22:59', '23:00')).toMatchObject({ open: 1, missed: [] });
    // After midnight it is no plan of tomorrow, and still missed until it is over.
    expect(await on('13T00:00')).toMatchObject({ open: 0, missed });
    expect(await on('13T17:59')).toMatchObject({ missed });
    expect(await on('13T18:00')).toMatchObject({ missed: [] });
  });

  it('holds a plan that was moved to the present day against no deadline, and a corrected one still', async () => {
    const place = await makePushPlace();
    const wrong = { vehicle_plate: 'ZZZ0Z00' };
    const later = { date_time_start: '2025-03-14T08:00:00-03:00', date_time_end: '2025-03-14T18:00:00-03:00' };
    place.drop('route_plans', 'a.json', [plan('CORRECTED', wrong), plan('MOVED', { ...wrong, ...later })]);
    await place.run(JOB);
    await place.clock.advance(23 * 60 * MINUTE_MS);
    place.drop('route_plans', 'b.json', [plan('CORRECTED', { ...wrong, ...LONGER }), plan('MOVED', wrong)]);
    expect(await place.run(JOB)).toMatchObject({ sent: 2, updated: 2 });
    const asked = { deadline: '18:00', timezone: 'America/Sao_Paulo', now: place.clock.now() };
    const { missed } = await plansByDeadline(place.engine, asked);
    expect(missed).toMatchObject([{ external_code: 'CORRECTED', state: 'rejected' }]);
    expect(missed).toHaveLength(1);
  });

  it('rejects a code that comes again for another day, says so, and names it by the deadline', async () => {
    const place = await makePushPlace();
    const today = {
      date_time_start: '2025-03-12T08:00:00-03:00',
      date_time_end: '2025-03-12T18:00:00-03:00',
    };
    place.drop('route_plans', 'a.json', plan('P1', today));
    await place.run(JOB);
    place.drop('route_plans', 'b.json', plan('P1'));
    expect(await place.run(JOB)).toMatchObject({
      status: 'partial',
      rejected: 1,
      error: { code: 'code_reused' },
    });
    expect(JSON.stringify(resultOf(place, 'failed', 'b.json'))).toMatch(/code_reused: .*2025-03-12/);
    await place.clock.advance(8 * 60 * MINUTE_MS);
    const { error } = await place.run(JOB, { deadline: '18:00' });
    expect(error).toMatchObject({
      code: 'deadline_missed',
      message: expect.stringContaining('P1 (rejected)'),
    });
    expect(place.sandbox.ledger().plans).toEqual({ P1: 1 });
  });

  it('shows in a dry run what would happen, and changes nothing', async () => {
    const place = await makePushPlace();
    place.drop('route_plans', 'a.json', [plan('P1'), plan('P2'), plan('NOBODY', { vehicle_plate: 'ZZZ0Z00' })]);
    await place.run(JOB);
    place.drop('route_plans', 'b.json', [
      plan('P1', LONGER),
      plan('NEW'),
      plan('BAD', { document_number: '11111111111' }),
      ...['P2', 'NOBODY'].flatMap((unreadable) => [plan(unreadable), plan(unreadable)]),
    ]);
    place.drop('route_plans', LONG_NAME, plan('P3'));
    const before = [await place.outbox(), place.sandbox.ledger().requests];
    const lines = await place.preview(JOB);
    const rejected = Array.from({ length: 4 }, () => 'reject');
    expect(lines.map(({ what }) => what)).toEqual(['flag as changed after push', 'send', ...rejected]);
    expect(JSON.stringify(lines[2])).toContain('document_number');
    expect([await place.outbox(), place.sandbox.ledger().requests]).toEqual(before);
    expect(readdirSync(place.folder('route_plans'))).toContain('b.json');
  });

  it('shows in a dry run that a code is rejected which a later part of the file repeats', async () => {
    const place = await makePushPlace();
    const others = Array.from({ length: 600 }, (_, i) => plan(`P${i}`));
    place.drop('route_plans', 'a.json', [plan('TWICE'), ...others, plan('TWICE', LONGER)]);
    const lines = (await place.preview(JOB)).filter(({ detail }) => JSON.stringify(detail).includes('TWICE'));
    expect(lines).toMatchObject([{ what: 'reject', detail: { reasons: [expect.stringContaining('already read')] } }]);
  });

  it('keeps a tax number no longer than it may have to be sent, and never logs it', async () => {
    const place = await makePushPlace();
    const [cpf] = CPFS;
    place.drop('route_plans', 'a.json', plan('P1', { document_number: cpf }));
    await place.run(JOB);
    expect((await place.outbox())[0]).toMatchObject({ state: 'rejected' });
    await place.clock.advance(8 * 24 * 60 * MINUTE_MS);
    await place.run(JOB);
    const dumps = await Promise.all(
      ['push_outbox', 'push_attempt', 'sync_run'].map((table) => place.engine.read((sql) => sql(table))),
    );
    expect(JSON.stringify(dumps)).not.toContain(cpf);
    expect(place.lines.join('\n')).not.toContain(cpf);
  });
});
