// Daily figures against a service whose fleet grows and whose people change: days of drivers include every vehicle.
import { describe, expect, it } from 'vitest';
import { fillTableJobs } from '../../../src/warehouse/control/config-tables.ts';
import { fillLocalTime } from '../../../src/warehouse/load/local-days.ts';
import { addRecords, HOUR, openRig, putBefore } from '../../support/pull/pull-setup.ts';
import type { Rig } from '../../support/pull/rig.ts';
import { verify } from '../../support/pull/verified.ts';

const START = '2026-03-10T15:00:00.000Z';
const JOB = 'pull-daily-summaries';

/** Vehicles of a call, taken from its address. */
const vehiclesOf = (url: URL): number[] => JSON.parse(url.searchParams.get('vehicles_id') ?? '[]');
const isByDriver = (url: URL): boolean => url.search.includes('driver');

interface Service {
  /** Vehicles that the listing leaves out, from its end. */
  hidden: number;
  /** How many calls by driver are rejected from now on. */
  rejections: number;
}

/** One driver who drives every vehicle: the figures show how many vehicles a day was read with. */
async function oneDriverOfAll(rig: Rig, service: Service): Promise<void> {
  await putBefore(rig, async (url, original) => {
    if (url.pathname === '/vehicle/') {
      const { data } = (await original()) as { data?: unknown[] };
      // Undefined when the session has to be renewed first.
      return data && { body: { data: data.slice(0, data.length - service.hidden) } };
    }
    if (url.pathname !== '/daily_summary/' || !isByDriver(url)) return undefined;
    if (service.rejections-- > 0) return { status: 422, body: {} };
    return { body: [{ title: 'Everybody', count: vehiclesOf(url).length }] };
  });
}

const driverDays = (rig: Rig) =>
  rig.rows(`select count, count(*) as days from daily_summary where subject = 'driver' group by count`);

describe('days of drivers', () => {
  it('include the share of a vehicle that became known later, however far back', async () => {
    const rig = await openRig(START, { vehicles: 4, churn: false });
    const service = { hidden: 1, rejections: 0 };
    await oneDriverOfAll(rig, service);
    const options = { since: '10d', lookback: '1d' };
    await rig.run(JOB, options);
    expect(await driverDays(rig)).toEqual([{ count: 3, days: 11 }]);
    service.hidden = 0;
    await rig.clock.advance(6 * HOUR);
    await rig.run('pull-vehicles');
    await rig.run(JOB, options);
    expect(await driverDays(rig)).toEqual([{ count: 4, days: 11 }]);
  });

  it('stay due for a vehicle when they could not be read with it', async () => {
    const rig = await openRig(START, { vehicles: 3, churn: false });
    const service = { hidden: 1, rejections: 0 };
    await oneDriverOfAll(rig, service);
    const options = { since: '10d', lookback: '1d' };
    await rig.run(JOB, options);
    Object.assign(service, { hidden: 0, rejections: 5 });
    await rig.run('pull-vehicles');
    expect(await rig.run(JOB, options)).toMatchObject({ status: 'partial' });
    await rig.run(JOB, options);
    expect(await driverDays(rig)).toEqual([{ count: 3, days: 11 }]);
  });

  it.each([1, 4])('include the share of vehicles whose rows were deleted: %i of 4', async (deleted) => {
    const rig = await openRig(START, { vehicles: 4, churn: false });
    await oneDriverOfAll(rig, { hidden: 0, rejections: 0 });
    const options = { since: '10d', lookback: '1d' };
    await rig.run(JOB, options);
    const whole = [{ count: 4, days: 11 }];
    const lost = (await rig.rows('select id from vehicle order by id')).slice(0, deleted).map(({ id }) => id);
    await rig.engine.write(({ sql }) =>
      sql('vehicle')
        .whereIn('id', lost as number[])
        .delete(),
    );
    await rig.clock.advance(HOUR);
    await rig.run(JOB, options);
    expect(await driverDays(rig)).toEqual(whole);
    await verify(rig, { tables: ['daily_summary'], days: '11d', repair: true });
    expect(await driverDays(rig)).toEqual(whole);
    expect(await rig.rows('select * from daily_summary where _missing_since is not null')).toEqual([]);
  });

  it('include the share of a deleted vehicle whose id is too long for a number', async () => {
    const rig = await openRig(START, { vehicles: 2, churn: false });
    await oneDriverOfAll(rig, { hidden: 0, rejections: 0 });
    await rig.engine.write(async ({ sql }) => {
      const [begin_at, end_at] = ['2026-03-01T00:00:00.000Z', '2026-03-02T00:00:00.000Z'];
      const scope = 'drivers of vehicle 9007199254740993';
      await sql('sync_coverage').insert({ job: JOB, scope, begin_at, end_at, covered_at: end_at, run_id: 'run-1' });
    });
    expect(await rig.run(JOB, { since: '3d', lookback: '1d' })).toMatchObject({ status: 'ok', error: null });
    expect(await driverDays(rig)).toEqual([{ count: 3, days: 11 }]);
  });

  it('are not read again for a vehicle that they were read with', async () => {
    const rig = await openRig(START, { vehicles: 4, churn: false });
    const service = { hidden: 1, rejections: 0 };
    await oneDriverOfAll(rig, service);
    const options = { since: '10d', lookback: '1d' };
    await rig.run(JOB, options);
    service.hidden = 0;
    await rig.run('pull-vehicles');
    await rig.run(JOB, options);
    await rig.clock.advance(HOUR);
    const { slices } = await rig.run(JOB, options);
    expect(slices).toBe(4);
  });
});

describe('a day that could not be read again', () => {
  const options = { since: '1d', lookback: '1d' };
  const DAY = '2026-03-09';

  /** Rejects that day while the switch is on. */
  async function rejectDay(rig: Rig): Promise<{ isRejected: boolean }> {
    const service = { isRejected: false };
    await putBefore(rig, (url) => {
      const begin = url.searchParams.get('initial_date') ?? '';
      const isOfDay = url.pathname === '/daily_summary/' && begin.startsWith(DAY);
      return service.isRejected && isOfDay ? { status: 422, body: {} } : undefined;
    });
    return service;
  }

  const final = (rig: Rig) =>
    rig.rows(`select distinct is_final from bi_vehicle_day where day = '${DAY}'
      union all select distinct is_final from bi_driver_day where day = '${DAY}'`);

  it('is not final, and stays due until it is read, however old it becomes', async () => {
    const rig = await openRig(START, { vehicles: 3, churn: false });
    const service = await rejectDay(rig);
    await fillLocalTime(rig.engine, 'America/Sao_Paulo', rig.clock.now());
    const scopes = { scopes: '%', vehicle_scope: null, driver_scope: null };
    await fillTableJobs(rig.engine, [{ table_name: 'daily_summary', job: JOB, ...scopes }]);
    expect(await rig.run(JOB, options)).toMatchObject({ status: 'ok' });
    service.isRejected = true;
    for (let day = 0; day < 8; day++) {
      await rig.clock.advance(24 * HOUR);
      expect(await rig.run(JOB, options)).toMatchObject({ status: 'partial' });
    }
    expect(await final(rig)).toEqual([{ is_final: 0 }, { is_final: 0 }]);
    service.isRejected = false;
    expect(await rig.run(JOB, options)).toMatchObject({ status: 'ok' });
    expect(await final(rig)).toEqual([{ is_final: 1 }, { is_final: 1 }]);
    await rig.clock.advance(HOUR);
    const { slices } = await rig.run(JOB, options);
    expect(slices, 'days of the lookback alone').toBe(4);
  });
});

describe('a call of too many vehicles', () => {
  /** Rejects calls of more than `most` vehicles; returns the sizes of all calls since the previous invocation. */
  async function rejectAbove(rig: Rig, limit: { most: number; status: number }) {
    const sizes: number[] = [];
    await putBefore(rig, (url) => {
      if (url.pathname !== '/daily_summary/') return undefined;
      const count = vehiclesOf(url).length;
      sizes.push(count);
      return count > limit.most ? { status: limit.status, body: {} } : undefined;
    });
    return () => sizes.splice(0);
  }

  const stored = (rig: Rig) =>
    rig.rows(`select day, subject, title, vehicle_id, driver_id, total_distance from daily_summary
      where _missing_since is null order by day, subject, title`);

  it.each([413, 414])('is made smaller, remembered, and grown again: %i', async (status) => {
    const whole = await openRig(START, { vehicles: 20, churn: false });
    const options = { since: '2d' };
    expect(await whole.run(JOB, options)).toMatchObject({ status: 'ok' });
    const rig = await openRig(START, { vehicles: 20, churn: false });
    const limit = { most: 10, status };
    const sizes = await rejectAbove(rig, limit);
    expect(await rig.run(JOB, options)).toMatchObject({ status: 'ok' });
    expect(await stored(rig)).toEqual(await stored(whole));
    expect(new Set(sizes())).toEqual(new Set([20, 10]));
    await rig.run(JOB, options);
    expect(new Set(sizes())).toEqual(new Set([10]));
    limit.most = 20;
    await rig.run(JOB, options);
    expect(Math.max(...sizes())).toBe(15);
    await rig.run(JOB, options);
    expect(new Set(sizes())).toEqual(new Set([20]));
  });

  it('is not made smaller because a day has many drivers', async () => {
    const rig = await openRig(START, { vehicles: 8, churn: false });
    const sizes: number[] = [];
    const drivers = Array.from({ length: 25_001 }, (_, n) => ({ title: `Driver ${n}`, count: 1 }));
    await putBefore(rig, (url) => {
      if (url.pathname !== '/daily_summary/' || !isByDriver(url)) return undefined;
      sizes.push(vehiclesOf(url).length);
      return { body: drivers };
    });
    const options = { since: '1h', lookback: '1h' };
    for (let run = 1; run <= 2; run++) expect(await rig.run(JOB, options)).toMatchObject({ status: 'ok' });
    expect(new Set(sizes)).toEqual(new Set([8]));
  });

  it('fails if one vehicle is too many, and marks nothing covered', async () => {
    const rig = await openRig(START, { vehicles: 2, churn: false });
    const sizes = await rejectAbove(rig, { most: 0, status: 413 });
    const { status, error } = await rig.run(JOB, { since: '1d' });
    expect({ status, code: error?.code }).toEqual({ status: 'failed', code: 'too_large' });
    expect(Math.min(...sizes())).toBe(1);
    expect(await rig.rows(`select * from sync_coverage where job = '${JOB}'`)).toEqual([]);
  });
});

describe('a title that matches no driver yet', () => {
  const pulls = async (rig: Rig, job: string) => (await rig.rows(`select * from sync_run where job = '${job}'`)).length;
  const daysOf = (rig: Rig, title: string) =>
    rig.rows(`select subject, vehicle_id, driver_id, count(*) as days from daily_summary where title = '${title}'
      and _missing_since is null group by 1, 2, 3`);
  const options = { since: '5d', lookback: '1h' };

  /** Rows that the service returns beside its own: of the vehicle with that id, or of drivers. */
  const alsoGives = (rig: Rig, title: string, vehicleId?: unknown) =>
    putBefore(rig, async (url, original) => {
      if (url.pathname !== '/daily_summary/' || isByDriver(url) !== (vehicleId === undefined)) return undefined;
      if (vehicleId !== undefined && !vehiclesOf(url).includes(Number(vehicleId))) return undefined;
      const { data } = (await original()) as { data?: unknown[] };
      return data && { body: { data: [...data, { title, count: 1 }] } };
    });

  it('has the drivers pulled once, and all its days read again by the next run', async () => {
    const rig = await openRig(START, { vehicles: 1, churn: false });
    await rig.run('pull-vehicles');
    await rig.run('pull-drivers');
    await rig.clock.advance(3 * HOUR);
    await alsoGives(rig, 'New Person');
    await rig.run(JOB, options);
    expect(await daysOf(rig, 'New Person')).toEqual([
      { subject: 'driver', vehicle_id: null, driver_id: null, days: 6 },
    ]);
    expect(await pulls(rig, 'pull-drivers')).toBe(2);
    expect(await pulls(rig, 'pull-vehicles')).toBe(1);
    await rig.clock.advance(2 * HOUR);
    await addRecords(rig, 'drivers', [{ id: 777_777, name: 'New Person' }]);
    await rig.run(JOB, options);
    expect(await pulls(rig, 'pull-drivers')).toBe(2);
    await rig.run('pull-drivers');
    await rig.run(JOB, options);
    expect(await daysOf(rig, 'New Person')).toEqual([
      { subject: 'driver', vehicle_id: null, driver_id: 777_777, days: 6 },
    ]);
    const { slices } = await rig.run(JOB, options);
    expect(slices).toBe(2);
  });

  it('has the drivers pulled later if they were pulled just before', async () => {
    const rig = await openRig(START, { vehicles: 1, churn: false });
    await rig.run('pull-vehicles');
    await rig.run('pull-drivers');
    await rig.clock.advance(HOUR / 2);
    await alsoGives(rig, 'New Person');
    await rig.run(JOB, options);
    expect(await pulls(rig, 'pull-drivers')).toBe(1);
    await rig.clock.advance(HOUR);
    await rig.run(JOB, options);
    expect(await pulls(rig, 'pull-drivers')).toBe(2);
  });

  it('has the vehicles pulled when a plate has changed', async () => {
    const rig = await openRig(START, { vehicles: 2, churn: false });
    await rig.run('pull-vehicles');
    await rig.run('pull-drivers');
    const [{ id } = {}] = await rig.rows('select id from vehicle limit 1');
    await rig.clock.advance(3 * HOUR);
    await alsoGives(rig, 'NEW1A23', id);
    await rig.run(JOB, options);
    expect(await pulls(rig, 'pull-vehicles')).toBe(2);
    expect(await pulls(rig, 'pull-drivers')).toBe(1);
    await rig.engine.write(({ sql }) => sql('vehicle').where({ id }).update({ plate: 'NEW1A23' }));
    await rig.run(JOB, options);
    expect(await daysOf(rig, 'NEW1A23')).toEqual([{ subject: 'vehicle', vehicle_id: id, driver_id: null, days: 6 }]);
  });
});
