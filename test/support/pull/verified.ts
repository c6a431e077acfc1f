// A verification of everything in reach on a rig, and the rows that it found wrong.
import { type VerifiedDay, verifiedBy } from '../../../src/warehouse/control/verification.ts';
import { drive } from '../fleet/fleet-setup.ts';
import type { Rig } from './rig.ts';

const requests = (rig: Rig): number =>
  Object.values(rig.sandbox.ledger().requests).reduce((sum, each) => sum + each, 0);

/** Compares all slices of the last five days and changes nothing, unless the options say otherwise. */
export async function verify(rig: Rig, options: Record<string, unknown> = {}) {
  // Run ids sort by time.
  await rig.clock.advance(1_000);
  const before = requests(rig);
  const everything = { sample: 10_000, max_calls: 100_000, repair: false, days: '5d', probe: false };
  const run = await drive(rig.clock, rig.run('verify-warehouse', { ...everything, ...options }));
  return { run, rows: await verifiedBy(rig.engine, run.run_id), requests: requests(rig) - before };
}

export const wrong = (rows: readonly VerifiedDay[]) =>
  rows
    .filter(({ compared, equal }) => compared !== equal)
    .map(({ run_id, verified_at, compared, equal, unrepaired, ...row }) => row);
