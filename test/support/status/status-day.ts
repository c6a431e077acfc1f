// A working day behind the status page: every pull has run, plans were pushed, some of it went wrong.

import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { tableJobs } from '../../../src/app/app.ts';
import { zeroCounts } from '../../../src/core/glossary.ts';
import type { Feed } from '../../../src/erp/source.ts';
import { openSource } from '../../../src/erp/sources.ts';
import { fillProofRules, fillStopRules, fillTableJobs } from '../../../src/warehouse/control/config-tables.ts';
import { storeVerified } from '../../../src/warehouse/control/verification.ts';
import { fillLocalTime } from '../../../src/warehouse/load/local-days.ts';
import type { OutboxEntry } from '../../../src/warehouse/outbox/entry.ts';
import { storeEntries } from '../../../src/warehouse/outbox/transitions.ts';
import { makeStatusPlace, type StatusPlace, type StatusPlaceOptions, TOKEN } from './status-place.ts';

/** A Tuesday at three in the afternoon in São Paulo. */
export const AFTERNOON = '2026-03-10T18:00:00.000Z';

/** Names that try to break a page. */
export const HOSTILE = [
  '<script>document.title = "broken"</script>',
  '"><img src=x onerror="document.title=\'broken\'">',
  'שלום ‮abc‬ مرحبا',
  `'; drop table event; --`,
] as const;

/** Each with its options: no view reaches further back than a few days. */
const PULLS: readonly [string, Record<string, string>][] = [
  ['pull-vehicles', {}],
  ['pull-drivers', {}],
  ['pull-points-of-interest', {}],
  ['pull-route-plans', { since: '4d' }],
  ['pull-daily-summaries', { since: '4d' }],
  ['pull-itineraries', {}],
];

export async function makeWorkingDay(options: StatusPlaceOptions = {}): Promise<StatusPlace> {
  const folder = mkdtempSync(join(tmpdir(), 'roadbook-day-'));
  const place = await makeStatusPlace({
    startAt: AFTERNOON,
    config: `
status: { port: 0, token: ${TOKEN} }
jobs:
  pull-checklists: { enabled: false }
  push-route-plans: { deadline: "18:00" }
`,
    rejectedEdit: 'config/roadbook.yaml:12:3 jobs.pull-event: there is no such key (did you mean `pull-events`?)',
    queue: { waiting: 1_240, active: 16, dead: 2 },
    ...options,
  });
  const { rig } = place;
  const { clock } = rig;
  feedPlansFrom(folder, place);
  for (const [job, jobOptions] of PULLS) {
    await rig.run(job, jobOptions);
    await clock.advance(20_000);
  }
  await rig.run('pull-events', { since: '2d' });
  mkdirSync(folder, { recursive: true });
  const plans = Array.from({ length: 6 }, (_, n) => tomorrowsPlan(`R-2026-03-11-${n + 1}`));
  writeFileSync(join(folder, 'plans.json'), JSON.stringify(plans));
  await rig.run('push-route-plans');
  await clock.advance(30_000);
  await rig.run('push-route-plans');
  await addTrouble(place);
  await storeVerified(rig.engine, [
    {
      run_id: 'v',
      table_name: 'event',
      day: '2026-03-01',
      state: 'final',
      verified_at: '2026-03-10T05:15:00.000Z',
      ...{ compared: 100, equal: 90, differing: 10, missing_here: 0, missing_there: 0, repaired: 0 },
      differing_columns: '{"distance":10}',
      unrepaired: null,
    },
  ]);
  const { jobs, running } = place.dependencies;
  await fillLocalTime(rig.engine, running().config.timezone, clock.now());
  await fillTableJobs(rig.engine, tableJobs(jobs, running().config));
  await fillProofRules(rig.engine, running().config.proof);
  await fillStopRules(rig.engine, running().config.stops);
  return place;
}

function feedPlansFrom(folder: string, { rig: { clock, dependencies } }: StatusPlace): void {
  const feed: Feed = {
    source: openSource(
      { source: 'files', folder, settleMs: 0, keepFilesMs: Number.POSITIVE_INFINITY, mapping: {} },
      {
        kind: 'route_plans',
        zone: 'America/Sao_Paulo',
        reuseCodes: false,
        clock,
        log: dependencies.log,
        random: Math.random,
      },
    ),
    options: {},
  };
  dependencies.erp = async (kind) => (kind === 'route_plans' ? feed : undefined);
}

/** One run has pushed a plan, had one rejected for its plate, and could not read a file. */
export async function makeRejection(): Promise<{ place: StatusPlace; folder: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'roadbook-rejection-'));
  const place = await makeStatusPlace({
    startAt: AFTERNOON,
    config: `
status: { port: 0, token: ${TOKEN} }
erp: { route_plans: { source: files, folder: ${JSON.stringify(folder)} } }
jobs: { push-route-plans: { deadline: "18:00" } }
`,
  });
  feedPlansFrom(folder, place);
  const plans = [tomorrowsPlan('R-1'), { ...tomorrowsPlan('R-2'), vehicle_plate: 'XXX0X00' }];
  writeFileSync(join(folder, 'plans.json'), JSON.stringify(plans));
  writeFileSync(join(folder, 'broken.json'), '{"external_code');
  await place.rig.run('push-route-plans');
  return { place, folder };
}

const tomorrowsPlan = (code: string) => ({
  external_code: code,
  date_time_start: '2026-03-11T08:00:00-03:00',
  date_time_end: '2026-03-11T17:00:00-03:00',
  route_points: [
    {
      name: 'Depot',
      type: 'Partida',
      latitude: -23.55,
      longitude: -46.63,
      order: 1,
      external_code: `${code}-0`,
    },
    {
      name: 'Square 1',
      type: 'Entrega',
      latitude: -23.56,
      longitude: -46.65,
      order: 2,
      external_code: `${code}-1`,
    },
  ],
  options: { optimize: false, geocoding: false },
});

/** Outcomes that a calm sandbox does not give: unclear, rejected and duplicate pushes, failed runs of the past, invalid records. */
async function addTrouble({ rig }: StatusPlace): Promise<void> {
  const now = rig.clock.now();
  const at = (minutesAgo: number): string => new Date(now - minutesAgo * 60_000).toISOString();
  await rig.engine.write(async ({ sql }) => {
    const entry = {
      kind: 'route_plans',
      code_use: 1,
      content_hash: 'h',
      remote_key: 'k',
      attempts: 1,
      unclear_sends: 1,
      revision: 1,
      period_start: '2026-03-11T11:00:00.000Z',
      period_end: '2026-03-11T20:00:00.000Z',
      created_at: at(40),
      origin: 'plans.json, plan 7',
    };
    const attempt = { kind: 'route_plans', number: 1, what: 'create', times: 1, run_id: null };
    await sql('push_outbox').insert([
      {
        ...entry,
        external_code: 'R-2026-03-11-7',
        state: 'unknown',
        message: 'Not shown by the service yet; it is read back again before it counts as absent',
        unknown_since: at(25),
        sent_at: at(25),
        sent_hash: 'h',
        payload: '{}',
        updated_at: at(3),
      },
      {
        ...entry,
        external_code: 'R-2026-03-10-9',
        state: 'unknown',
        attention: 'retries_exhausted',
        message:
          'Sent 5 times without a clear answer, and not shown; check the service; if it is not there: npx roadbook outbox retry CODE --not-there',
        attempts: 5,
        unclear_sends: 5,
        period_start: '2026-03-10T11:00:00.000Z',
        period_end: '2026-03-10T20:00:00.000Z',
        created_at: at(200),
        unknown_since: at(180),
        sent_at: at(90),
        sent_hash: 'h',
        payload: '{}',
        updated_at: at(80),
      },
      {
        ...entry,
        external_code: 'R-2026-03-11-1',
        code_use: 2,
        state: 'confirmed',
        attention: 'found_twice',
        message: 'The service has it 2 times: 8101, 8102; remove all but one there',
        period_start: '2026-03-12T11:00:00.000Z',
        period_end: '2026-03-12T20:00:00.000Z',
        remote_id: 8101,
        remote_status: 'C',
        sent_at: at(30),
        sent_hash: 'h',
        confirmed_at: at(29),
        seen_at: at(15),
        told_at: at(29),
        updated_at: at(29),
      },
      {
        ...entry,
        external_code: HOSTILE[0],
        state: 'rejected',
        message: 'Rejected by the service',
        told_at: at(12),
        reasons: JSON.stringify([`route_points.1.name ${HOSTILE[1]} is too long`, HOSTILE[2]]),
        payload: JSON.stringify({ data: { vehicle_plate: 'XYZ9A87', document_number: '52998224725' } }),
        updated_at: at(12),
      },
    ]);
    await sql('push_attempt').insert([
      {
        ...attempt,
        external_code: 'R-2026-03-11-7',
        started_at: at(26),
        finished_at: at(25),
        outcome: 'unclear',
        error_code: 'timeout',
        message: 'No answer came within 60 s',
      },
      {
        ...attempt,
        external_code: 'R-2026-03-11-7',
        number: 2,
        what: 'read-back',
        times: 4,
        started_at: at(20),
        finished_at: at(3),
        outcome: 'absent',
        message: 'Not shown by the service yet; it is read back again before it counts as absent',
      },
    ]);
    const counts = zeroCounts();
    const past = Array.from({ length: 130 }, (_, n) => {
      const isFailed = n % 41 === 7;
      const minutes = 10 * (n + 1);
      return {
        run_id: `past-${n}`,
        job: 'pull-events',
        cause: 'schedule',
        tick_at: at(minutes),
        status: isFailed ? 'failed' : n % 29 === 3 ? 'partial' : 'ok',
        started_at: at(minutes),
        finished_at: new Date(now - minutes * 60_000 + 20_000 + (n % 9) * 14_000).toISOString(),
        host: 'h',
        pid: 1,
        ...counts,
        records: 400,
        inserted: 150 + ((n * 37) % 190),
        requests: 24,
        error_code: isFailed ? 'unreachable' : null,
        error: isFailed ? 'The service did not answer' : null,
        error_hint: isFailed ? 'Wait; the next tick reads what is missing.' : null,
      };
    });
    for (const run of past) await sql('sync_run').insert(run);
    await sql('sync_run').insert({
      ...counts,
      run_id: 'f00d',
      job: 'return-executions',
      cause: 'schedule',
      tick_at: at(2),
      status: 'failed',
      started_at: at(2),
      finished_at: at(1.9),
      host: 'h',
      pid: 1,
      error_code: 'erp_unreachable',
      error: `The folder of the ERP cannot be written ${HOSTILE[0]}`,
      error_hint: 'Check erp.route_plans.folder and that this user may write to it.',
    });
    const daemon = { started_at: at(600), slices_done: 900, version: '0.1.0' };
    await sql('sync_daemon').insert([
      { ...daemon, id: 'a', host: 'depot-1', pid: 811, heartbeat_at: at(0), slices_per_minute: 42 },
      { ...daemon, id: 'b', host: 'depot-2', pid: 97, heartbeat_at: at(3), slices_per_minute: 17 },
      { ...daemon, id: 'c', host: HOSTILE[0], pid: 5, heartbeat_at: at(0), slices_per_minute: 0 },
    ]);
    await sql('sync_quarantine').insert({
      id: 'cd'.repeat(16),
      job: 'pull-vehicles',
      table_name: 'vehicle',
      record_key: '4711',
      reason: 'year: expected a number, received text',
      payload: JSON.stringify({
        id: 4711,
        plate: 'ABC1D23',
        year: HOSTILE[0],
        responsible_name: 'Somebody Somewhere',
        note: 'not declared',
      }),
      first_seen_at: at(300),
      last_seen_at: at(6),
      times: 12,
      run_id: 'r',
    });
  });
}

/** Entries of the outbox whose plans are of the day; removed after the test. */
export async function offerPlans({ rig: { engine } }: StatusPlace, day: string, entries: readonly OutboxEntry[]) {
  const period = { period_start: `${day}T11:00:00.000Z`, period_end: `${day}T20:00:00.000Z` };
  const codes = entries.map(({ external_code }) => external_code);
  await engine.write((tx) =>
    storeEntries(
      tx,
      entries.map((entry) => ({ ...entry, ...period })),
    ),
  );
  onTestFinished(() => engine.write(({ sql }) => sql('push_outbox').whereIn('external_code', codes).delete()));
}
