// Shared by the tests of pull jobs: a rig that is closed with the test, controls of the sandbox, and comparisons
// of a table with the sandbox's own state.
import { expect, onTestFinished } from 'vitest';
import type { RunSummary } from '../../../src/core/glossary.ts';
import type { SandboxOptions } from '../../../src/sandbox/sandbox.ts';
import type { Table } from '../../../src/warehouse/schema/table.ts';
import { openFleet } from '../fleet/fleet-setup.ts';
import { type Answering, startFront } from '../fleet/front.ts';
import { byKey, expectedRow, storedRow } from './projection.ts';
import { makeRig, type Rig, type RigOptions } from './rig.ts';

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

export async function openRig(
  startAt: string,
  sandbox: SandboxOptions = {},
  more: Pick<RigOptions, 'dependencies' | 'engine'> = {},
): Promise<Rig> {
  const rig = await makeRig({ startAt, sandbox, ...more });
  onTestFinished(() => rig.close());
  return rig;
}

/** Puts a server in front of the sandbox, for answers that the sandbox never gives; retries are quick there. */
export async function putBefore(rig: Rig, answering: Answering): Promise<void> {
  const front = await startFront(rig.sandbox.url, answering);
  onTestFinished(() => front.close());
  rig.dependencies.fleet = openFleet(front.url, rig.sandbox, { settings: { maxBodyMb: 64 } }).fleet;
}

/** Records that the call returns beside its own, from now on. */
export async function addRecords(rig: Rig, call: string, records: unknown[]): Promise<void> {
  const body = JSON.stringify({ call, records });
  const answer = await fetch(`${rig.sandbox.url}/_sandbox/records`, { method: 'POST', body });
  if (!answer.ok) throw new Error(await answer.text());
}

export const removeRecords = (rig: Rig): Promise<Response> =>
  fetch(`${rig.sandbox.url}/_sandbox/records`, { method: 'DELETE' });

/** The number of requests to the sandbox, by call. */
export const requestsOf = (rig: Rig, call: string): number => rig.sandbox.ledger().requests[call] ?? 0;

export const present = (rig: Rig, table: Table): Promise<Record<string, unknown>[]> =>
  rig.rows(`select * from "${table.name}" where _missing_since is null`);

export const missing = async (rig: Rig, table: Table): Promise<unknown[]> =>
  (await rig.rows(`select id from "${table.name}" where _missing_since is not null order by id`)).map(({ id }) => id);

/** Every row that is not missing is a record of the truth, and vice versa. */
export async function expectTruth(rig: Rig, table: Table, truth: readonly Record<string, unknown>[]): Promise<void> {
  const stored = (await present(rig, table)).map((row) => storedRow(table, row));
  const expected = truth.map((record) => expectedRow(table, record));
  expect(byKey(table, stored)).toEqual(byKey(table, expected));
}

export function expectBalance({ records, inserted, updated, unchanged, quarantined }: RunSummary): void {
  expect(inserted + updated + unchanged + quarantined).toBe(records);
}
