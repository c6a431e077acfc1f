// A push whose process stalls between its claim and its send: another process may have sent the item by then, so the
// stalled one must not send it. The sandbox counts the plans it received.
import { expect, it } from 'vitest';
import { createManualClock } from '../../../src/core/time/manual-clock.ts';
import type { SyncDependencies } from '../../../src/sync/dependencies.ts';
import { runLeased } from '../../../src/sync/leased-run.ts';
import { freeProcess } from '../../../src/warehouse/control/leases.ts';
import { DEAD_MS } from '../../../src/warehouse/control/processes.ts';
import { leaseManagerOn } from '../../support/daemons/lease-manager.ts';
import { drive, failureOf, NOON } from '../../support/fleet/fleet-setup.ts';
import { makePushPlace, type PushPlace } from '../../support/push/push-place.ts';
import { plan } from '../../support/push/push-samples.ts';

const JOB = 'push-route-plans';

/** Runs the job under a lease; `stall` happens just before the first item is sent. */
async function pushWith(place: PushPlace, stall: (sleep: () => void) => Promise<void>) {
  const clock = createManualClock(NOON);
  const { fleet, engine, log } = place.dependencies;
  let isStalled = false;
  const dependencies: SyncDependencies = {
    ...place.dependencies,
    leases: leaseManagerOn(engine, { clock, log }),
    fleet: {
      ...fleet,
      async call(endpoint, request, context) {
        if (endpoint.kind === 'write' && !isStalled) {
          isStalled = true;
          await stall(() => clock.set(DEAD_MS));
        }
        return fleet.call(endpoint, request, context);
      },
    },
  };
  const { default: job } = await import(`../../../jobs/${JOB}.ts`);
  const options = job.options.parse({});
  const request = { job: { ...job, name: JOB }, cause: 'manual' as const, options };
  return drive(place.clock, runLeased(request, dependencies));
}

it('sends nothing after a stall, and releases its claim if no process took over', async () => {
  const place = await makePushPlace();
  place.drop('route_plans', 'a.json', plan('P1'));
  const { summary } = await pushWith(place, async (sleep) => {
    // A slot that claims after the stall would renew the lease: all have claimed before it.
    await place.engine.write(async () => undefined);
    sleep();
  });
  expect(summary).toMatchObject({ confirmed: 0, error: { code: 'lease_lost' } });
  expect(place.sandbox.ledger().plans).toEqual({});
  expect(await place.outbox()).toMatchObject([{ external_code: 'P1', state: 'ready' }]);
});

it('neither sends nor writes after another process took over', async () => {
  const place = await makePushPlace();
  place.drop('route_plans', 'a.json', plan('P1'));
  const pushing = pushWith(place, async (sleep) => {
    // Another process takes over after 20 s without a heartbeat: pending writes are done before that.
    await place.engine.write(async () => undefined);
    sleep();
    await place.engine.write(async ({ sql }) => {
      await freeProcess(sql, await sql('sync_daemon').first(), '2025-03-12T15:00:30.000Z');
    });
  });
  expect(await failureOf(pushing)).toMatchObject({ code: 'lease_lost' });
  expect(place.sandbox.ledger().plans).toEqual({});
  // Its claim means an unknown outcome: the next runs read it back before anything is sent.
  expect(await place.outbox()).toMatchObject([{ external_code: 'P1', state: 'sending' }]);
  expect(await place.engine.read((sql) => sql('sync_run').select('status'))).toEqual([{ status: 'abandoned' }]);
  await place.runs(JOB, 3);
  expect(place.sandbox.ledger().plans).toEqual({ P1: 1 });
});
