import { describe, expect, it } from 'vitest';
import { changePointOfInterest } from '../../../src/fleet/endpoints/change-point-of-interest.ts';
import { createPointOfInterest } from '../../../src/fleet/endpoints/create-point-of-interest.ts';
import { pointOfInterest } from '../../../src/warehouse/tables/point-of-interest.ts';
import {
  addRecords,
  expectBalance,
  expectTruth,
  missing,
  openRig,
  removeRecords,
  requestsOf,
} from '../../support/pull/pull-setup.ts';

const START = '2026-03-02T15:00:00Z';
const JOB = 'pull-points-of-interest';

describe('pull-points-of-interest', () => {
  it('stores the points that the service lists, in one call, and changes nothing the second time', async () => {
    const rig = await openRig(START);
    const first = await rig.run(JOB);
    expect(first).toMatchObject({ status: 'ok', records: first.inserted });
    await expectTruth(rig, pointOfInterest, await rig.truth('points_of_interest'));
    expect(requestsOf(rig, 'points-of-interest')).toBe(1);
    const before = await rig.rows('select * from point_of_interest order by id');
    expect(before[0]?.point_of_interest_category_name).toBeTruthy();
    expect(await rig.run(JOB)).toMatchObject({ inserted: 0, updated: 0, unchanged: first.inserted });
    expect(await rig.rows('select * from point_of_interest order by id')).toEqual(before);
  });

  it('follows points that are created and changed', async () => {
    const rig = await openRig(START);
    await rig.run(JOB);
    const [some] = await rig.truth('points_of_interest');
    const place = { latitude: -23.5, longitude: -46.6 };
    await rig.dependencies.fleet.call(createPointOfInterest, { data: { title: 'New depot', ...place } });
    await rig.dependencies.fleet.call(changePointOfInterest, {
      id: some!.id as number,
      data: { title: 'Moved', ...place },
    });
    expect(await rig.run(JOB)).toMatchObject({ inserted: 1, updated: 1 });
    await expectTruth(rig, pointOfInterest, await rig.truth('points_of_interest'));
  });

  it('marks a point that vanished, unmarks it on return, and quarantines invalid records', async () => {
    const rig = await openRig(START);
    const ghost = { id: 7, title: 'Ghost' };
    await addRecords(rig, 'points-of-interest', [ghost]);
    await rig.run(JOB);
    await removeRecords(rig);
    await rig.run(JOB);
    expect(await missing(rig, pointOfInterest)).toEqual([7]);
    await addRecords(rig, 'points-of-interest', [ghost, { id: 8, title: 'Nowhere', latitude: 'north' }]);
    const summary = await rig.run(JOB);
    expect(summary).toMatchObject({ status: 'partial', updated: 1, quarantined: 1 });
    expectBalance(summary);
    expect(await missing(rig, pointOfInterest)).toEqual([]);
  });
});
