// A stale read: it waits so long that another run stores a newer state first. It must not bring the older state back.
import { afterEach, describe, expect, it } from 'vitest';
import type { Engine } from '../../../src/warehouse/engine.ts';
import { makeRig, type Rig } from '../../support/pull/rig.ts';

const JOB = 'pull-route-plans';
const REACH = { since: '4d' };
/** The period of everything within reach. Reading the sandbox's whole life would take seconds. */
const DAYS = { from: '2026-03-01T00:00:00.000Z', to: '2026-03-20T00:00:00.000Z' };
let rig: Rig;
afterEach(() => rig.close());

/** Does something once, when that many slices were read and none of them is stored. */
function beforeLoads(engine: Engine, slices: number, act: () => Promise<unknown>): Engine {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  let read = 0;
  return {
    ...engine,
    write: async (work, how) => {
      if (how?.isLong === true) {
        if (++read === slices) resolve(act());
        await promise;
      }
      return engine.write(work, how);
    },
  };
}

describe.each(['sqlite', 'postgres'] as const)('on %s, a run with a stale read', (engine) => {
  it('reads again the records that the other run changed, and the newer state stays', async () => {
    rig = await makeRig({ startAt: '2026-03-10T15:00:00.000Z', engine, dependencies: { concurrency: 50 } });
    await rig.run(JOB, REACH);
    await rig.clock.advance(600_000);
    const { dependencies } = rig;
    const own = dependencies.engine;
    const slices = (await rig.preview(JOB, REACH)).length;
    let newer = 0;
    dependencies.engine = beforeLoads(own, slices, async () => {
      // As another process would: in one process a job in progress is not started a second time.
      dependencies.engine = own;
      await rig.clock.advance(3 * 3_600_000);
      newer = (await rig.run(JOB, REACH)).updated;
    });
    const stale = await rig.run(JOB, REACH);
    expect(newer).toBeGreaterThan(0);
    expect(stale).toMatchObject({ status: 'ok', inserted: 0, updated: 0 });
    const stored = await rig.rows('select id, status from route_plan where _missing_since is null order by id');
    const truth = await rig.truth('route_plans', DAYS);
    const statusOf = new Map(truth.map(({ id, status }) => [Number(id), status]));
    expect(stored).toEqual(stored.map(({ id }) => ({ id, status: statusOf.get(Number(id)) })));
  });
});
