// Entries that may be at the service although nobody could say so at first: none is sent twice, none is lost.
import { expect, it } from 'vitest';
import { runLeased } from '../../src/sync/leased-run.ts';
import type { SyncParts } from '../../src/sync/sync-parts.ts';
import { createLeaseKeeper } from '../../src/warehouse/lease-keeper.ts';
import { makePushPlace } from '../support/push-place.ts';
import { plan } from '../support/push-samples.ts';
import { drive } from './fleet-setup.ts';

const JOB = 'push-route-plans';
const CALL = 'import-route-plan' as const;
const MINUTE = 60_000;

it("believes an absence by the process's own clock over several leased runs", async () => {
  const place = await makePushPlace();
  const { engine, fleet, log } = place.parts;
  const { clock } = place;
  const parts: SyncParts = {
    ...place.parts,
    leases: createLeaseKeeper(engine, { clock, log }),
    fleet: { ...fleet, clockSkewMs: () => undefined },
  };
  const { default: job } = await import(`../../jobs/${JOB}.ts`);
  const request = { job: { ...job, name: JOB }, cause: 'manual' as const, options: job.options.parse({}) };
  const run = () => drive(clock, runLeased(request, parts));
  place.drop('route_plans', '0.json', plan('P0'));
  await run();
  await clock.advance(10 * MINUTE);
  place.sandbox.addFault({ call: CALL, fault: 'reset-before-commit', times: 1 });
  place.drop('route_plans', 'a.json', plan('P1'));
  for (let runs = 0; runs < 3; runs++) {
    await run();
    await clock.advance(5 * MINUTE);
  }
  expect(place.sandbox.ledger().plans).toEqual({ P0: 1, P1: 1 });
});
