// Row counts: a small table is counted each time, even on a slow machine; a large one only now and then.
import { afterEach, expect, it } from 'vitest';
import type { Engine } from '../../../src/warehouse/engine.ts';
import { createRowCounts } from '../../../src/warehouse/queries/row-counts.ts';
import { makeRig, type Rig } from '../../support/pull/rig.ts';

let rig: Rig;
afterEach(() => rig.close());

const LONG_QUERY =
  'with recursive n(i) as (select 1 union all select i + 1 from n where i < 400000) select max(i) from n';

/** Reads as on a busy machine. */
const slow = (engine: Engine): Pick<Engine, 'read'> => ({
  read: (work) =>
    engine.read(async (sql) => {
      await sql.raw(LONG_QUERY);
      return work(sql);
    }),
});

it('includes rows that arrived just after a slow count', async () => {
  rig = await makeRig({ startAt: '2026-03-10T15:00:00.000Z' });
  const counts = createRowCounts(slow(rig.dependencies.engine));
  expect(await counts.of('vehicle')).toBe(0);
  const { inserted } = await rig.run('pull-vehicles');
  expect(inserted).toBeGreaterThan(0);
  expect(await counts.of('vehicle')).toBe(inserted);
});
