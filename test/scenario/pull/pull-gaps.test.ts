// Ways in which data could be missed for ever, each closed: failed slices, empty dimensions, incomplete answers,
// records that come back, fields in another order.
import { afterEach, describe, expect, it } from 'vitest';
import { createManualClock } from '../../../src/core/time/manual-clock.ts';
import { putBefore } from '../../support/pull/pull-setup.ts';
import { makeRig, type Rig } from '../../support/pull/rig.ts';

const HOUR = 3_600_000;
const START = '2026-03-10T12:00:00.000Z';
let rig: Rig;
afterEach(() => rig.close());

const records = (call: string, list: unknown[]) =>
  fetch(`${rig.sandbox.url}/_sandbox/records`, {
    method: 'POST',
    body: JSON.stringify({ call, records: list }),
  });
const noRecords = () => fetch(`${rig.sandbox.url}/_sandbox/records`, { method: 'DELETE' });

describe('nothing is missed for ever', () => {
  it('when a slice of a long outage fails: its gap stays due', async () => {
    rig = await makeRig({ startAt: START, sandbox: { vehicles: 3, churn: false } });
    const options = { since: '5d', lookback: '1h', categories: [1] };
    await rig.run('pull-events', options);
    await rig.clock.advance(45 * 24 * HOUR);
    rig.sandbox.addFault({ call: 'events', fault: '409', times: 1 });
    expect((await rig.run('pull-events', options)).status).toBe('partial');
    await rig.clock.advance(HOUR);
    await rig.run('pull-events', options);
    const truth = (
      await rig.truth('events', { from: START, to: new Date(rig.clock.now() - 3 * 24 * HOUR).toISOString() })
    ).filter(({ event_category }) => event_category === 1);
    const ids = `select count(*) as n from event where id in (${truth.map(({ id }) => id).join(',')})`;
    expect(await rig.rows(ids)).toEqual([{ n: truth.length }]);
  });

  it('when a part of the lookback of events fails and a later part loads: it stays due for those vehicles', async () => {
    rig = await makeRig({ startAt: START, sandbox: { vehicles: 120, churn: false } });
    const options = { since: '5d', lookback: '3d', daily_lookback: '0s', silence: '90d', categories: [1] };
    const coverage = () =>
      rig.rows(`select count(*) as vehicles, begins, ends from (
        select scope, count(*) as begins, max(end_at) as ends from sync_coverage where job = 'pull-events' group by scope)
        group by begins, ends order by vehicles`);
    await rig.run('pull-events', options);
    const [before] = await coverage();
    await rig.clock.advance(HOUR);
    const early = new Date(rig.clock.now() - 48 * HOUR).toISOString();
    await putBefore(rig, (url) => {
      if (url.pathname !== '/event/') return undefined;
      const { vehicles_id = '', periods = '' } = Object.fromEntries(url.searchParams);
      const isFew = vehicles_id.split(',').length < 50;
      return isFew || JSON.parse(periods)[0].begin < early ? { status: 422, body: {} } : undefined;
    });
    for (let run = 0; run < 2; run++) {
      expect(await rig.run('pull-events', options)).toMatchObject({ status: 'partial' });
      // Nothing was read of the few vehicles: their edge shows what is due, and stays.
      expect(await coverage()).toEqual([
        { vehicles: 20, begins: 1, ends: before?.ends },
        { vehicles: 100, begins: 2, ends: new Date(rig.clock.now() - 60_000).toISOString() },
      ]);
    }
  });

  it('when a day of plans cannot be searched again until it is beyond the lookback: it stays due', async () => {
    rig = await makeRig({ startAt: START, sandbox: { vehicles: 2, churn: false } });
    const options = { since: '3d', lookback: '1d' };
    let isRejected = false;
    const hidden = { id: 0 };
    await putBefore(rig, async (url, original) => {
      if (url.pathname !== '/import/route_plan' || !url.searchParams.has('begin_date')) return undefined;
      const begin = Date.parse(url.searchParams.get('begin_date') ?? '') + 1;
      const isDay = new Date(begin).toISOString().startsWith('2026-03-09');
      if (isRejected) return isDay ? { status: 422, body: {} } : undefined;
      const { data } = (await original()) as { data?: { id: number; date_time_start: string }[] };
      if (hidden.id === 0 && isDay)
        hidden.id = data?.find((plan) => plan.date_time_start.startsWith('2026-03-09'))?.id ?? 0;
      // The plan becomes known after the first run.
      return data && { body: { data: isFirst ? data.filter(({ id }) => id !== hidden.id) : data } };
    });
    let isFirst = true;
    const found = () => rig.rows(`select id from route_plan where id = ${hidden.id}`);
    expect(await rig.run('pull-route-plans', options)).toMatchObject({ status: 'ok' });
    expect(hidden.id).toBeGreaterThan(0);
    expect(await found()).toEqual([]);
    [isFirst, isRejected] = [false, true];
    for (let day = 0; day < 4; day++) {
      await rig.clock.advance(24 * HOUR);
      expect(await rig.run('pull-route-plans', options)).toMatchObject({ status: 'partial' });
    }
    isRejected = false;
    expect(await rig.run('pull-route-plans', options)).toMatchObject({ status: 'ok' });
    expect(await found()).toEqual([hidden]);
  });

  it('when a search leaves out what begins with its period: the record is found', async () => {
    rig = await makeRig({ startAt: START, sandbox: { vehicles: 1, churn: false } });
    const since = 3 * 24 * HOUR;
    const at = new Date(rig.clock.now() - 60_000 - since).toISOString();
    const first = { id: 987_654_321, event_category: 1, vehicle: { id: 1_000_000 }, begin_date: at, end_date: at };
    await putBefore(rig, async (url, original) => {
      if (url.pathname !== '/event/') return undefined;
      const [period]: { begin: string; end: string }[] = JSON.parse(url.searchParams.get('periods') ?? '');
      const isFirst =
        url.searchParams.get('event_category') === '1' && Date.parse(period?.begin ?? '') < Date.parse(at);
      const found = (await original()) as unknown[];
      return { body: isFirst ? [...found, first] : found };
    });
    await rig.run('pull-vehicles');
    expect(await rig.run('pull-events', { since: '3d', categories: [1] })).toMatchObject({ status: 'ok' });
    expect(await rig.rows(`select id from event where begin_date = '${at}'`)).toEqual([{ id: first.id }]);
  });

  it('when a search leaves out a plan that starts with its period: the plan is found', async () => {
    rig = await makeRig({ startAt: START, sandbox: { vehicles: 2, churn: false } });
    const midnight = '2026-03-09T00:00:00.000Z';
    const expected = new Set<number>();
    // Every plan starts at midnight, where its search begins.
    await putBefore(rig, async (url, original) => {
      if (url.pathname !== '/import/route_plan') return undefined;
      const begin = Date.parse(url.searchParams.get('begin_date') ?? '');
      const { data } = (await original()) as { data: { id: number; date_time_start: string }[] };
      const plans = data.map((plan) => {
        const day = new Date(plan.date_time_start).toISOString().slice(0, 10);
        return { ...plan, date_time_start: `${day}T00:00:00.000Z` };
      });
      for (const { id, date_time_start } of plans) if (date_time_start === midnight) expected.add(id);
      return { body: { data: plans.filter((plan) => !(Date.parse(plan.date_time_start) <= begin)) } };
    });
    expect(await rig.run('pull-route-plans', { since: '3d' })).toMatchObject({ status: 'ok' });
    const found = await rig.rows(`select id from route_plan where date_time_start = '${midnight}'`);
    expect(expected.size).toBeGreaterThan(0);
    expect(new Set(found.map(({ id }) => id))).toEqual(expected);
  });

  it('when the clock was ahead for a while: the time it marked covered is read once it has come', async () => {
    rig = await makeRig({ startAt: START, sandbox: { vehicles: 3, churn: false } });
    // Without the daily lookback, which would read these days again by chance.
    const options = { since: '3d', lookback: '1h', daily_lookback: '0s', categories: [1] };
    rig.dependencies.clock = createManualClock(rig.clock.now() + 48 * HOUR);
    await rig.run('pull-events', options);
    rig.dependencies.clock = rig.clock;
    await rig.run('pull-events', options);
    await rig.clock.advance(30 * HOUR);
    await rig.run('pull-events', options);
    const until = new Date(rig.clock.now() - 12 * HOUR).toISOString();
    const truth = await rig.truth('events', { from: START, to: until });
    const ids = truth.filter(({ event_category }) => event_category === 1).map(({ id }) => id);
    expect(ids.length).toBeGreaterThan(0);
    const known = `select count(*) as n from event where id in (${ids.join(',')})`;
    expect(await rig.rows(known)).toEqual([{ n: ids.length }]);
  });

  it('when a search omits plans and the answer for each is something else: no plan or point is marked missing', async () => {
    rig = await makeRig({ startAt: START, sandbox: { vehicles: 3, churn: false } });
    const options = { since: '2d' };
    await rig.run('pull-route-plans', options);
    await putBefore(rig, (url) => {
      if (url.pathname !== '/import/route_plan') return undefined;
      return { body: { data: url.searchParams.has('route_plan_id') ? [{ id: 'odd' }] : [] } };
    });
    const { quarantined } = await rig.run('pull-route-plans', options);
    expect(quarantined).toBeGreaterThan(0);
    for (const table of ['route_plan', 'route_point']) {
      const gone = await rig.rows(`select id from ${table} where _missing_since is not null`);
      expect(gone).toEqual([]);
    }
  });

  it.each([
    ['at the top', (error: unknown) => error],
    ['in data', (error: unknown) => ({ data: error })],
  ])(
    'when an error document with a title comes with status 200, %s: nothing is covered, marked or stored',
    async (_where, shaped) => {
      rig = await makeRig({ startAt: START, sandbox: { vehicles: 2, churn: false } });
      const jobs = ['pull-vehicles', 'pull-drivers', 'pull-itineraries', 'pull-route-plans'];
      for (const job of jobs) await rig.run(job);
      const held = () =>
        Promise.all(
          ['vehicle', 'driver', 'itinerary', 'route_plan', 'sync_coverage', 'sync_quarantine'].map((table) =>
            rig.rows(`select * from ${table} order by 1, 2`),
          ),
        );
      const before = await held();
      await rig.clock.advance(3 * HOUR);
      await putBefore(rig, (url) => {
        if (url.pathname.startsWith('/auth/')) return undefined;
        return { body: shaped({ type: 'about:blank', title: 'Service unavailable', status: 503 }) };
      });
      for (const job of jobs) {
        const { status, error } = await rig.run(job);
        expect({ job, status, code: error?.code }).toEqual({ job, status: 'failed', code: 'bad_answer' });
      }
      expect(await held()).toEqual(before);
    },
  );

  it('when an error document comes for daily figures, which have only a title: it is not stored as one', async () => {
    rig = await makeRig({ startAt: START, sandbox: { vehicles: 2, churn: false } });
    await rig.run('pull-daily-summaries', { since: '2d' });
    const held = () =>
      Promise.all(
        ['daily_summary', 'sync_coverage'].map((table) => rig.rows(`select * from ${table} order by 1, 2, 3`)),
      );
    const before = await held();
    await rig.clock.advance(3 * HOUR);
    await putBefore(rig, (url) => {
      if (url.pathname !== '/daily_summary/') return undefined;
      return { body: { type: 'about:blank', title: 'Service unavailable', status: 503 } };
    });
    const { status, error } = await rig.run('pull-daily-summaries', { since: '2d' });
    expect({ status, code: error?.code }).toEqual({ status: 'failed', code: 'bad_answer' });
    expect(await held()).toEqual(before);
  });

  it('when the service is down at first: nothing is marked covered, and the run fails with the job it depends on', async () => {
    rig = await makeRig({ startAt: START, sandbox: { vehicles: 3, churn: false } });
    rig.sandbox.addFault({ call: 'vehicles', fault: '403' });
    for (const job of ['pull-daily-summaries', 'pull-events']) {
      const { status, error } = await rig.run(job);
      expect({ status, code: error?.code }).toEqual({ status: 'failed', code: 'forbidden' });
      expect(error?.message).toMatch(/^pull-vehicles has to succeed first/);
    }
    expect(await rig.rows('select * from sync_coverage')).toEqual([]);
    rig.sandbox.clearFaults();
    await rig.run('pull-daily-summaries', { since: '10d' });
    const days = await rig.rows(`select distinct day from daily_summary where subject = 'vehicle'`);
    expect(days.length).toBeGreaterThan(6);
  });

  it('when a vehicle is new: its past days are read too', async () => {
    rig = await makeRig({ startAt: START, sandbox: { vehicles: 3, churn: false } });
    await rig.run('pull-daily-summaries', { since: '10d' });
    await records('vehicles', [{ id: 999_999, plate: 'NEW1A23' }]);
    await rig.run('pull-vehicles');
    rig.logLines.length = 0;
    await rig.run('pull-daily-summaries', { since: '10d' });
    const read = rig.logLines.filter((line) => line.includes('slice loaded') && line.includes('"vehicle 2026-03-0'));
    expect(read.length).toBeGreaterThan(6);
  });

  it('when an open plan is not found once: it is requested again, and unmarked when it returns', async () => {
    rig = await makeRig({ startAt: START, sandbox: { vehicles: 2, churn: false } });
    const options = { since: '3d', lookback: '1h', ahead: '1h' };
    await rig.run('pull-route-plans', options);
    const old = new Date(rig.clock.now() - 20 * 24 * HOUR).toISOString();
    await rig.engine.write(({ sql }) =>
      sql('route_plan').update({ status: 'E', date_time_start: old, date_time_end: old }),
    );
    rig.sandbox.addFault({ call: 'route-plan', fault: '404' });
    await rig.run('pull-route-plans', options);
    const missing = `select count(*) as n from route_plan where _missing_since is not null`;
    const [{ n } = {}] = await rig.rows(missing);
    expect(Number(n)).toBeGreaterThan(0);
    const [points] = await rig.rows('select count(*) as n from route_point where _missing_since is not null');
    expect(Number(points?.n)).toBeGreaterThan(0);
    rig.sandbox.clearFaults();
    await rig.clock.advance(HOUR);
    await rig.run('pull-route-plans', options);
    expect(await rig.rows(missing)).toEqual([{ n: 0 }]);
    expect(await rig.rows('select count(*) as n from route_point where _missing_since is not null')).toEqual([
      { n: 0 },
    ]);
  });

  it('when a plan ends long after it was due: it is read until it is complete', async () => {
    rig = await makeRig({ startAt: START, sandbox: { vehicles: 2, churn: false } });
    const options = { since: '3d', lookback: '1h', ahead: '1h', settle: '24h' };
    await rig.run('pull-route-plans', options);
    const [{ id } = {}] = await rig.rows(`select id from route_plan where status = 'C' limit 1`);
    const old = new Date(rig.clock.now() - 20 * 24 * HOUR).toISOString();
    await rig.engine.write(({ sql }) =>
      sql('route_plan').where({ id }).update({ status: 'E', date_time_start: old, date_time_end: old }),
    );
    await rig.clock.advance(HOUR);
    await rig.run('pull-route-plans', options);
    await rig.engine.write(({ sql }) =>
      sql('route_plan').where({ id }).update({ date_time_start: old, date_time_end: old }),
    );
    await rig.clock.advance(HOUR);
    await rig.run('pull-route-plans', options);
    // The plan is requested again and has its own dates.
    expect(await rig.rows(`select id from route_plan where date_time_start = '${old}'`)).toEqual([]);
  });
});

describe('the same content', () => {
  it('is unchanged when its fields come in another order', async () => {
    rig = await makeRig({ startAt: START, sandbox: { vehicles: 1, churn: false } });
    await records('vehicles', [{ id: 7, odd: { a: 1, b: { c: 2, d: 3 } } }]);
    await rig.run('pull-vehicles');
    await noRecords();
    await records('vehicles', [{ id: 7, odd: { b: { d: 3, c: 2 }, a: 1 } }]);
    expect(await rig.run('pull-vehicles')).toMatchObject({ inserted: 0, updated: 0 });
  });

  it('of two rows with one title is quarantined, not stored as one row by chance', async () => {
    rig = await makeRig({ startAt: START, sandbox: { vehicles: 1, churn: false } });
    await rig.run('pull-vehicles');
    await rig.run('pull-drivers');
    await records('daily-summary', [
      { title: 'Two of a name', count: 1 },
      { title: 'Two of a name', count: 2 },
    ]);
    const run = await rig.run('pull-daily-summaries', { since: '1h' });
    expect(run.records).toBe(run.inserted + run.updated + run.unchanged + run.quarantined);
    expect(await rig.rows(`select * from daily_summary where title = 'Two of a name'`)).toEqual([]);
    expect((await rig.rows('select reason from sync_quarantine')).length).toBeGreaterThan(1);
  });
});

describe('a record that cannot be requested', () => {
  it('is reported when the search of plans gives no id, and the other plans are loaded', async () => {
    rig = await makeRig({ startAt: START, sandbox: { vehicles: 2, churn: false } });
    const odd = [{ external_code: 'NO-ID', date_time_start: START }, { id: -5, date_time_start: START }, 'plan'];
    await records('route-plans', odd);
    const run = await rig.run('pull-route-plans', { since: '1d' });
    expect(run).toMatchObject({ status: 'partial' });
    expect(run.records).toBe(run.inserted + run.updated + run.unchanged + run.quarantined);
    const kept = await rig.rows(`select payload from sync_quarantine where table_name = 'route_plan'`);
    expect(kept.map(({ payload }) => JSON.parse(String(payload)))).toEqual(expect.arrayContaining(odd));
    expect((await rig.rows('select id from route_plan')).length).toBeGreaterThan(0);
  });

  it('does not keep a plan that the service no longer knows, nor its points', async () => {
    rig = await makeRig({ startAt: START, sandbox: { vehicles: 2, churn: false } });
    await rig.run('pull-route-plans', { since: '1d' });
    const [{ id } = {}] = await rig.rows(`select id from route_plan where date_time_start < '${START}' limit 1`);
    const pointsOf = `from route_point where route_plan_id = ${id}`;
    expect((await rig.rows(`select id ${pointsOf}`)).length).toBeGreaterThan(0);
    await putBefore(rig, async (url, original) => {
      if (url.pathname !== '/import/route_plan') return undefined;
      const asked = url.searchParams.get('route_plan_id');
      if (asked === String(id)) return { status: 404, body: {} };
      const { data } = (await original()) as { data: { id: number; route_points?: unknown[] }[] };
      if (asked === null)
        return { body: { data: [...data.filter((plan) => plan.id !== id), { external_code: 'NO-ID' }] } };
      return {
        body: {
          data: data.map((plan) => ({
            ...plan,
            route_points: [...(plan.route_points ?? []), { name: 'NO-ID' }],
          })),
        },
      };
    });
    expect(await rig.run('pull-route-plans', { since: '1d' })).toMatchObject({ status: 'partial' });
    expect(await rig.rows('select id from route_plan where _missing_since is not null')).toEqual([{ id }]);
    expect(await rig.rows(`select id ${pointsOf} and _missing_since is null`)).toEqual([]);
    const others = `route_plan_id <> ${id} and _missing_since is not null`;
    expect(await rig.rows(`select id from route_point where ${others}`)).toEqual([]);
  });

  it('is still requested when its id is a number in text', async () => {
    rig = await makeRig({ startAt: START, sandbox: { vehicles: 2, churn: false } });
    await putBefore(rig, async (url, original) => {
      if (url.pathname !== '/import/route_plan' || url.searchParams.has('route_plan_id')) return undefined;
      const { data } = (await original()) as { data: { id: number }[] };
      return { body: { data: data.map((plan) => ({ ...plan, id: String(plan.id) })) } };
    });
    await rig.run('pull-route-plans', { since: '1d' });
    const period = { from: '2026-03-09T12:00:00.000Z', to: START };
    const truth = (await rig.truth('route_plans', period)).map(({ id }) => id);
    const stored = (await rig.rows('select id from route_plan')).map(({ id }) => id);
    expect(truth.length).toBeGreaterThan(0);
    expect(stored).toEqual(expect.arrayContaining(truth));
  });

  it('does not stop the read of the others: vehicles with ids that no call accepts', async () => {
    rig = await makeRig({ startAt: START, sandbox: { vehicles: 1, churn: false } });
    await records('vehicles', [{ id: -7 }, { id: '9007199254740993' }]);
    await rig.run('pull-vehicles');
    await rig.run('pull-drivers');
    for (const job of ['pull-events', 'pull-daily-summaries'])
      expect(await rig.run(job, { since: '1d' })).toMatchObject({ status: 'ok', error: null });
    expect((await rig.rows('select * from event')).length).toBeGreaterThan(0);
  });
});

describe('jobs that depend on another job', () => {
  it('share one run of it when they start together', async () => {
    rig = await makeRig({ startAt: START, sandbox: { vehicles: 1, churn: false } });
    await Promise.all(['pull-events', 'pull-daily-summaries', 'pull-vehicles'].map((job) => rig.run(job, {})));
    expect(await rig.rows(`select count(*) as n from sync_run where job = 'pull-vehicles'`)).toEqual([{ n: 1 }]);
  });
});
