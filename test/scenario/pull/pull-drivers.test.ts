import { describe, expect, it } from 'vitest';
import { driver } from '../../../src/warehouse/tables/driver.ts';
import {
  addRecords,
  DAY,
  expectBalance,
  expectTruth,
  missing,
  openRig,
  present,
  putBefore,
  removeRecords,
  requestsOf,
} from '../../support/pull/pull-setup.ts';

const START = '2026-03-02T15:00:00Z';
const ana = { id: 7, name: 'Ana' };

/** A rig whose two listings hold the records that the test puts into them. */
async function twoListings() {
  const lists: { agents: unknown[]; drivers: unknown } = { agents: [], drivers: [] };
  const rig = await openRig(START);
  await putBefore(rig, (url) => {
    if (url.pathname !== '/driver/') return undefined;
    return { body: { data: url.searchParams.get('is_deliveryman') === '1' ? lists.agents : lists.drivers } };
  });
  return { rig, lists };
}

describe('pull-drivers', () => {
  it('stores everybody the service lists through months of people coming and going', async () => {
    const rig = await openRig(START, { vehicles: 30 });
    const everSeen = new Set<number>();
    for (let round = 0; round < 8; round++) {
      const summary = await rig.run('pull-drivers');
      expect(summary.status).toBe('ok');
      expectBalance(summary);
      const truth = await rig.truth('drivers');
      for (const { id } of truth) everSeen.add(id as number);
      await expectTruth(rig, driver, truth);
      await rig.clock.advance(12 * DAY);
    }
    const gone = await missing(rig, driver);
    expect(gone.length).toBeGreaterThan(3);
    expect((await present(rig, driver)).length + gone.length).toBe(everSeen.size);
  });

  it('requests both listings once and changes nothing the second time', async () => {
    const rig = await openRig(START);
    const first = await rig.run('pull-drivers');
    expect(requestsOf(rig, 'drivers')).toBe(2);
    const before = await rig.rows('select * from driver order by id');
    const kinds = new Set(before.map(({ is_deliveryman }) => is_deliveryman));
    expect(kinds).toEqual(new Set([0, 1]));
    await rig.clock.advance(DAY / 4);
    expect(await rig.run('pull-drivers')).toMatchObject({
      inserted: 0,
      updated: 0,
      unchanged: first.inserted,
    });
    expect(await rig.rows('select * from driver order by id')).toEqual(before);
  });

  it('never marks a person missing who moves from one listing to the other', async () => {
    const { rig, lists } = await twoListings();
    lists.agents = [{ ...ana, is_deliveryman: true }];
    await rig.run('pull-drivers');
    lists.agents = [];
    lists.drivers = { ...ana, is_deliveryman: false };
    expect(await rig.run('pull-drivers')).toMatchObject({ records: 1, updated: 1 });
    expect(await present(rig, driver)).toMatchObject([{ id: 7, is_deliveryman: 0 }]);
  });

  it('marks a person who is in neither listing, with or without the flag, and unmarks a person who returns', async () => {
    const { rig, lists } = await twoListings();
    lists.drivers = [ana, { id: 8, name: 'Rui', is_deliveryman: false }];
    await rig.run('pull-drivers');
    expect(await present(rig, driver)).toMatchObject([{ id: 7, is_deliveryman: null }, { id: 8 }]);
    lists.drivers = [];
    await rig.run('pull-drivers');
    expect(await missing(rig, driver)).toEqual([7, 8]);
    lists.agents = [ana];
    expect(await rig.run('pull-drivers')).toMatchObject({ updated: 1, inserted: 0 });
    expect(await missing(rig, driver)).toEqual([8]);
  });

  it('counts a person in both listings twice and loads one row', async () => {
    const { rig, lists } = await twoListings();
    lists.agents = [ana];
    lists.drivers = [ana];
    const summary = await rig.run('pull-drivers');
    expect(summary).toMatchObject({ records: 2, inserted: 1, unchanged: 1 });
    expectBalance(summary);
  });

  it('loads nothing, and marks no row as vanished and nothing as covered, when one of the listings fails', async () => {
    const rig = await openRig(START);
    rig.sandbox.addFault({ call: 'drivers', fault: '422', skip: 1 });
    expect((await rig.run('pull-drivers')).status).toBe('failed');
    expect(await rig.rows('select id from driver')).toEqual([]);
    expect(await rig.rows('select scope from sync_coverage')).toEqual([]);
  });

  it('quarantines invalid records and loads the others', async () => {
    const rig = await openRig(START);
    await addRecords(rig, 'drivers', [{ id: 7, name: 'Ana', date_of_birth: 'in spring' }]);
    const summary = await rig.run('pull-drivers');
    expect(summary).toMatchObject({ status: 'partial', quarantined: 2, updated: 0 });
    expectBalance(summary);
    await expectTruth(rig, driver, await rig.truth('drivers'));
    await removeRecords(rig);
    expect(await rig.run('pull-drivers')).toMatchObject({ status: 'ok', inserted: 0, updated: 0 });
  });
});
