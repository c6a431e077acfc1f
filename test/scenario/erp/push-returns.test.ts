// The outcome of each stop goes back to the ERP, once for each change, from the service or from the warehouse.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Feed } from '../../../src/erp/source.ts';
import { pushIssues } from '../../../src/sync/push/push-issues.ts';
import { jobHistory } from '../../../src/warehouse/control/runs.ts';
import { makeSqliteErp } from '../../support/erp/sqlite-erp.ts';
import { makePushPlace, type PlaceOptions, type PushPlace } from '../../support/push/push-place.ts';
import { plan } from '../../support/push/push-samples.ts';

const JOB = 'return-executions';
const HOUR_MS = 3_600_000;

const fileOf = (place: PushPlace): string => join(place.folder('route_plans'), 'returns', 'P1.json');
const stopsOf = (place: PushPlace) => JSON.parse(readFileSync(fileOf(place), 'utf8')).stops;

async function pushed(...plans: Record<string, unknown>[]): Promise<PushPlace> {
  return pushedTo({}, ...plans);
}

async function pushedTo(options: PlaceOptions, ...plans: Record<string, unknown>[]): Promise<PushPlace> {
  // A pull of plans reads those of the whole fleet.
  const place = await makePushPlace({ sandbox: { vehicles: 2 }, ...options });
  place.drop('route_plans', 'a.json', plans.length > 0 ? plans : plan('P1'));
  await place.run('push-route-plans');
  return place;
}

type Point = Record<string, unknown> & { external_code?: string; routes_info?: Record<string, unknown>[] };
type Edit = (point: Point) => Point[];

/** A service whose answers show the points of a plan as the last edit changed them. */
function editedService() {
  let edit: Edit = (point) => [point];
  const answering: PlaceOptions['answering'] = async (url, original, { method }) => {
    const isPoint = url.pathname.endsWith('/import/route_point');
    if (method !== 'GET' || !(isPoint || url.pathname.endsWith('/import/route_plan'))) return undefined;
    const body = (await original()) as { data: Point[] };
    const data = isPoint
      ? body.data.flatMap(edit)
      : body.data.map((each) => ({ ...each, route_points: (each.route_points as Point[])?.flatMap(edit) }));
    return { body: { ...body, data } };
  };
  const becomes = (next: Edit): void => {
    edit = next;
  };
  return { answering, becomes };
}

/** Changes the stop P1-1 and leaves the others as they are. */
const customer =
  (change: (point: Point) => Point | undefined): Edit =>
  (point) =>
    point.external_code === 'P1-1' ? [change(point) ?? []].flat() : [point];

const withoutExecution = customer((point) => ({ ...point, routes_info: [] }));
const withoutTime = customer((point) => ({
  ...point,
  routes_info: point.routes_info?.map((execution) => ({ ...execution, return_date: null })),
}));
const inStatus = (status: string) => customer((point) => ({ ...point, status }));

/** Both ways in which the outcome of a stop becomes known. */
const SOURCES = [
  ['the service', false],
  ['the warehouse', true],
] as const;

/** A run that reads the current state of the service. */
async function nextRun(place: PushPlace, isPulled: boolean) {
  if (isPulled) expect(await place.run('pull-route-plans')).toMatchObject({ status: 'ok' });
  return place.run(JOB);
}

describe('return-executions', () => {
  it('returns each outcome once, whether the service or the warehouse shows it', async () => {
    const place = await pushed();
    expect(await place.run(JOB)).toMatchObject({ status: 'ok', records: 0, requests: 0 });
    expect(existsSync(fileOf(place))).toBe(false);
    await place.clock.advance(60 * HOUR_MS);
    expect(await place.run(JOB)).toMatchObject({ status: 'ok', sent: 2, inserted: 2 });
    expect(stopsOf(place)).toMatchObject([
      { point_external_code: 'P1-0', status: 'R', executed_at: expect.stringMatching(/^2025-03-13T.*Z$/) },
      { point_external_code: 'P1-1', pictures: expect.any(Array) },
    ]);
    expect(await place.run(JOB)).toMatchObject({ sent: 0, unchanged: 2 });
    await place.run('pull-route-plans');
    expect(await place.run(JOB)).toMatchObject({ sent: 0, unchanged: 2, requests: 0 });
  });

  it('counts nothing as returned while the ERP has no place for it', async () => {
    const feeds: PlaceOptions['feeds'] = {};
    const place = await pushedTo({ feeds });
    await place.clock.advance(60 * HOUR_MS);
    feeds.route_plans = (await makeSqliteErp(['plan.external_code'], 'false')).feed;
    place.restart();
    expect(await place.run(JOB)).toMatchObject({ status: 'ok', sent: 0, requests: 0 });
    delete feeds.route_plans;
    place.restart();
    expect(await place.run(JOB)).toMatchObject({ sent: 2 });
  });

  it('returns the outcomes of a month in which it did not run', async () => {
    const place = await pushed();
    expect(await place.run(JOB)).toMatchObject({ status: 'ok', sent: 0 });
    await place.clock.advance(30 * 24 * HOUR_MS);
    expect(await place.run(JOB)).toMatchObject({ sent: 2 });
  });

  it('notifies again of an outcome that changed', async () => {
    const place = await pushed();
    await place.clock.advance(60 * HOUR_MS);
    await place.run('pull-route-plans');
    await place.run(JOB);
    await place.engine.write(({ sql }) => sql('route_point').where({ external_code: 'P1-1' }).update({ status: 'M' }));
    expect(await place.run(JOB)).toMatchObject({ sent: 1, updated: 1, unchanged: 1 });
    expect(stopsOf(place)[1]).toMatchObject({ status: 'M' });
  });

  it('notifies again of an outcome that was sent but not stored, and that changes nothing', async () => {
    const place = await pushed();
    await place.clock.advance(60 * HOUR_MS);
    await place.run(JOB);
    const notified = readFileSync(fileOf(place), 'utf8');
    await place.engine.write(({ sql }) => sql('push_return').delete());
    expect(await place.run(JOB)).toMatchObject({ sent: 2 });
    expect(readFileSync(fileOf(place), 'utf8')).toBe(notified);
  });

  it('notifies of all the others when the ERP rejects one, and of that one once it is corrected', async () => {
    const place = await pushed(plan('P1'), plan('P2'), plan('P3'));
    await place.clock.advance(60 * HOUR_MS);
    mkdirSync(join(fileOf(place), '..'), { recursive: true });
    writeFileSync(fileOf(place), 'not written here');
    const { error } = await place.run(JOB);
    expect(error?.code).toBe('erp_return_unreadable');
    expect(place.lines.join()).toContain('ERP could not be notified');
    const notified = () =>
      place.engine.read((sql) => sql('push_return').distinct('plan_external_code').pluck('plan_external_code'));
    expect((await notified()).sort()).toEqual(['P2', 'P3']);
    expect(existsSync(join(fileOf(place), '../P3.json'))).toBe(true);
    rmSync(fileOf(place));
    expect(await place.run(JOB)).toMatchObject({ error: null, sent: 2, unchanged: 4 });
    expect(stopsOf(place)).toHaveLength(2);
  });

  it('reports a plan that the service does not answer for, and returns the others', async () => {
    const place = await pushed(plan('P1'), plan('P2'));
    await place.clock.advance(60 * HOUR_MS);
    place.sandbox.addFault({ call: 'route-plan', fault: '400', times: 1 });
    expect(await place.run(JOB)).toMatchObject({ status: 'partial', sent: 2 });
    expect(place.lines.join()).toContain('stops of a plan could not be read');
  });

  it('asks the service for a single stop if the warehouse does not know its execution time', async () => {
    const place = await pushed();
    await place.clock.advance(60 * HOUR_MS);
    await place.run('pull-route-plans');
    await place.engine.write(({ sql }) =>
      sql('route_point_execution')
        .whereIn('route_point_id', sql('route_point').where({ external_code: 'P1-1' }).select('id'))
        .delete(),
    );
    expect(await place.run(JOB)).toMatchObject({ status: 'ok', sent: 2, requests: 1 });
    expect(place.sandbox.ledger().requests['route-point']).toBe(1);
    const stops: { point_external_code: string }[] = stopsOf(place);
    expect(stops.find(({ point_external_code }) => point_external_code === 'P1-1')).toMatchObject({
      executed_at: expect.stringMatching(/^2025-03-1\d/),
      pictures: expect.any(Array),
    });
    expect(await place.run(JOB)).toMatchObject({ sent: 0, unchanged: 2 });
  });

  it('leaves a stop for the next run if the service does not answer for it now, and returns what is known if it never does', async () => {
    const place = await pushed();
    await place.clock.advance(60 * HOUR_MS);
    await place.run('pull-route-plans');
    await place.engine.write(({ sql }) => sql('route_point_execution').delete());
    place.sandbox.addFault({ call: 'route-point', fault: '500' });
    expect(await place.run(JOB)).toMatchObject({ sent: 0 });
    place.sandbox.clearFaults();
    place.sandbox.addFault({ call: 'route-point', fault: '400', times: 1 });
    expect(await place.run(JOB)).toMatchObject({ status: 'partial', sent: 2 });
    const times = stopsOf(place).map(({ executed_at }: { executed_at: string | null }) => executed_at);
    expect(times.sort()).toEqual([expect.stringMatching(/^2025-03-1/), null]);
  });

  it('takes the stop that was asked for, whatever else the answer shows', async () => {
    const { answering, becomes } = editedService();
    const place = await pushedTo({ answering });
    await place.clock.advance(60 * HOUR_MS);
    await place.run('pull-route-plans');
    await place.engine.write(({ sql }) => sql('route_point_execution').delete());
    becomes((point) => [{ ...point, external_code: 'other', routes_info: [] }, point]);
    expect(await place.run(JOB)).toMatchObject({ status: 'ok', sent: 2 });
    expect(stopsOf(place)).toMatchObject(
      ['P1-0', 'P1-1'].map((point_external_code) => ({ point_external_code, executed_at: expect.any(String) })),
    );
  });

  describe.each(SOURCES)('when %s shows the stops', (_, isPulled) => {
    it.each([
      ['its execution vanishes', withoutExecution],
      ['its execution loses its time', withoutTime],
    ])('does not notify an outcome again without its time when %s', async (_what, edit) => {
      const { answering, becomes } = editedService();
      const place = await pushedTo({ answering });
      await place.clock.advance(60 * HOUR_MS);
      expect(await nextRun(place, isPulled)).toMatchObject({ sent: 2 });
      const before = readFileSync(fileOf(place), 'utf8');
      becomes(edit);
      const requests = isPulled ? 0 : 1;
      expect(await nextRun(place, isPulled)).toMatchObject({ status: 'ok', sent: 0, unchanged: 2, requests });
      expect(readFileSync(fileOf(place), 'utf8')).toBe(before);
    });

    it('keeps the time of an outcome whose status changes while its execution vanishes', async () => {
      const { answering, becomes } = editedService();
      const place = await pushedTo({ answering });
      await place.clock.advance(60 * HOUR_MS);
      await nextRun(place, isPulled);
      const [, { executed_at }] = stopsOf(place);
      becomes((point) => withoutExecution(point).flatMap(inStatus('M')));
      expect(await nextRun(place, isPulled)).toMatchObject({ sent: 1, updated: 1, unchanged: 1 });
      expect(stopsOf(place)[1]).toMatchObject({ status: 'M', executed_at });
      expect(await nextRun(place, isPulled)).toMatchObject({ sent: 0, unchanged: 2 });
    });

    it('does not count an execution or a stop that has vanished', async () => {
      const { answering, becomes } = editedService();
      const place = await pushedTo({ answering });
      await place.clock.advance(60 * HOUR_MS);
      if (isPulled) await place.run('pull-route-plans');
      becomes((point) => (point.external_code === 'P1-0' ? [] : withoutExecution(point)));
      expect(await nextRun(place, isPulled)).toMatchObject({ status: 'ok', sent: 1 });
      expect(place.sandbox.ledger().requests['route-point'] ?? 0).toBe(isPulled ? 1 : 0);
      expect(stopsOf(place)).toEqual([
        { point_external_code: 'P1-1', status: 'E', executed_at: null, reason: null, pictures: [] },
      ]);
    });

    it('neither notifies of nor counts a stop that has always been pending', async () => {
      const { answering, becomes } = editedService();
      const place = await pushedTo({ answering });
      await place.clock.advance(60 * HOUR_MS);
      becomes(inStatus('P'));
      expect(await nextRun(place, isPulled)).toMatchObject({ status: 'ok', records: 1, sent: 1 });
      expect(await nextRun(place, isPulled)).toMatchObject({ records: 1, sent: 0, unchanged: 1 });
    });

    it('notifies once that a stop is pending again, and then its next outcome', async () => {
      const { answering, becomes } = editedService();
      const place = await pushedTo({ answering });
      await place.clock.advance(60 * HOUR_MS);
      await nextRun(place, isPulled);
      const [, before] = stopsOf(place);
      becomes(inStatus('P'));
      expect(await nextRun(place, isPulled)).toMatchObject({ sent: 1, updated: 1, unchanged: 1 });
      const pending = { status: 'P', executed_at: null, reason: null, pictures: [] };
      expect(stopsOf(place)[1]).toEqual({ point_external_code: 'P1-1', ...pending });
      expect(await nextRun(place, isPulled)).toMatchObject({ sent: 0, unchanged: 2 });
      becomes((point) => [point]);
      expect(await nextRun(place, isPulled)).toMatchObject({ sent: 1, updated: 1, unchanged: 1 });
      expect(stopsOf(place)[1]).toEqual(before);
    });

    it('reports once for each new count that stops have no code', async () => {
      const { answering, becomes } = editedService();
      const place = await pushedTo({ answering });
      await place.clock.advance(60 * HOUR_MS);
      becomes(customer((point) => ({ ...point, external_code: undefined })));
      const { error, status, sent } = await nextRun(place, isPulled);
      expect(error).toMatchObject({
        code: 'stops_without_code',
        message: expect.stringMatching(/^1 stops .* P1$/),
      });
      expect([status, sent]).toEqual(['partial', 1]);
      const { lastSuccessAt } = await jobHistory(place.engine, JOB, place.clock.now());
      expect(lastSuccessAt, 'a run that returned all other outcomes').toBe(place.now());
      expect(stopsOf(place)).toMatchObject([{ point_external_code: 'P1-0' }]);
      const noted = () =>
        place.engine.read((sql) => sql('push_return').where({ point_external_code: '' }).pluck('status'));
      expect(await noted()).toEqual(['1']);
      expect(await nextRun(place, isPulled)).toMatchObject({ status: 'ok', error: null, unchanged: 1 });
      becomes((point) => [{ ...point, external_code: undefined }]);
      expect((await nextRun(place, isPulled)).error?.message).toMatch(/^2 stops/);
      const newest = place.now();
      expect(await noted()).toEqual(['2']);
      expect(await nextRun(place, isPulled)).toMatchObject({ status: 'ok', error: null });
      const issues = () => pushIssues(place.engine, place.clock.now());
      expect(await issues()).toMatchObject([{ reason: 'stops_without_code', entries: 2, jobs: [JOB], newest }]);
      await place.clock.advance(24 * HOUR_MS + 1);
      expect(await issues()).toEqual([]);
    });
  });

  it('reports stops without a code again if the run ended before its result was stored', async () => {
    const { answering, becomes } = editedService();
    const place = await pushedTo({ answering });
    await place.clock.advance(60 * HOUR_MS);
    becomes(customer((point) => ({ ...point, external_code: undefined })));
    await place.run('pull-route-plans');
    mkdirSync(join(fileOf(place), '..'), { recursive: true });
    const ended = new AbortController();
    const { source } = (await place.dependencies.erp('route_plans')) as Feed;
    const notify = source.returnExecutions;
    source.returnExecutions = async (stops) => {
      source.returnExecutions = notify;
      ended.abort(new Error('the process ends'));
      return notify?.(stops);
    };
    const { status, error } = await place.run(JOB, {}, ended.signal);
    expect([status, error?.code]).toEqual(['partial', 'stopped']);
    expect((await place.run(JOB)).error).toMatchObject({ code: 'stops_without_code' });
  });

  it('shows in a dry run the outcomes that would be returned, and returns nothing', async () => {
    const place = await pushed();
    await place.clock.advance(60 * HOUR_MS);
    rmSync(fileOf(place), { force: true });
    expect(await place.preview(JOB)).toHaveLength(2);
    expect(existsSync(fileOf(place))).toBe(false);
  });
});
