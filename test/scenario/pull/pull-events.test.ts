// Events: coverage for each vehicle, silences read again, slices that adapt, backfills that continue.
import { afterEach, describe, expect, it } from 'vitest';
import { probeService } from '../../../src/sync/probe/probe.ts';
import { event } from '../../../src/warehouse/tables/event.ts';
import { addRecords, missing, putBefore, removeRecords } from '../../support/pull/pull-setup.ts';
import { makeRig, type Rig } from '../../support/pull/rig.ts';

const DAY = 86_400_000;
const HOUR = 3_600_000;
const START = '2026-03-10T12:00:00.000Z';
let rig: Rig;
afterEach(() => rig.close());

const eventCalls = () => (rig.sandbox.ledger().requests as Record<string, number>).events ?? 0;
const at = (daysAgo: number) => new Date(Date.parse(START) - daysAgo * DAY).toISOString();
const addVehicle = (id: number) =>
  fetch(`${rig.sandbox.url}/_sandbox/records`, {
    method: 'POST',
    body: JSON.stringify({ call: 'vehicles', records: [{ id, plate: 'NEW1A23' }] }),
  });
const addEvent = (record: Record<string, unknown>) =>
  fetch(`${rig.sandbox.url}/_sandbox/records`, {
    method: 'POST',
    body: JSON.stringify({ call: 'events', records: [record] }),
  });

/** So many vehicles that a slice is one day of them; returns the id of one. */
async function hundredVehicles(): Promise<number> {
  const records = Array.from({ length: 99 }, (_, index) => ({ id: 900_000 + index, plate: `NEW${index}` }));
  await addRecords(rig, 'vehicles', records);
  await rig.run('pull-vehicles');
  return 900_000;
}

/** As an earlier run may have stored: slices of two vehicle-days. */
const makeSlicesSmall = () =>
  rig.engine.write(({ sql }) =>
    sql('sync_state').insert({ name: 'slice scale of pull-events', value: '0.02', updated_at: START }),
  );

interface Trip {
  record: { begin_date: string; end_date: string; vehicle: { id: number } };
  /** When the service learns of the trip; by default at its end. */
  arrives?: string;
}

const trip = (id: number, vehicleId: number, begin: string, end: string): Trip => {
  const [begin_date, end_date] = [`${begin}:00.000Z`, `${end}:00.000Z`];
  return {
    record: { id, event_category: 1, begin_date, end_date, vehicle: { id: vehicleId } } as Trip['record'],
  };
};

/** A service that has these trips and no other event; returns a function that removes all except the given ones. */
async function serveOnly(trips: readonly Trip[]): Promise<(save?: readonly Trip[]) => void> {
  let shown = trips;
  await putBefore(rig, (url) => {
    if (url.pathname !== '/event/') return undefined;
    const asked = <T>(name: string): T => JSON.parse(url.searchParams.get(name) ?? '[]');
    const vehicles = asked<number[]>('vehicles_id');
    const periods = asked<{ begin: string; end: string }[]>('periods');
    const known = shown.filter(
      ({ record, arrives = record.end_date }) =>
        Date.parse(arrives) <= rig.clock.now() &&
        vehicles.includes(record.vehicle.id) &&
        periods.some(({ begin, end }) => record.begin_date < end && record.end_date > begin),
    );
    return { body: known.map(({ record }) => record) };
  });
  return (save = []) => {
    shown = save;
  };
}

describe('pull-events', () => {
  it('reads the history of a new vehicle and no other vehicle again', async () => {
    rig = await makeRig({ startAt: START, sandbox: { vehicles: 3, churn: false } });
    await rig.run('pull-events', { since: '4d', lookback: '1h' });
    await addVehicle(424_242);
    await rig.run('pull-vehicles');
    await rig.clock.advance(600_000);
    await rig.run('pull-events', { since: '4d', lookback: '1h' });
    const read = rig.logLines.filter((line) => line.includes('"slice loaded"')).map((line) => JSON.parse(line));
    const history = read.filter(({ scope }) => scope.includes('424242') && scope.includes(at(4).slice(0, 10)));
    expect(history).toHaveLength(1);
    expect(history[0].scope).toContain('424242-424242 (1)');
    expect(eventCalls()).toBe(24 * 3);
  });

  it('loads events of an unknown vehicle, and has the vehicles pulled', async () => {
    rig = await makeRig({ startAt: START, sandbox: { vehicles: 2, churn: false } });
    await rig.run('pull-events', { since: '1d' });
    const runs = await rig.rows(`select count(*) as n from sync_run where job = 'pull-vehicles'`);
    await rig.clock.advance(2 * 3_600_000);
    await addEvent({
      id: 9_999_999,
      event_category: 1,
      begin_date: at(0.1),
      end_date: at(0.09),
      vehicle: { id: 777, plate: 'ABC1D23' },
    });
    await rig.run('pull-events', { since: '1d' });
    expect(await rig.rows('select vehicle_id from event where vehicle_id = 777')).toHaveLength(1);
    expect(await rig.rows(`select count(*) as n from sync_run where job = 'pull-vehicles'`)).toEqual([
      { n: Number(runs[0]?.n) + 1 },
    ]);
  });

  it('reads the silence of a vehicle again when it returns, and only once', async () => {
    rig = await makeRig({ startAt: START, sandbox: { vehicles: 1, churn: false } });
    await rig.run('pull-vehicles');
    const [{ id } = {}] = await rig.rows('select id from vehicle');
    const options = { since: '30d', lookback: '1h', silence: '24h', categories: [7] };
    // Nothing of category 7 is known for ten days; then the device reports.
    await rig.run('pull-events', options);
    await rig.engine.write(({ sql }) => sql('event').where('begin_date', '>', at(10)).delete());
    await rig.clock.advance(3_600_000);
    const now = new Date(rig.clock.now() - 120_000).toISOString();
    await addEvent({ id: 5_000_001, event_category: 7, begin_date: now, end_date: now, vehicle: { id } });
    await rig.run('pull-events', options);
    const coverage = await rig.rows(
      `select begin_at, end_at from sync_coverage where job = 'pull-events' order by begin_at`,
    );
    expect(coverage).toHaveLength(2);
    await rig.run('pull-events', options);
    expect(await rig.rows(`select count(*) as n from sync_coverage where job = 'pull-events'`)).toEqual([{ n: 1 }]);
    const [{ late } = {}] = await rig.rows(`select count(*) as late from event where begin_date > '${at(10)}'`);
    expect(Number(late)).toBeGreaterThan(1);
    const calls = eventCalls();
    await rig.run('pull-events', options);
    expect(eventCalls()).toBe(calls + 1);
  });

  it.each([
    ['while the daemon runs', 3],
    ['in an outage of the daemon', 75],
  ])('reads a silence again that ends %s', async (_when, hoursDown) => {
    rig = await makeRig({ startAt: '2026-03-05T12:00:00.000Z', sandbox: { vehicles: 1, churn: false } });
    const id = await hundredVehicles();
    // Offline from the 5th to the 9th; the events of that time arrive on the 9th.
    await serveOnly([
      trip(1, id, '2026-03-05T10:00', '2026-03-05T10:20'),
      { ...trip(2, id, '2026-03-06T15:00', '2026-03-06T15:20'), arrives: '2026-03-09T10:00:00.000Z' },
      { ...trip(3, id, '2026-03-07T10:00', '2026-03-07T10:20'), arrives: '2026-03-09T10:00:00.000Z' },
      trip(4, id, '2026-03-09T11:00', '2026-03-09T11:20'),
      trip(5, id, '2026-03-10T11:00', '2026-03-10T11:20'),
      trip(6, id, '2026-03-11T11:00', '2026-03-11T11:20'),
    ]);
    const options = { since: '2d', daily_lookback: '0s', categories: [1] };
    const poll = async (until: string, everyHours: number) => {
      while (rig.clock.now() < Date.parse(until)) {
        await rig.run('pull-events', options);
        await rig.clock.advance(everyHours * HOUR);
      }
    };
    await poll('2026-03-08T12:00:00.000Z', 12);
    await rig.clock.advance(hoursDown * HOUR);
    await poll('2026-03-12T12:00:00.000Z', 6);
    const stored = await rig.rows('select id from event order by id');
    expect(stored.map((row) => row.id)).toEqual([1, 2, 3, 4, 5, 6]);
    const { slices } = await rig.run('pull-events', options);
    expect(slices).toBe(1);
  });

  it('marks an event that is no longer in a period that is read again', async () => {
    rig = await makeRig({ startAt: START, sandbox: { vehicles: 1, churn: false } });
    await rig.run('pull-vehicles');
    const [{ id } = {}] = await rig.rows('select id from vehicle');
    await addEvent({
      id: 5_000_001,
      event_category: 7,
      begin_date: at(0.2),
      end_date: at(0.1),
      vehicle: { id },
    });
    await rig.run('pull-events', { since: '1d', lookback: '12h' });
    await fetch(`${rig.sandbox.url}/_sandbox/records`, { method: 'DELETE' });
    await rig.run('pull-events', { since: '1d', lookback: '12h' });
    expect(await rig.rows('select id from event where _missing_since is not null')).toEqual([{ id: 5_000_001 }]);
  });

  it.each([
    ['in one slice', '6h', [2, 3]],
    ['in slices of a day', '54h', [2, 3, 4, 5]],
  ])('marks an event that crosses a cut and was read in full %s, and no other', async (_how, lookback, gone) => {
    rig = await makeRig({ startAt: '2026-03-10T03:00:00.000Z', sandbox: { vehicles: 1, churn: false } });
    const id = await hundredVehicles();
    // The read of 04:00 begins at 20:59 of the 9th or of the 7th: one trip crosses each of these.
    const vanish = await serveOnly([
      trip(1, id, '2026-03-07T20:30', '2026-03-07T21:30'),
      trip(2, id, '2026-03-09T22:00', '2026-03-09T22:30'),
      trip(3, id, '2026-03-09T23:30', '2026-03-10T00:30'),
      trip(4, id, '2026-03-08T23:30', '2026-03-09T00:30'),
      trip(5, id, '2026-03-09T20:30', '2026-03-09T21:30'),
    ]);
    const options = { since: '4d', lookback, categories: [1] };
    await rig.run('pull-events', options);
    vanish();
    await rig.clock.advance(HOUR);
    await rig.run('pull-events', options);
    expect(await missing(rig, event)).toEqual(gone);
  });

  it('marks a vanished event, even when as many events come back that cross the start of the read', async () => {
    rig = await makeRig({ startAt: '2026-03-10T03:00:00.000Z', sandbox: { vehicles: 1, churn: false } });
    await rig.run('pull-vehicles');
    const [{ id } = {}] = await rig.rows('select id from vehicle');
    // The read of 04:00 begins at 20:59.
    const across = trip(1, Number(id), '2026-03-09T20:30', '2026-03-09T21:30');
    const within = trip(2, Number(id), '2026-03-09T22:00', '2026-03-09T22:30');
    const vanish = await serveOnly([across, within]);
    const options = { since: '4d', lookback: '6h', categories: [1] };
    await rig.run('pull-events', options);
    vanish([across]);
    await rig.clock.advance(HOUR);
    expect(await rig.run('pull-events', options)).toMatchObject({ records: 1 });
    expect(await missing(rig, event)).toEqual([2]);
  });

  it('cuts slices that are too large, remembers the size, and grows it again', async () => {
    rig = await makeRig({ startAt: START, sandbox: { vehicles: 8, churn: false } });
    await rig.run('pull-vehicles');
    const truth = (await rig.truth('events', { from: at(2), to: START })).filter(
      ({ event_category }) => event_category === 1 || event_category === 2,
    );
    const edge = new Date(Date.parse(START) - 60_000).toISOString();
    const over = truth.filter(({ begin_date }) => new Date(String(begin_date)).toISOString() < edge);
    /** A part that a cut lost would be read by the next run, so this checks after each run. */
    const expectAll = async () =>
      expect(await rig.rows('select count(*) as n from event')).toEqual([{ n: over.length }]);
    rig.sandbox.addFault({ call: 'events', fault: '413', times: 3 });
    const cut = await rig.run('pull-events', { since: '2d', categories: [1, 2] });
    expect(cut.status).toBe('ok');
    await expectAll();
    const scale = () => rig.rows(`select value from sync_state where name = 'slice scale of pull-events'`);
    expect(await scale()).toEqual([{ value: '0.5' }]);
    await rig.run('pull-events', { since: '2d', categories: [1, 2] });
    expect(await scale()).toEqual([{ value: '0.75' }]);
    await expectAll();
  });

  it('makes slices smaller after one exceeded the memory bound', async () => {
    rig = await makeRig({ startAt: START, sandbox: { vehicles: 8, churn: false } });
    await rig.run('pull-vehicles');
    const read = () => rig.run('pull-events', { categories: [1] }, { beginAt: at(10), endAt: at(0), resumable: false });
    const [begin_date, end_date] = [at(2), at(1)];
    await addRecords(rig, 'events', Array(25_001).fill({ id: 7, event_category: 1, begin_date, end_date }));
    const large = await read();
    expect(large).toMatchObject({ status: 'ok', slices: 1 });
    expect(large.records).toBeGreaterThan(25_000);
    await removeRecords(rig);
    expect((await read()).slices).toBeGreaterThan(1);
    expect(eventCalls()).toBeGreaterThan(2);
  });

  it('cuts a slice with too many records for memory, and stores what cannot be cut in one transaction', async () => {
    rig = await makeRig({ startAt: START, sandbox: { vehicles: 1, churn: false } });
    await rig.run('pull-vehicles');
    const [{ id: vehicleId } = {}] = await rig.rows('select id from vehicle');
    const [begin_date, end_date] = ['2026-03-10T10:01:10.000Z', '2026-03-10T10:01:20.000Z'];
    const ofOneMinute = Array.from({ length: 60_000 }, (_, index) => ({
      record: { id: index + 1, event_category: 1, begin_date, end_date, vehicle: { id: Number(vehicleId) } },
    }));
    await serveOnly(ofOneMinute);
    const period = { beginAt: '2026-03-10T10:00:00.000Z', endAt: '2026-03-10T10:04:00.000Z', resumable: false };
    const summary = await rig.run('pull-events', { categories: [1] }, period);
    expect(summary).toMatchObject({ status: 'ok', inserted: 60_000, records: 60_000 });
    const cut = rig.logLines.filter((line) => line.includes('"slice cut"')).map((line) => JSON.parse(line).scope);
    // To the smallest span, a minute.
    expect(cut).toEqual([
      expect.stringContaining('T10:00:00.000Z/2026-03-10T10:04:00.000Z'),
      expect.stringContaining('T10:00:00.000Z/2026-03-10T10:02:00.000Z'),
    ]);
    expect(await rig.rows('select count(distinct _changed_at) as loads from event')).toEqual([{ loads: 1 }]);
  });

  it('requests no further slice once the service has rejected one as forbidden', async () => {
    rig = await makeRig({ startAt: START, sandbox: { vehicles: 3, churn: false } });
    await rig.run('pull-vehicles');
    await makeSlicesSmall();
    const options = { since: '8d', categories: [1] };
    expect((await rig.preview('pull-events', options)).length).toBeGreaterThan(8);
    rig.sandbox.addFault({ call: 'events', fault: '403' });
    expect(await rig.run('pull-events', options)).toMatchObject({
      status: 'failed',
      error: { code: 'forbidden' },
    });
    // One more was in flight.
    expect(eventCalls()).toBeLessThanOrEqual(2);
    expect(await rig.rows(`select * from sync_coverage where job = 'pull-events'`)).toEqual([]);
  });

  it.each([
    // Its slice is halved three times in the first run.
    ['one', 2, [7, 2, 2, 2]],
    // The service rejects its first vehicle alone too, so that each run halves once.
    ['the first', 0, [3, 4, 4, 2]],
  ])(
    'isolates %s vehicle that the service rejects within a few runs, each of few calls',
    async (_, index, expected) => {
      rig = await makeRig({ startAt: START, sandbox: { vehicles: 8, churn: false } });
      const options = { since: '1d', categories: [1] };
      await rig.run('pull-vehicles');
      const ids = (await rig.rows('select id from vehicle order by id')).map(({ id }) => String(id));
      let rejected = [ids[index]];
      await putBefore(rig, (url) => {
        const asked = url.searchParams.get('vehicles_id')?.match(/\d+/g) ?? [];
        return asked.some((id) => rejected.includes(id)) ? { status: 400, body: {} } : undefined;
      });
      const runs = [];
      for (let run = 0; run < 4; run++) {
        const { status, slices } = await rig.run('pull-events', options);
        runs.push({ status, slices });
        await rig.clock.advance(10 * 60_000);
      }
      const covered = await rig.rows(`select distinct scope from sync_coverage where job = 'pull-events'`);
      const others = ids.filter((id) => id !== rejected[0]);
      expect(covered.map(({ scope }) => String(scope).split(' ')[1]).toSorted()).toEqual(others);
      // The rejected slice and its halves, and one slice of the vehicles that were read before.
      expect(runs).toEqual(expected.map((slices) => ({ status: 'partial', slices })));
      rejected = ids;
      expect(await rig.run('pull-events', options)).toMatchObject({ status: 'failed', slices: 4, requests: 7 });
    },
  );

  it('makes few calls for a category that the service rejects for every vehicle', async () => {
    rig = await makeRig({ startAt: START, sandbox: { vehicles: 8, churn: false } });
    await rig.run('pull-vehicles');
    await putBefore(rig, ({ searchParams }) =>
      searchParams.get('event_category') === '6' ? { status: 400, body: {} } : undefined,
    );
    const options = { since: '1d', categories: [6, 1, 2, 7, 8, 11, 12] };
    expect(await rig.run('pull-events', options)).toMatchObject({ status: 'failed', slices: 3 });
  });

  it('reads all events of a service that takes few vehicles in a query', async () => {
    rig = await makeRig({
      startAt: START,
      sandbox: { vehicles: 12, churn: false, shapes: { mostVehicleIds: 5 } },
    });
    const options = { since: '1d', categories: [1, 6] };
    await rig.run('pull-vehicles');
    for (let run = 0; run < 2; run++) expect(await rig.run('pull-events', options)).toMatchObject({ status: 'ok' });
    const to = new Date(Date.parse(START) - 60_000).toISOString();
    const truth = (await rig.truth('events', { from: at(1), to })).filter(({ event_category }) =>
      options.categories.includes(Number(event_category)),
    );
    expect(truth.length).toBeGreaterThan(20);
    const stored = await rig.rows(`select id from event where begin_date between '${at(1)}' and '${to}' order by id`);
    expect(stored.map(({ id }) => id)).toEqual(truth.map(({ id }) => Number(id)).toSorted((a, b) => a - b));
    // Once the probe has found the limit, no request is rejected.
    await probeService(rig.dependencies, { isSeen: false });
    expect(await rig.run('pull-events', options)).toMatchObject({ status: 'ok', slices: 3, requests: 6 });
  });

  it('reads all events of a service that cuts listings off, once the probe has found it', async () => {
    rig = await makeRig({ startAt: START, sandbox: { vehicles: 12, churn: false } });
    await rig.run('pull-vehicles');
    const shapes = JSON.stringify({ listingCap: 9 });
    await fetch(`${rig.sandbox.url}/_sandbox/shapes`, { method: 'POST', body: shapes });
    await probeService(rig.dependencies, { isSeen: false });
    const options = { since: '1d', categories: [1] };
    expect(await rig.run('pull-events', options)).toMatchObject({ status: 'ok' });
    const to = new Date(Date.parse(START) - 60_000).toISOString();
    const truth = (await rig.truth('events', { from: at(1), to })).filter(({ event_category }) => event_category === 1);
    expect(truth.length).toBeGreaterThan(20);
    const stored = await rig.rows(`select id from event where begin_date between '${at(1)}' and '${to}' order by id`);
    expect(stored.map(({ id }) => id)).toEqual(truth.map(({ id }) => Number(id)).toSorted((a, b) => a - b));
  });

  it('resumes a backfill where it was cut, and never moves the live coverage back', async () => {
    rig = await makeRig({
      startAt: START,
      sandbox: { vehicles: 3, churn: false },
      dependencies: { concurrency: 1 },
    });
    await rig.run('pull-events', { since: '1d', categories: [1] });
    const live = () => rig.rows(`select max(end_at) as edge from sync_coverage where job = 'pull-events'`);
    const edge = await live();
    await makeSlicesSmall();
    const period = { beginAt: at(40), endAt: at(20), resumable: true };
    rig.sandbox.addFault({ call: 'events', fault: '422', skip: 5 });
    const first = await rig.run('pull-events', { categories: [1] }, period);
    expect(first).toMatchObject({ status: 'partial' });
    rig.sandbox.clearFaults();
    const calls = eventCalls();
    const second = await rig.run('pull-events', { categories: [1] }, period);
    expect(second.status).toBe('ok');
    expect(eventCalls() - calls).toBeLessThanOrEqual(first.slices - 5);
    const truth = await rig.truth('events', { from: at(40), to: at(20) });
    const trips = truth.filter(
      ({ event_category, begin_date }) => event_category === 1 && new Date(String(begin_date)).toISOString() < at(20),
    );
    expect(await rig.rows(`select count(*) as n from event where begin_date < '${at(20)}'`)).toEqual([
      { n: trips.length },
    ]);
    expect(await live()).toEqual(edge);
    expect(await rig.rows(`select * from sync_coverage where job like 'backfill%'`)).toEqual([]);
  });
});
