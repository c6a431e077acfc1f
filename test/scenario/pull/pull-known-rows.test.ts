// A daemon reads most records many times. What it knows to be stored is not sent again, and what it reports and stores is
// the same as if it had been.
import knex from 'knex';
import { expect, it } from 'vitest';
import { createPrivacy } from '../../../src/warehouse/privacy/privacy.ts';
import { enforcePrivacy } from '../../../src/warehouse/privacy/rewrite.ts';
import { deleteOutdated } from '../../../src/warehouse/retention.ts';
import { event } from '../../../src/warehouse/tables/event.ts';
import {
  addRecords,
  expectBalance,
  expectTruth,
  missing,
  openRig,
  removeRecords,
} from '../../support/pull/pull-setup.ts';
import type { EngineName } from '../../support/warehouse/engines.ts';

const START = '2026-03-10T12:00:00.000Z';
const OPTIONS = { since: '2d', daily_lookback: '0s', lookback: '2d' };

it.each<EngineName>(['sqlite', 'postgres'])(
  'a pull stores what a verification without repair found: %s',
  async (engine) => {
    const rig = await openRig(START, { vehicles: 3, churn: false }, { engine });
    await rig.run('pull-vehicles');
    const { file, url } = rig.settings;
    const byHand =
      file === undefined
        ? knex({ client: 'pg', connection: url, searchPath: ['fleet'] })
        : knex({ client: 'sqlite3', connection: { filename: file }, useNullAsDefault: true });
    await byHand('vehicle').update({ plate: 'BY-HAND' });
    await byHand.destroy();
    await rig.clock.advance(3_600_000);
    await rig.run('verify-warehouse', { tables: ['vehicle'], repair: false });
    expect(await rig.rows('select verdict, differing from bi_verification')).toEqual([
      { verdict: 'late', differing: 3 },
    ]);
    expect(await rig.run('pull-vehicles')).toMatchObject({ updated: 3 });
  },
  60_000,
);

it.each<EngineName>(['sqlite', 'postgres'])(
  'pulls of one process send only what has changed: %s',
  async (engine) => {
    const rig = await openRig(START, { vehicles: 3, churn: false }, { engine });
    await rig.run('pull-vehicles');
    const [vehicle] = await rig.rows('select id from vehicle');
    const extra = (distance: number) => ({
      id: 9_000_001,
      event_category: 1,
      begin_date: '2026-03-10T10:00:00.000Z',
      end_date: '2026-03-10T10:10:00.000Z',
      distance,
      vehicle: { id: vehicle?.id },
    });
    const pull = async () => {
      const summary = await rig.run('pull-events', OPTIONS);
      expect(summary.status).toBe('ok');
      expectBalance(summary);
      return summary;
    };
    /** Every load that sends a row sets another one. */
    const version = () => rig.rows(`select value from sync_state where name = 'stored rows of event'`);
    const coveredUntil = () => rig.rows(`select max(end_at) as at from sync_coverage where job = 'pull-events'`);
    const distances = () => rig.rows(`select distance, _missing_since as gone from event where id = 9000001`);

    await addRecords(rig, 'events', [extra(100)]);
    const { inserted } = await pull();
    const first = await version();
    expect(first).toHaveLength(1);

    await rig.clock.advance(1_000);
    const covered = await coveredUntil();
    expect(await pull()).toMatchObject({ inserted: 0, updated: 0 });
    expect(await version()).toEqual(first);
    expect(await coveredUntil()).not.toEqual(covered);

    for (const distance of [200, 100]) {
      await removeRecords(rig);
      await addRecords(rig, 'events', [extra(distance)]);
      expect(await pull()).toMatchObject({ inserted: 0, updated: 1 });
      expect(await distances()).toEqual([{ distance, gone: null }]);
    }

    await removeRecords(rig);
    await pull();
    expect(await missing(rig, event)).toEqual([9_000_001]);
    await addRecords(rig, 'events', [extra(100)]);
    expect(await pull()).toMatchObject({ inserted: 0, updated: 1 });
    expect(await distances()).toEqual([{ distance: 100, gone: null }]);

    await deleteOutdated(rig.engine, event, '2026-03-11T00:00:00.000Z', () => false);
    expect(await rig.rows('select id from event')).toEqual([]);
    expect((await pull()).inserted).toBe(inserted);

    const policies = { 'event.location_start_address': 'drop' } as const;
    rig.dependencies.privacy = createPrivacy(policies, 'test');
    await enforcePrivacy(rig.engine, rig.dependencies.privacy, rig.dependencies);
    await pull();
    const hidden = await rig.rows('select id from event where location_start_address is not null');
    expect(hidden).toEqual([]);
    rig.dependencies.privacy = createPrivacy({}, 'test');
    await enforcePrivacy(rig.engine, rig.dependencies.privacy, rig.dependencies);
    await removeRecords(rig);
    await pull();
    await expectTruth(rig, event, await rig.truth('events', { from: '2026-03-08T12:00:00.000Z', to: START }));
  },
  60_000,
);
