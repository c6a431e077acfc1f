// Quarantined records are retried: a record that fits by itself now is loaded, one rejected because of others is not.
// A record that a run brings in a valid form is released.
import { afterEach, describe, expect, it } from 'vitest';
import { loadJobs } from '../../../src/app/app.ts';
import { dailySummary as summaryCall } from '../../../src/fleet/endpoints/daily-summary.ts';
import { mapRecords } from '../../../src/sync/pull/records/map-records.ts';
import { retryQuarantined } from '../../../src/sync/pull/records/quarantine-retry.ts';
import {
  type InvalidRecord,
  quarantine,
  quarantined,
  quarantineRows,
} from '../../../src/warehouse/control/quarantine.ts';
import { dailySummary } from '../../../src/warehouse/tables/daily-summary.ts';
import { vehicle } from '../../../src/warehouse/tables/vehicle.ts';
import { addRecords, removeRecords } from '../../support/pull/pull-setup.ts';
import { makeRig, type Rig } from '../../support/pull/rig.ts';

const AT = '2026-03-10T15:00:00.000Z';
/** Its check digits are right. */
const LIKE_A_CPF = 52_998_224_725;
let rig: Rig;
afterEach(() => rig.close());

const keep = (job: string, invalid: readonly InvalidRecord[], readAt = AT) =>
  rig.engine.write((tx) =>
    quarantine(tx, quarantineRows(job, invalid, rig.dependencies.redactor), { runId: 'r', readAt }),
  );

const retryAll = async (id?: string) => {
  const kept = await quarantined(rig.engine, { id }, 10);
  return retryQuarantined(kept, await loadJobs(), 'again', rig.dependencies);
};

describe.each(['sqlite', 'postgres'] as const)('on %s, a quarantined record', (engine) => {
  it('is loaded and released if it fits now, and kept with its reason if it does not', async () => {
    rig = await makeRig({ startAt: AT, engine });
    const invalid = { table: vehicle, key: null, reason: 'of an older version' };
    await keep('pull-vehicles', [
      { ...invalid, record: { id: 7, plate: 'ABC1D23' } },
      { ...invalid, record: { id: 'none', plate: 'ABC1D24' } },
    ]);
    const results = await retryAll();
    expect(results.map(({ loaded }) => loaded).sort()).toEqual([false, true]);
    expect(results.find(({ loaded }) => !loaded)?.reason).toMatch(/^id/);
    expect(await rig.rows('select id, plate from vehicle')).toEqual([{ id: 7, plate: 'ABC1D23' }]);
    expect(await rig.rows('select count(*) as n from sync_quarantine')).toEqual([{ n: 1 }]);
  });

  it('is released by the run that reads it in a valid form, and no other is', async () => {
    rig = await makeRig({ startAt: AT, engine, sandbox: { vehicles: 1, churn: false } });
    const odd = [7, 8, LIKE_A_CPF, '0042', '1234567890123456789'].map((id) => ({ id, year: 'last' }));
    await addRecords(rig, 'vehicles', odd);
    await rig.run('pull-vehicles');
    expect(await quarantined(rig.engine, {}, 10)).toHaveLength(5);
    await removeRecords(rig);
    await addRecords(rig, 'vehicles', [
      { id: 7, year: 2024 },
      { id: 8, year: 'last' },
      { id: LIKE_A_CPF, year: 2024 },
      { id: '0042', year: 2024 },
      { id: '1234567890123456789', year: 2024 },
    ]);
    await rig.run('pull-vehicles');
    const stored = await rig.rows('select cast(id as text) as id from vehicle where year = 2024 order by vehicle.id');
    expect(stored.map(({ id }) => id)).toEqual(['7', '42', String(LIKE_A_CPF), '1234567890123456789']);
    expect(await quarantined(rig.engine, {}, 10)).toMatchObject([{ record_key: '8', times: 2 }]);
  });

  it('with several stored versions is loaded as the newest, in any order of the request', async () => {
    rig = await makeRig({ startAt: AT, engine });
    const version = (plate: string) => ({
      table: vehicle,
      key: '7',
      reason: 'old',
      record: { id: 7, plate },
    });
    await keep('pull-vehicles', [version('OLD1A11')], '2026-03-01T00:00:00.000Z');
    await keep('pull-vehicles', [version('NEW2B22')], '2026-03-02T00:00:00.000Z');
    const [, older] = await quarantined(rig.engine, {}, 10);
    expect(await retryAll(older?.id)).toMatchObject([
      { loaded: false, reason: expect.stringContaining('newer version is in quarantine') },
    ]);
    expect(await retryAll()).toMatchObject([
      { loaded: true },
      { loaded: false, reason: expect.stringContaining('removed from quarantine') },
    ]);
    expect(await rig.rows('select plate from vehicle')).toEqual([{ plate: 'NEW2B22' }]);
    expect(await quarantined(rig.engine, {}, 10)).toEqual([]);
  });

  it('does not overwrite a row that was stored after the record was last read', async () => {
    rig = await makeRig({ startAt: AT, engine });
    await rig.run('pull-vehicles');
    const [stored = {}] = await rig.rows('select id, plate from vehicle order by id');
    const record = { id: Number(stored.id), plate: 'OLD1A11' };
    await keep('pull-vehicles', [{ table: vehicle, key: null, reason: 'old', record }], '2026-03-01T00:00:00.000Z');
    expect(await retryAll()).toMatchObject([
      { loaded: false, reason: expect.stringContaining('removed from quarantine') },
    ]);
    expect(await rig.rows('select id, plate from vehicle order by id')).toContainEqual(stored);
  });

  it('is on one page of several, newest first', async () => {
    rig = await makeRig({ startAt: AT, engine });
    const invalid = [1, 2, 3].map((id) => ({ table: vehicle, key: null, reason: 'old', record: { id } }));
    await keep('pull-vehicles', invalid);
    await keep(
      'pull-vehicles',
      [{ table: vehicle, key: null, reason: 'old', record: { id: 4 } }],
      `${AT.slice(0, -4)}001Z`,
    );
    const all = await quarantined(rig.engine, {}, 10);
    const pages = [await quarantined(rig.engine, {}, 2)];
    pages.push(await quarantined(rig.engine, { after: pages[0]?.at(-1) }, 10));
    expect(pages.map(({ length }) => length)).toEqual([2, 2]);
    expect(pages.flat()).toEqual(all);
  });

  it('is found by the start of its id, never by a pattern', async () => {
    rig = await makeRig({ startAt: AT, engine });
    await keep('pull-vehicles', [{ table: vehicle, key: null, reason: 'old', record: { id: 7 } }]);
    const [kept] = await quarantined(rig.engine, {}, 1);
    expect(await quarantined(rig.engine, { id: kept?.id.slice(0, 6) }, 1)).toHaveLength(1);
    for (const id of ['xyz', '%', '_', '']) expect(await quarantined(rig.engine, { id }, 1)).toEqual([]);
  });

  it('stays if it was rejected because of others: alone it would pass for the complete day', async () => {
    rig = await makeRig({ startAt: AT, engine });
    const part = { date: '2026-03-09', subject: 'driver', title: 'Ana', total_distance: 12 };
    const rejected = [{ record: part, reason: 'title: two rows of one day have it' }];
    const load = { table: dailySummary, endpoint: summaryCall, records: [], rejected };
    await keep('pull-daily-summaries', (await mapRecords(load, rig.dependencies.privacy)).invalid);
    expect(await retryAll()).toMatchObject([
      { loaded: false, reason: expect.stringMatching(/two rows of one day have it.*roadbook run/) },
    ]);
    expect(await rig.rows('select count(*) as n from daily_summary')).toEqual([{ n: 0 }]);
    expect(await quarantined(rig.engine, {}, 10)).toMatchObject([{ is_part: true, times: 1 }]);
  });
});
