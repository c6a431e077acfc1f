import { describe, expect, it } from 'vitest';
import { changeItinerary } from '../../../src/fleet/endpoints/change-itinerary.ts';
import { itinerary } from '../../../src/warehouse/tables/itinerary.ts';
import {
  addRecords,
  DAY,
  expectBalance,
  expectTruth,
  HOUR,
  missing,
  openRig,
  present,
  putBefore,
  removeRecords,
  requestsOf,
} from '../../support/pull/pull-setup.ts';
import type { Rig } from '../../support/pull/rig.ts';

/** A Thursday: the itineraries of the week began before the lookback and have not ended. */
const START = '2026-03-05T15:00:00Z';
const JOB = 'pull-itineraries';

const at = (rig: Rig, ms: number): string => new Date(rig.clock.now() + ms).toISOString();
const truthSince = (rig: Rig, from: string) => rig.truth('itineraries', { from, to: at(rig, 7 * DAY) });
const change = async (rig: Rig, id: number, fields: object): Promise<void> => {
  const [now] = await rig.rows(`select * from itinerary where id = ${id}`);
  const { description, external_id, vehicle_id, driver_id, date_time_start, date_time_end } = now as never;
  const same = { description, external_id, vehicle_id, driver_id, date_time_start, date_time_end };
  await rig.dependencies.fleet.call(changeItinerary, { id, data: { ...same, ...fields } });
};

describe('pull-itineraries', () => {
  it('stores the itineraries of the service through weeks of polling, one search a run', async () => {
    const rig = await openRig(START, { vehicles: 20 });
    const from = at(rig, -30 * DAY);
    for (let round = 0; round < 60; round++) {
      const summary = await rig.run(JOB);
      expect(summary.status).toBe('ok');
      expectBalance(summary);
      if (round % 10 === 9) await expectTruth(rig, itinerary, await truthSince(rig, from));
      await rig.clock.advance(9 * HOUR);
    }
    expect(requestsOf(rig, 'itineraries')).toBe(60);
    expect(requestsOf(rig, 'itinerary')).toBe(0);
    const [started] = await rig.rows('select * from itinerary where position_end_latitude is not null');
    expect(started).toMatchObject({ vehicle_plate: expect.any(String), driver_name: expect.any(String) });
  });

  it('changes nothing the second time and marks no future time covered', async () => {
    const rig = await openRig(START);
    const first = await rig.run(JOB);
    const before = await rig.rows('select * from itinerary order by id');
    expect(before.length).toBe(first.inserted);
    expect(await rig.run(JOB)).toMatchObject({ inserted: 0, updated: 0, requests: 1 });
    expect(await rig.rows('select * from itinerary order by id')).toEqual(before);
    const coverage = await rig.rows(`select begin_at, end_at from sync_coverage where job = '${JOB}'`);
    expect(coverage).toEqual([{ begin_at: at(rig, -30 * DAY), end_at: at(rig, 0) }]);
  });

  it('reads late changes from before an outage longer than the lookback', async () => {
    const rig = await openRig(START, { vehicles: 20 });
    await rig.run(JOB);
    const from = at(rig, -30 * DAY);
    await rig.clock.advance(20 * DAY);
    await rig.run(JOB);
    await expectTruth(rig, itinerary, await truthSince(rig, from));
  });

  it('follows an itinerary that moved out of the period, and back', async () => {
    const rig = await openRig(START);
    await rig.run(JOB);
    const id = (await rig.rows('select id from itinerary order by date_time_start desc limit 1'))[0]!.id as number;
    const later = { date_time_start: at(rig, 20 * DAY), date_time_end: at(rig, 21 * DAY) };
    await change(rig, id, later);
    expect(await rig.run(JOB)).toMatchObject({ updated: 1, inserted: 0 });
    expect(await rig.rows(`select * from itinerary where id = ${id}`)).toMatchObject([
      { ...later, _missing_since: null },
    ]);
    await change(rig, id, { description: 'changed while far ahead' });
    await rig.run(JOB);
    const [row] = await rig.rows(`select description from itinerary where id = ${id}`);
    expect(row?.description).toBe('changed while far ahead');
    expect(requestsOf(rig, 'itinerary')).toBe(2);
    await change(rig, id, { date_time_start: at(rig, DAY), date_time_end: at(rig, 2 * DAY) });
    await rig.run(JOB);
    await rig.run(JOB);
    expect(requestsOf(rig, 'itinerary')).toBe(2);
    await expectTruth(rig, itinerary, await truthSince(rig, at(rig, -30 * DAY)));
  });

  it('marks an itinerary that the service no longer knows, requests it once, and unmarks it on return', async () => {
    const rig = await openRig(START);
    const ghost = { id: 7, date_time_start: at(rig, DAY), date_time_end: at(rig, 2 * DAY) };
    await addRecords(rig, 'itineraries', [ghost]);
    await rig.run(JOB);
    await removeRecords(rig);
    await rig.run(JOB);
    await rig.run(JOB);
    expect(await missing(rig, itinerary)).toEqual([7]);
    expect(requestsOf(rig, 'itinerary')).toBe(1);
    await addRecords(rig, 'itineraries', [ghost]);
    expect(await rig.run(JOB)).toMatchObject({ updated: 1 });
    expect(await missing(rig, itinerary)).toEqual([]);
  });

  it('marks it even when the search holds a record without an id', async () => {
    const rig = await openRig(START);
    const ghost = { id: 7, date_time_start: at(rig, DAY), date_time_end: at(rig, 2 * DAY) };
    await addRecords(rig, 'itineraries', [ghost]);
    await rig.run(JOB);
    await removeRecords(rig);
    await addRecords(rig, 'itineraries', [{ description: 'NO-ID' }]);
    await rig.run(JOB);
    expect(await missing(rig, itinerary)).toEqual([7]);
  });

  it('does not mark itineraries whose call by id is rejected, and logs how many: only an unknown one is missing', async () => {
    const rig = await openRig(START);
    const dates = { date_time_start: at(rig, DAY), date_time_end: at(rig, 2 * DAY) };
    await addRecords(rig, 'itineraries', [
      { id: 7, ...dates },
      { id: 8, ...dates },
    ]);
    await rig.run(JOB);
    await removeRecords(rig);
    rig.sandbox.addFault({ call: 'itinerary', fault: '422' });
    await rig.run(JOB);
    expect(requestsOf(rig, 'itinerary')).toBe(2);
    expect(await missing(rig, itinerary)).toEqual([]);
    const logged = rig.logLines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'calls by id rejected');
    expect(logged).toMatchObject([{ level: 'warn', call: 'itinerary', records: 2, code: 'request_rejected' }]);
  });

  it('loads or quarantines records that come under another id than the requested one, and marks nothing missing', async () => {
    const rig = await openRig(START);
    const one = (id: number) => ({ id, date_time_start: at(rig, DAY), date_time_end: at(rig, 2 * DAY) });
    await addRecords(rig, 'itineraries', [one(7), one(9)]);
    await rig.run(JOB);
    await removeRecords(rig);
    await putBefore(rig, ({ pathname }) =>
      /^\/itinerary\/[79]$/.test(pathname) ? { body: { data: [one(8), one(8), { description: 'NO-ID' }] } } : undefined,
    );
    const summary = await rig.run(JOB);
    // The listed one, and three of each answer by id.
    expect(summary).toMatchObject({ status: 'partial', inserted: 1, records: 7 });
    expectBalance(summary);
    expect(await rig.rows('select id from itinerary where id in (7, 8, 9) order by id')).toHaveLength(3);
    expect(await rig.rows('select count(*) as n from sync_quarantine')).toEqual([{ n: 1 }]);
    expect(await missing(rig, itinerary)).toEqual([]);
  });

  it('does not treat an empty search as a deletion: itineraries that the service still knows stay', async () => {
    const rig = await openRig(START);
    const { inserted } = await rig.run(JOB);
    await putBefore(rig, (url) => (url.pathname === '/itinerary/' ? { body: { data: [] } } : undefined));
    expect((await rig.run(JOB)).status).toBe('ok');
    expect((await present(rig, itinerary)).length).toBe(inserted);
  });

  it('keeps long itineraries fresh, objects included, when the search needs full ones and the call by id is bare', async () => {
    const rig = await openRig(START, { vehicles: 20 });
    await rig.run(JOB);
    await putBefore(rig, async (url, original) => {
      if (/^\/itinerary\/\d+$/.test(url.pathname)) {
        const { data } = (await original()) as { data: object };
        return { body: { data: { ...data, vehicle: null, driver: null } } };
      }
      if (url.pathname !== '/itinerary/') return undefined;
      const { data } = (await original()) as { data: Record<string, string>[] };
      const [from, to] = ['date_time_start', 'date_time_end'].map((name) =>
        Date.parse(url.searchParams.get(name) ?? ''),
      );
      const isWithin = (one: Record<string, string>) =>
        Date.parse(one.date_time_start!) >= from! && Date.parse(one.date_time_end!) <= to!;
      return { body: { data: data.filter(isWithin) } };
    });
    const from = at(rig, -30 * DAY);
    await rig.clock.advance(31 * HOUR);
    expect((await rig.run(JOB)).updated).toBeGreaterThan(0);
    expect(requestsOf(rig, 'itinerary')).toBeGreaterThan(0);
    await expectTruth(rig, itinerary, await truthSince(rig, from));
  });

  it('cuts a search that is too large and stores the same rows', async () => {
    const rig = await openRig(START, { vehicles: 20 });
    rig.sandbox.addFault({ call: 'itineraries', fault: '413', times: 3 });
    const summary = await rig.run(JOB);
    expect(summary).toMatchObject({ status: 'ok' });
    expect(summary.slices).toBeGreaterThan(3);
    expectBalance(summary);
    await expectTruth(rig, itinerary, await truthSince(rig, at(rig, -30 * DAY)));
  });

  it('loads itineraries that name unknown vehicles and drivers and has those pulled next', async () => {
    const rig = await openRig(START);
    await rig.run(JOB);
    const jobs = await rig.rows('select job from sync_run order by started_at, job');
    expect(jobs.map(({ job }) => job)).toEqual(['pull-drivers', JOB, 'pull-vehicles']);
  });

  it('quarantines invalid records and loads the others', async () => {
    const rig = await openRig(START);
    await addRecords(rig, 'itineraries', [{ id: 7, date_time_start: 'soon' }]);
    const summary = await rig.run(JOB);
    expect(summary).toMatchObject({ status: 'partial', quarantined: 1 });
    expectBalance(summary);
    await expectTruth(rig, itinerary, await truthSince(rig, at(rig, -30 * DAY)));
  });
});
