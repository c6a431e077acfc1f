// One number of plans that are not confirmed by the deadline: the run, the command, the document and the page agree.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { loadJobs } from '../../../src/app/app.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/sandbox.ts';
import { sqlite } from '../../../src/warehouse/engines/sqlite/engine.ts';
import type { OutboxEntry, OutboxState } from '../../../src/warehouse/outbox/entry.ts';
import { storeEntries } from '../../../src/warehouse/outbox/transitions.ts';
import { configFor, makeWorkplace, type Workplace } from '../../support/process/workplace.ts';
import { entryIn } from '../../support/push/outbox-samples.ts';
import { ask } from '../../support/status/status-place.ts';

const HOUR_MS = 3_600_000;

/** Hours to add so that it is noon now: no midnight passes while the test runs. */
const toNoon = 12 - new Date().getUTCHours();
const noonZone = `Etc/GMT${toNoon > 0 ? '-' : '+'}${Math.abs(toNoon)}`;
const midnight = (days: number): number => {
  const today = new Date(Date.now() + toNoon * HOUR_MS).setUTCHours(0, 0, 0, 0) - toNoon * HOUR_MS;
  return today + days * 24 * HOUR_MS;
};

let sandbox: Sandbox;
let place: Workplace;

beforeEach(async () => {
  sandbox = await startSandbox({ churn: false });
  const others = (await loadJobs()).filter(({ name }) => name !== 'push-route-plans');
  const jobs = others.map(({ name }) => `  ${name}: { enabled: false }`).join('\n');
  const rest = `timezone: ${noonZone}
status: { port: 0 }
erp: { route_plans: { source: files, folder: plans, settle: 0s } }
jobs:
  push-route-plans: { deadline: "00:00", schedule: "0 0 1 1 *" }
${jobs}
`;
  place = makeWorkplace(configFor(sandbox.url, rest));
  mkdirSync(join(place.dir, 'plans'));
  await place.run(['status']);
});
afterEach(async () => {
  place.remove();
  await sandbox.close();
});

/** A plan that many hours after the local midnight at which tomorrow begins. */
const planAt = (hours: number, state: OutboxState, change: Partial<OutboxEntry> = {}): OutboxEntry => {
  const at = new Date().toISOString();
  const start = midnight(1) + hours * HOUR_MS;
  return entryIn(state, {
    external_code: `${state}-${hours}`,
    remote_key: `${state}-${hours}`,
    period_start: new Date(start).toISOString(),
    period_end: new Date(start + HOUR_MS).toISOString(),
    created_at: at,
    updated_at: at,
    ...change,
  });
};

it('a missed deadline lists the same plans in run, command, document and page', async () => {
  const later = new Date(Date.now() + HOUR_MS).toISOString();
  const open = [
    planAt(0, 'rejected'),
    planAt(8, 'rejected', { attention: 'code_reused' }),
    planAt(8, 'ready', { next_attempt_at: later }),
    planAt(8, 'unknown', { unknown_since: new Date().toISOString() }),
    planAt(9, 'unknown', { unknown_since: new Date().toISOString(), attention: 'retries_exhausted' }),
    planAt(23.5, 'rejected', { code_use: 2 }),
  ];
  // Of today: it was missed yesterday, when it was a plan of tomorrow.
  const yesterdays = planAt(-2, 'rejected', { created_at: new Date(midnight(-1)).toISOString() });
  const missed = [...open, yesterdays].map(({ external_code }) => external_code).sort();
  const others = [
    planAt(8, 'confirmed', { remote_id: 1 }),
    planAt(9, 'confirmed', { remote_id: 2, attention: 'found_twice' }),
    planAt(8, 'cancelled'),
    planAt(-3, 'cancelled', { created_at: yesterdays.created_at }),
    // It was over this morning.
    planAt(-20, 'rejected', { created_at: yesterdays.created_at }),
    // Offered today for today, and the day after tomorrow.
    planAt(-0.5, 'rejected'),
    planAt(24, 'rejected'),
    planAt(8, 'rejected', { kind: 'itineraries', external_code: 'W1' }),
  ];
  const engine = await sqlite.open({ file: join(place.dir, 'data', 'warehouse.db') });
  await engine.write((tx) => storeEntries(tx, [...open, yesterdays, ...others]));
  await engine.close();

  const run = await place.run(['run', 'push-route-plans', '--log-level', 'warn']);
  const line = run.stderr.split('\n').find((text) => text.includes('"deadline missed"')) ?? '{}';
  expect({ code: run.code, ...JSON.parse(line) }).toMatchObject({ code: 5, late: missed.length });

  const { deadline, health } = JSON.parse((await place.run(['status', '--json'])).stdout);
  expect(deadline).toMatchObject({ at: '00:00', open: open.length, confirmed: 2 });
  expect(deadline.missed).toEqual(missed);
  expect(health).toBe('late');
  expect((await place.run(['status'])).stdout).toMatch(
    new RegExp(`Deadline 00:00: missed by ${missed.length} plans: ready-8, `),
  );

  const daemon = place.start(['start']);
  await daemon.printed(/page\s+http:\S+\n/);
  const url = /page\s+(http:\S+)/.exec(daemon.stdout())?.[1] ?? '';
  const asked = async (path: string) => (await ask('GET', url + path, {})).json.deadline;
  expect(await asked('/api/outbox')).toEqual(deadline);
  expect(await asked('/api/status')).toEqual(deadline);
});
