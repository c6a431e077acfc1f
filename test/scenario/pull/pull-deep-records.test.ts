// A record nested too deeply to be stored is quarantined alone, cut at the limit; every other record of the same
// answer is stored. An answer nested too deeply to be parsed is rejected, and harmless.
import { expect, it } from 'vitest';
import { loadJobs } from '../../../src/app/app.ts';
import { retryQuarantined } from '../../../src/sync/pull/records/quarantine-retry.ts';
import { quarantined } from '../../../src/warehouse/control/quarantine.ts';
import { vehicle } from '../../../src/warehouse/tables/vehicle.ts';
import { expectBalance, expectTruth, openRig, putBefore } from '../../support/pull/pull-setup.ts';

const START = '2026-03-10T15:00:00.000Z';
const SENTINEL = 'at the bottom';
const nested = (levels: number): string => `${'{"a":['.repeat(levels / 2)}"${SENTINEL}"${']}'.repeat(levels / 2)}`;

/** The listing of vehicles with one more record in the middle; its number is beyond the range of a double. */
async function openWith(levels: number) {
  const rig = await openRig(START, { vehicles: 5, churn: false });
  await putBefore(rig, async ({ pathname }, original) => {
    if (pathname !== '/vehicle/') return undefined;
    const { data } = (await original()) as { data: unknown[] };
    const deep = `{"id":777777,"title":"Deep","odometer":12345678901234567890,"extra":${nested(levels)}}`;
    const [first, ...others] = data.map((record) => JSON.stringify(record));
    return { body: `{"data":[${[first, deep, ...others].join()}]}` };
  });
  return rig;
}

it.each([120, 400, 900])('a record of %d levels is quarantined alone', async (levels) => {
  const rig = await openWith(levels);
  const summary = await rig.run('pull-vehicles');
  expectBalance(summary);
  expect(summary).toMatchObject({ records: 6, inserted: 5, quarantined: 1 });
  await expectTruth(rig, vehicle, await rig.truth('vehicles'));
  const kept = await quarantined(rig.engine, {}, 10);
  expect(kept).toMatchObject([{ table_name: 'vehicle', record_key: '777777', is_part: true, times: 1 }]);
  expect(kept[0]?.reason).toBe('record: nested deeper than 98 levels; truncated');
  expect(kept[0]?.payload).toContain('12345678901234567890');
  expect(kept[0]?.payload).toContain('(nested deeper than 98 levels)');
  expect(kept[0]?.payload).not.toContain(SENTINEL);
  // The cut record is not taken for the original later either.
  const [retried] = await retryQuarantined(kept, await loadJobs(), 'again', rig.dependencies);
  expect(retried).toMatchObject({ loaded: false, reason: expect.stringContaining('read all of it again') });
});

it('a record of the maximum depth is stored in full', async () => {
  const rig = await openWith(96);
  expect(await rig.run('pull-vehicles')).toMatchObject({ inserted: 6, quarantined: 0 });
  const [row] = await rig.rows('select extra from vehicle where id = 777777');
  expect(JSON.stringify(row)).toContain(SENTINEL);
});

it('an answer of 100,000 levels is rejected and stores nothing', async () => {
  const rig = await openWith(100_000);
  expect(await rig.run('pull-vehicles')).toMatchObject({
    status: 'failed',
    error: { code: 'bad_answer' },
    inserted: 0,
  });
});
