// The status server over real HTTP: probes, document, actions and their audit, and the requests it rejects.

import crypto from 'node:crypto';
import { rmSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { createServer } from 'node:net';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { zeroCounts } from '../../../src/core/glossary.ts';
import { createManualClock } from '../../../src/core/time/manual-clock.ts';
import { statusFacts } from '../../../src/status/health/status-document.ts';
import { startStatusServer } from '../../../src/status/server/server.ts';
import { ATTENTION_REASONS, type OutboxAttention } from '../../../src/sync/push/attention.ts';
import { writeFact } from '../../../src/warehouse/control/learned-facts.ts';
import { createLeaseManager } from '../../../src/warehouse/control/leases.ts';
import { quarantine, quarantineRows } from '../../../src/warehouse/control/quarantine.ts';
import { storeVerified, type VerifiedDay } from '../../../src/warehouse/control/verification.ts';
import { ATTENTION, OUTBOX_STATES } from '../../../src/warehouse/outbox/entry.ts';
import { takenFileFact } from '../../../src/warehouse/outbox/lists.ts';
import { storeEntries } from '../../../src/warehouse/outbox/transitions.ts';
import type { Table } from '../../../src/warehouse/schema/table.ts';
import { dailySummary } from '../../../src/warehouse/tables/daily-summary.ts';
import { vehicle } from '../../../src/warehouse/tables/vehicle.ts';
import { heartbeatOn, leaseManagerOn } from '../../support/daemons/lease-manager.ts';
import { entryIn } from '../../support/push/outbox-samples.ts';
import { CPFS } from '../../support/push/push-samples.ts';
import { ask, makeStatusPlace, type StatusPlace, TOKEN, WITH_TOKEN } from '../../support/status/status-place.ts';
import { metadataAt } from '../../support/warehouse/load-metadata.ts';

let place: StatusPlace;
afterEach(() => place.close());

describe('the probes', () => {
  it('show that the process is alive and that it can work', async () => {
    place = await makeStatusPlace();
    expect(await place.ask('GET', '/livez', { token: null })).toMatchObject({ status: 200 });
    const ready = await place.ask('GET', '/readyz', { token: null });
    expect(ready).toMatchObject({ status: 200, json: { ready: true, checks: { warehouse: { ok: true } } } });
  });

  it('answer 503 while a job is blocked by a lease without heartbeats', async () => {
    place = await makeStatusPlace();
    const { clock, engine } = place.rig;
    // Its clock is stopped, and so is its heartbeat.
    await leaseManagerOn(engine, { ...place.rig.dependencies, clock: createManualClock(0) }).take('pull-events');
    expect((await place.ask('GET', '/readyz')).status).toBe(200);
    await clock.advance(61_000);
    const { status, json } = await place.ask('GET', '/readyz');
    expect(status).toBe(503);
    expect(json.checks.lease).toEqual({ ok: false, words: 'without a heartbeat: pull-events' });
    expect((await place.ask('GET', '/livez')).status).toBe(200);
    // A change of hands counts from zero.
    await engine.write(({ sql }) => sql('sync_lease').update({ holder: 'somebody else' }));
    expect((await place.ask('GET', '/readyz')).status).toBe(200);
  });

  it.each([-120_000, 120_000])(
    'treat a holder whose clock is %i ms apart as alive while it has a heartbeat',
    async (apartMs) => {
      place = await makeStatusPlace();
      const { clock, engine, dependencies } = place.rig;
      const apart = createManualClock(clock.now() + apartMs);
      const heartbeat = heartbeatOn(engine, { ...dependencies, clock: apart });
      await createLeaseManager(heartbeat, { ...dependencies, clock: apart }).take('pull-events');
      for (let round = 1; round <= 3; round++) {
        const { status, json } = await place.ask('GET', '/readyz');
        expect({ status, lease: json.checks.lease }).toEqual({
          status: 200,
          lease: { ok: true, words: '1 held, all with recent heartbeats' },
        });
        await clock.advance(55_000);
        await heartbeat.runOnce();
      }
    },
  );

  it('check the disk of the warehouse, and answer 503 when it cannot be checked', async () => {
    place = await makeStatusPlace();
    const folder = (await place.rig.engine.inspect?.())?.folder ?? '';
    // Otherwise the folder of the pictures may be the one with less space.
    const { warehouse } = place.dependencies.running().config;
    warehouse.images = folder;
    expect((await place.ask('GET', '/readyz')).json.checks.disk).toEqual({
      ok: true,
      words: expect.stringMatching(new RegExp(`^\\d+ MiB free at ${folder}$`)),
    });
    rmSync(folder, { recursive: true });
    const { status, json } = await place.ask('GET', '/readyz');
    expect({ status, isOk: json.checks?.disk.ok }).toEqual({ status: 503, isOk: false });
  });

  it('answer 503 where the warehouse does not answer', async () => {
    place = await makeStatusPlace();
    await place.rig.engine.close();
    const { status, json } = await place.ask('GET', '/readyz');
    expect(status).toBe(503);
    expect(json.checks.warehouse.ok).toBe(false);
  });
});

describe('/api/status', () => {
  it('is the document of `roadbook status --json`', async () => {
    place = await makeStatusPlace({ rejectedEdit: 'config/roadbook.yaml:3:5 is wrong' });
    await place.rig.run('pull-vehicles');
    const { json } = await place.ask('GET', '/api/status');
    const { config, loadedAt } = place.dependencies.running();
    const { document: own } = await statusFacts({
      ...place.dependencies,
      config,
      configState: undefined,
      configLoadedAt: loadedAt,
      configError: 'config/roadbook.yaml:3:5 is wrong',
      session: await place.dependencies.session(),
    });
    expect(json).toEqual(JSON.parse(JSON.stringify(own)));
    const vehicles = await place.rig.rows('select count(*) as n from vehicle');
    const vehicleTable = json.tables.find(({ name }: { name: string }) => name === 'vehicle');
    expect(vehicleTable).toMatchObject({ rows: vehicles[0]!.n, freshness_seconds: 0 });
    expect(vehicleTable.rows).toBeGreaterThan(0);
  });

  it('is a warning while the outcome of a send is unknown, and is late after ten minutes, whatever the state of the jobs', async () => {
    place = await makeStatusPlace();
    const at = new Date(place.rig.clock.now()).toISOString();
    const entry = {
      ...{
        kind: 'route_plans',
        external_code: 'P1',
        remote_key: 'P1',
        content_hash: 'x',
        sent_hash: 'x',
        state: 'unknown',
      },
      ...{ attempts: 1, unclear_sends: 1, revision: 1, created_at: at, updated_at: at, unknown_since: at },
    };
    await place.rig.engine.write(({ sql }) => sql('push_outbox').insert(entry));
    const { config, loadedAt } = place.dependencies.running();
    const health = async () => {
      const session = await place.dependencies.session();
      const own = { config, configState: undefined, configLoadedAt: loadedAt, configError: null, session };
      return (await statusFacts({ ...place.dependencies, ...own, jobs: [] })).document.health;
    };
    await place.rig.clock.advance(600_000);
    expect(await health()).toBe('warning');
    await place.rig.clock.advance(1_000);
    expect(await health()).toBe('late');
    await place.rig.engine.write(({ sql }) => sql('push_outbox').update({ state: 'confirmed', told_at: at }));
    expect(await health()).toBe('ok');
  });

  it('shows a read that did not reach now as old data, and not as a success', async () => {
    place = await makeStatusPlace();
    // A run begins with its newest slice.
    place.rig.sandbox.addFault({ call: 'events', fault: '409', times: 1 });
    const { status } = await place.rig.run('pull-events', { since: '90d' });
    expect(status).toBe('partial');
    const [reached] = await place.rig.rows(
      `select min(newest) as at from (select max(end_at) as newest from sync_coverage where job = 'pull-events' group by scope)`,
    );
    const { json } = await place.ask('GET', '/api/status');
    const named = (list: { name: string }[], name: string) => list.find((each) => each.name === name);
    const seconds = Math.round((place.rig.clock.now() - Date.parse(String(reached?.at))) / 1_000);
    expect(seconds).toBeGreaterThan(86_400);
    expect(named(json.tables, 'event')).toMatchObject({ freshness_seconds: seconds });
    expect(named(json.jobs, 'pull-events')).toMatchObject({ health: 'late', last_success_at: null });
  });
});

describe('the data', () => {
  it('has the views in its dictionary', async () => {
    place = await makeStatusPlace();
    const { json } = await place.ask('GET', '/api/dictionary');
    const names = json.tables.map(({ name }: { name: string }) => name);
    expect(names).toEqual(expect.arrayContaining(['bi_delivery', 'bi_freshness', 'vehicle', 'sync_run']));
  });

  it('has the last verification of each table, and is late while final days drift', async () => {
    place = await makeStatusPlace();
    const verified = { verified_at: '2026-03-10T05:15:00.000Z', missing_here: 0, missing_there: 0, repaired: 0 };
    const event = { ...verified, table_name: 'event', day: '2026-03-01', state: 'final', compared: 100 };
    const rows = [
      { ...event, run_id: 'a', equal: 100, differing: 0, differing_columns: null },
      { ...event, run_id: 'b', equal: 90, differing: 10, differing_columns: '{"distance":10}' },
      { ...event, run_id: 'c', state: 'provisional', equal: 0, differing: 100, differing_columns: '{"distance":100}' },
    ];
    await storeVerified(place.rig.engine, rows as VerifiedDay[]);
    const { json } = await place.ask('GET', '/api/verification?table=event');
    expect(json.tables).toEqual([
      { table: 'event', verified_at: verified.verified_at, compared: 100, drifted: 10, drift_ratio: 0.1 },
    ]);
    expect(json.rows.map(({ verdict }: { verdict: string }) => verdict)).toEqual(['late', 'drift', 'equal']);
    // The last verification has only provisional days; the drift is that of the last one with final days.
    const days = (await place.ask('GET', '/api/days')).json;
    const found = (name: string) => days.tables.find((table: { name: string }) => table.name === name);
    expect(found('event')).toMatchObject({
      verified: { verified_at: verified.verified_at, compared: 100, differing: 100 },
      drift_ratio: 0.1,
    });
    expect(found('vehicle')).toMatchObject({ verified: null, drift_ratio: null });
    expect((await place.ask('GET', '/metrics')).text).toContain('roadbook_drift_ratio{table="event"} 0.1');
    const { dependencies } = place;
    const { config, loadedAt } = dependencies.running();
    const session = await dependencies.session();
    const own = { config, configState: undefined, configLoadedAt: loadedAt, configError: null, session };
    const health = async () => (await statusFacts({ ...dependencies, ...own })).document.health;
    expect(await health()).toBe('late');
    await storeVerified(place.rig.engine, [{ ...rows[0], run_id: 'd' } as VerifiedDay]);
    expect(await health()).toBe('warning');
  });

  it('shows no name of a person in the key of an invalid record', async () => {
    place = await makeStatusPlace();
    const invalid = (table: Table, key: string) => ({ table, key, reason: 'no', record: { key } });
    await place.rig.engine.write((tx) =>
      quarantine(
        tx,
        quarantineRows(
          'pull-daily-summaries',
          [invalid(dailySummary, '2026-03-10 driver A. Person'), invalid(vehicle, '17')],
          place.rig.dependencies.redactor,
        ),
        metadataAt('r', '2026-03-10T12:00:00.000Z'),
      ),
    );
    const { json, text } = await place.ask('GET', '/api/quarantine');
    expect(text).not.toContain('Person');
    expect(json.rows.map(({ record_key }: { record_key: string }) => record_key).toSorted()).toEqual([
      '17',
      '[hidden: text of 27]',
    ]);
  });
});

describe('the outbox', () => {
  it.each([
    ['no file waits', 'agents', ATTENTION_REASONS],
    ['a file waits', 'route_plans', ATTENTION_REASONS.filter((reason) => reason !== 'not_acknowledged')],
  ])(
    'gives the same reasons for a person as the counts, and the number of matches, while %s',
    async (_when, kind, reasons) => {
      place = await makeStatusPlace();
      const fact = takenFileFact(kind, 'a.json');
      await place.rig.engine.write((tx) => writeFact(tx, fact, {}, 0));
      const now = place.rig.clock.now();
      const minutesAgo = (minutes: number): string => new Date(now - minutes * 60_000).toISOString();
      const variants = [null, ...ATTENTION].flatMap((attention) =>
        OUTBOX_STATES.flatMap((state) =>
          [9, 10, 11].flatMap((minutes) =>
            [minutesAgo(1), null].flatMap((told_at) =>
              [minutesAgo(5), minutesAgo(-5), null].map((period_end) => ({
                state,
                change: {
                  ...{ attention, told_at, period_end, updated_at: minutesAgo(minutes) },
                  unknown_since: state === 'unknown' ? minutesAgo(minutes) : null,
                },
              })),
            ),
          ),
        ),
      );
      const entries = variants.map(({ state, change }, n) => entryIn(state, { ...change, external_code: `P${n}` }));
      await place.rig.engine.write((tx) => storeEntries(tx, entries));
      const filtered = (await place.ask('GET', '/api/outbox?state=rejected&code=p')).json;
      expect(filtered.found).toBe(entries.length / OUTBOX_STATES.length);
      const { json } = await place.ask('GET', '/api/outbox');
      const shown = new Map<string | null, number>();
      for (let page = 0; page * 50 < entries.length; page++) {
        const { rows } = (await place.ask('GET', `/api/outbox?page=${page}`)).json;
        for (const { needs_person } of rows) shown.set(needs_person, (shown.get(needs_person) ?? 0) + 1);
      }
      shown.delete(null);
      const counted = json.attention.map(({ reason, entries }: OutboxAttention) => [reason, entries]);
      expect([...shown].toSorted()).toEqual(counted.toSorted());
      expect([...shown.keys()].toSorted()).toEqual(reasons.toSorted());
    },
  );
});

describe('the views', () => {
  it.each(['9999-12-31', '0001-01-01', 'x'])('reject the day %s', async (day) => {
    place = await makeStatusPlace();
    expect((await place.ask('GET', `/api/today?day=${day}`)).status).toBe(400);
  });

  it('show the hint and the chart of the runs in the status, and a push once', async () => {
    place = await makeStatusPlace();
    const run = (run_id: string, cause: string, minute: number, more: object) => ({
      run_id,
      job: 'push-agents',
      cause,
      status: 'ok',
      started_at: `2026-03-10T14:0${minute}:00.000Z`,
      finished_at: `2026-03-10T14:0${minute}:30.000Z`,
      host: 'here',
      pid: 1,
      ...zeroCounts(),
      ...more,
    });
    await place.rig.engine.write(async ({ sql }) => {
      const failure = { status: 'partial', error_code: 'x', error: 'No', error_hint: 'Look' };
      const counts = { records: 3, inserted: 3, sent: 3, confirmed: 2 };
      await sql('sync_run').insert(run('live', 'schedule', 1, { ...failure, ...counts }));
      await sql('sync_run').insert(run('past', 'backfill', 2, {}));
    });
    const { json } = await place.ask('GET', '/api/overview');
    const job = json.jobs.find(({ name }: { name: string }) => name === 'push-agents');
    expect(job).toMatchObject({ last_run: { run_id: 'live' }, hint: 'Look' });
    expect(job.recent).toMatchObject([{ run_id: 'live', rows: 3 }]);
  });
});

describe('an action', () => {
  it('is carried out with the token and recorded', async () => {
    place = await makeStatusPlace();
    for (const action of ['run', 'pause', 'resume']) {
      const answer = await place.ask('POST', `/api/jobs/pull-vehicles/${action}`);
      expect(answer).toMatchObject({ status: 202, json: { action, subject: 'pull-vehicles' } });
    }
    expect(place.actions).toEqual(['run pull-vehicles', 'pause pull-vehicles', 'resume pull-vehicles']);
    const written = await place.rig.rows('select action, subject, "by", outcome from sync_audit order by id');
    expect(written).toHaveLength(3);
    expect(written).toContainEqual({
      action: 'pause',
      subject: 'pull-vehicles',
      by: '127.0.0.1',
      outcome: 'pause: as requested',
    });
  });

  it.each([
    ['no token', null, 401, 'token_missing'],
    ['a wrong token', `${TOKEN}x`, 401, 'token_wrong'],
  ])('is rejected with %s', async (_, token, status, code) => {
    place = await makeStatusPlace();
    const answer = await place.ask('POST', '/api/jobs/pull-vehicles/run', { token });
    expect(answer).toMatchObject({ status, json: { error: { code } } });
    expect(answer.headers['www-authenticate']).toMatch(/^Bearer/);
    expect(place.actions).toEqual([]);
  });

  it('is rejected if the configuration has no token', async () => {
    place = await makeStatusPlace({ config: 'status: { port: 0 }' });
    for (const token of [null, '', 'undefined', TOKEN]) {
      const answer = await place.ask('POST', '/api/jobs/pull-vehicles/run', { token });
      expect(answer).toMatchObject({ status: 403, json: { error: { code: 'no_token_configured' } } });
    }
    expect(place.actions).toEqual([]);
  });

  it('never accepts the token from a cookie or the address', async () => {
    place = await makeStatusPlace();
    const path = `/api/jobs/pull-vehicles/run?token=${TOKEN}&access_token=${TOKEN}`;
    const answer = await place.ask('POST', path, { token: null, headers: { cookie: `token=${TOKEN}` } });
    expect(answer.status).toBe(401);
  });

  it('on an unknown job is 404 and names the nearest one', async () => {
    place = await makeStatusPlace();
    const { status, json } = await place.ask('POST', '/api/jobs/pull-vehicle/run');
    expect(status).toBe(404);
    expect(json.error).toMatchObject({ code: 'no_such_job', hint: expect.stringContaining('pull-vehicles') });
  });

  it('that the outbox rejects is 409, and recorded as failed', async () => {
    place = await makeStatusPlace();
    const entry = { kind: 'route_plans', external_code: 'P/1 <b>', state: 'confirmed', content_hash: 'h' };
    const counts = { attempts: 1, unclear_sends: 0, revision: 1, remote_key: 'P/1 <b>' };
    const at = '2026-03-10T14:00:00.000Z';
    await place.rig.engine.write(({ sql }) =>
      sql('push_outbox').insert({ ...entry, ...counts, created_at: at, updated_at: at }),
    );
    const body = { kind: 'route_plans', code: 'P/1 <b>' };
    const rejected = await place.ask('POST', '/api/outbox/cancel', { body });
    expect(rejected).toMatchObject({ status: 409, json: { error: { code: 'usage' } } });
    const [written] = await place.rig.rows('select action, subject, outcome from sync_audit');
    expect(written).toMatchObject({ action: 'cancel', subject: 'route_plans/P/1 <b>' });
    expect(written!.outcome).toMatch(/^failed: P\/1 <b> is at the service/);

    await place.rig.engine.write(({ sql }) =>
      sql('push_outbox').update({ state: 'rejected', payload: '{}', reasons: '["no"]' }),
    );
    expect(await place.ask('POST', '/api/outbox/retry', { body })).toMatchObject({ status: 202 });
    expect(await place.rig.rows('select state from push_outbox')).toEqual([{ state: 'ready' }]);
    expect(await place.ask('POST', '/api/outbox/cancel', { body })).toMatchObject({ status: 202 });
    expect(await place.rig.rows('select state from push_outbox')).toEqual([{ state: 'cancelled' }]);
    const missing = { kind: 'route_plans', code: 'other' };
    expect((await place.ask('POST', '/api/outbox/retry', { body: missing })).status).toBe(404);
  });

  it('on one use of a code leaves the others alone', async () => {
    place = await makeStatusPlace();
    await place.rig.engine.write((tx) => storeEntries(tx, [entryIn('rejected'), entryIn('rejected', { code_use: 2 })]));
    const body = { kind: 'route_plans', code: 'P1', use: 2 };
    const answer = await place.ask('POST', '/api/outbox/retry', { body });
    expect(answer).toMatchObject({ status: 202, json: { subject: 'route_plans/P1 (use 2)' } });
    const states = 'select code_use, state from push_outbox order by code_use';
    expect(await place.rig.rows(states)).toEqual([
      { code_use: 1, state: 'rejected' },
      { code_use: 2, state: 'ready' },
    ]);
    const shown = await place.ask('GET', '/api/outbox/entry?kind=route_plans&code=P1&use=2');
    expect(shown.json).toMatchObject({ code_use: 2, state: 'ready', attempts: [{ outcome: 'retried' }] });
    expect((await place.ask('GET', '/api/outbox/entry?kind=route_plans&code=P1&use=3')).status).toBe(404);
    expect((await place.ask('GET', '/api/outbox/entry?kind=route_plans&code=P1&use=x')).status).toBe(400);
  });

  it('on many entries first reports how many they are, then what it did', async () => {
    place = await makeStatusPlace();
    const entries = ['R-1', 'R-2', 'S-1'].map((external_code) => entryIn('rejected', { external_code }));
    const lost = entryIn('unknown', { external_code: 'R-3' });
    await place.rig.engine.write((tx) => storeEntries(tx, [...entries, lost]));
    const body = { states: ['rejected', 'unknown'], kind: 'route_plans', code: 'r-' };
    const many = (path: string, more: object) =>
      place.ask('POST', `/api/outbox/${path}`, { body: { ...body, ...more } });
    expect(await many('cancel-many', {})).toMatchObject({ status: 200, json: { entries: 3 } });
    expect(await place.rig.rows('select * from sync_audit')).toEqual([]);
    expect(await many('cancel-many', { sure: true })).toMatchObject({
      status: 202,
      json: {
        subject: 'rejected, unknown entries of route_plans with "r-" in their code',
        words: '2 cancelled, 1 skipped because they changed or their state does not allow it.',
      },
    });
    const states = 'select external_code, state from push_outbox order by external_code';
    expect(await place.rig.rows(states)).toEqual([
      { external_code: 'R-1', state: 'cancelled' },
      { external_code: 'R-2', state: 'cancelled' },
      { external_code: 'R-3', state: 'unknown' },
      { external_code: 'S-1', state: 'rejected' },
    ]);
    await many('retry-many', { sure: true, code: CPFS[0] });
    expect(JSON.stringify(await place.rig.rows('select * from sync_audit'))).not.toContain(CPFS[0]);
    expect((await many('retry-many', { states: [] })).status).toBe(400);
    expect((await many('retry-many', { states: ['lost'] })).status).toBe(400);
  });

  it('with an invalid body is 400, with one that is too large 413', async () => {
    place = await makeStatusPlace();
    expect((await place.ask('POST', '/api/outbox/retry', { body: { kind: 1 } })).status).toBe(400);
    const large = { kind: 'route_plans', code: 'x'.repeat(140_000) };
    expect((await place.ask('POST', '/api/outbox/retry', { body: large })).status).toBe(413);
  });

  it('retries a quarantined record', async () => {
    place = await makeStatusPlace();
    const id = 'ab'.repeat(16);
    const at = '2026-03-10T14:00:00.000Z';
    const payload = JSON.stringify({ id: 77, plate: 'ABC1D23', status: 'A' });
    await place.rig.engine.write(({ sql }) =>
      sql('sync_quarantine').insert({
        id,
        job: 'pull-vehicles',
        table_name: 'vehicle',
        record_key: '77',
        reason: 'was wrong once',
        payload,
        first_seen_at: at,
        last_seen_at: at,
        times: 1,
        run_id: 'r',
      }),
    );
    const answer = await place.ask('POST', '/api/quarantine/retry', { body: { id } });
    expect(answer).toMatchObject({ status: 202, json: { words: 'The record is valid now and was loaded.' } });
    expect(await place.rig.rows('select plate from vehicle where id = 77')).toEqual([{ plate: 'ABC1D23' }]);
    expect((await place.ask('POST', '/api/quarantine/retry', { body: { id } })).status).toBe(404);
  });
});

describe('the server', () => {
  it('rejects a foreign Host on loopback, so that no rebound name can read it', async () => {
    place = await makeStatusPlace();
    for (const host of ['evil.example', 'evil.example:80', '127.0.0.1.evil.example']) {
      const { status, json } = await place.ask('GET', '/api/status', { headers: { host } });
      expect({ host, status, code: json?.error?.code }).toEqual({ host, status: 403, code: 'wrong_host' });
    }
    for (const host of ['localhost', 'LOCALHOST:9', '127.0.0.1', '[::1]:80']) {
      expect((await place.ask('GET', '/api/status', { headers: { host } })).status).toBe(200);
    }
  });

  it.each(['127.0.0.1', '0.0.0.0'])('requires the token for all data on %s', async (host) => {
    place = await makeStatusPlace({ config: `status: { host: ${host}, port: 0, token: ${TOKEN} }` });
    const statuses = async (paths: string[], token: string | null) =>
      Object.fromEntries(
        await Promise.all(paths.map(async (path) => [path, (await place.ask('GET', path, { token })).status] as const)),
      );
    const data = ['/api/status', '/api/overview', '/api/runs', '/api/live', '/api/nothing', '/metrics'];
    expect(await statuses(data, null)).toEqual(Object.fromEntries(data.map((path) => [path, 401])));
    const open = ['/livez', '/readyz', '/', '/page/page.js'];
    expect(await statuses(open, null)).toEqual(Object.fromEntries(open.map((path) => [path, 200])));
    expect(await statuses(['/api/status', '/metrics'], TOKEN)).toEqual({
      '/api/status': 200,
      '/metrics': 200,
    });
  });

  it('requires no token for data on loopback if none is configured', async () => {
    place = await makeStatusPlace({ config: 'status: { port: 0 }' });
    for (const path of ['/api/status', '/metrics'])
      expect((await place.ask('GET', path, { token: null })).status).toBe(200);
  });

  /** The answers of 25 wrong tokens; the first five come at once, and no further one is taken until the clock moves. */
  async function flood() {
    const { clock } = place.rig;
    const sleeping = clock.sleepers();
    const free = await Promise.all(Array.from({ length: 5 }, () => statusWith('wrong')));
    const late = Array.from({ length: 20 }, () => statusWith('wrong'));
    await expect.poll(() => clock.sleepers() - sleeping).toBe(20);
    expect(await statusWith('wrong')).toBe(429);
    return { free, late, waiting: () => clock.sleepers() - sleeping };
  }
  const statusWith = async (token: string | null) => (await place.ask('GET', '/api/status', { token })).status;

  it('delays the answers to wrong tokens more and more, rejects a flood of them, and never delays a long right one', async () => {
    const long = 'sixteen-letters!';
    place = await makeStatusPlace({ config: `status: { port: 0, token: ${long} }` });
    const { clock } = place.rig;
    const { free, late, waiting } = await flood();
    expect(free).toEqual([401, 401, 401, 401, 401]);
    expect([await statusWith(long), await statusWith(null)]).toEqual([200, 401]);
    const left: number[] = [];
    for (const byMs of [199, 1, 200, 3_599, 1]) {
      await clock.advance(byMs);
      left.push(waiting());
    }
    expect(left).toEqual([20, 19, 18, 1, 0]);
    expect(new Set(await Promise.all(late))).toEqual(new Set([401]));
    await clock.advance(1_000);
    expect(await statusWith('wrong')).toBe(401);
  });

  it('compares no short token during a flood, not even from the address of its users', async () => {
    place = await makeStatusPlace();
    expect(await statusWith(TOKEN)).toBe(200);
    const { late } = await flood();
    expect(await statusWith(TOKEN)).toBe(429);
    await place.rig.clock.advance(4_000);
    expect(new Set(await Promise.all(late))).toEqual(new Set([401]));
    expect(await statusWith(TOKEN)).toBe(200);
  });

  it('compares a token in constant time, whatever differs and however long it is', async () => {
    place = await makeStatusPlace();
    const compare = vi.spyOn(crypto, 'timingSafeEqual');
    syncBuiltinESMExports();
    onTestFinished(() => {
      compare.mockRestore();
      syncBuiltinESMExports();
    });
    const tokens = [TOKEN, 'x', TOKEN.slice(1)];
    for (const token of tokens) await place.ask('GET', '/api/status', { token });
    const lengths = compare.mock.calls.flatMap((texts) => texts.map(({ byteLength }) => byteLength));
    expect(compare).toHaveBeenCalledTimes(tokens.length);
    expect(new Set(lengths).size).toBe(1);
  });

  it('sends a strict policy with every answer', async () => {
    place = await makeStatusPlace();
    for (const path of ['/', '/livez', '/api/status', '/metrics', '/nothing']) {
      const { headers } = await place.ask('GET', path);
      expect(headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'self';/);
      expect(headers['content-security-policy']).not.toContain('unsafe');
      expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'x-frame-options': 'DENY' });
      expect(headers['access-control-allow-origin']).toBeUndefined();
      expect(headers['set-cookie']).toBeUndefined();
    }
  });

  it('compresses what it sends, and knows its files again by their tag', async () => {
    place = await makeStatusPlace();
    const headers = { 'accept-encoding': 'gzip' };
    for (const path of ['/api/overview', '/page/page.js', '/metrics'])
      expect(
        (await fetch(place.url + path, { headers: { ...headers, ...WITH_TOKEN } })).headers.get('content-encoding'),
      ).toBe('gzip');
    const etag = (await fetch(`${place.url}/page/page.js`, { headers })).headers.get('etag') ?? '';
    expect((await fetch(`${place.url}/page/page.js`, { headers: { ...headers, 'if-none-match': etag } })).status).toBe(
      304,
    );
  });

  it('serves only its own files', async () => {
    place = await makeStatusPlace();
    for (const path of ['/page/../server.ts', '/page/%2e%2e/server.ts', '/page/nothing.js', '/package.json']) {
      expect({ path, status: (await place.ask('GET', path)).status }).toEqual({ path, status: 404 });
    }
    const first = await place.ask('GET', '/page/uplot.js');
    expect(first).toMatchObject({ status: 200 });
    const again = await place.ask('GET', '/page/uplot.js', {
      headers: { 'if-none-match': String(first.headers.etag) },
    });
    expect(again.status).toBe(304);
  });

  it('says plainly that its port is taken, and opens it once it is free', async () => {
    place = await makeStatusPlace();
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as { port: number };
    const { config } = place.dependencies.running();
    const status = { ...config.status, port };
    const running = () => ({ file: 'f', loadedAt: '', config: { ...config, status } });
    const late = await startStatusServer({ ...place.dependencies, running });
    expect(late.url()).toBeNull();
    expect(place.rig.logLines.join('')).toContain(`127.0.0.1:${port} of the status page is in use by another`);
    await new Promise((resolve) => other.close(resolve));
    while (late.url() === null) await place.rig.clock.advance(30_000);
    expect(late.url()).toBe(`http://127.0.0.1:${port}`);
    await late.close();
  });

  it('moves to another port when the configuration says so', async () => {
    place = await makeStatusPlace();
    const { config } = place.dependencies.running();
    let status = { ...config.status };
    const running = () => ({ file: 'f', loadedAt: '', config: { ...config, status } });
    const server = await startStatusServer({ ...place.dependencies, running });
    const before = server.url() ?? '';
    await server.refresh();
    expect(server.url()).toBe(before);
    const free = createServer();
    await new Promise<void>((resolve) => free.listen(0, '127.0.0.1', resolve));
    const { port } = free.address() as { port: number };
    await new Promise((resolve) => free.close(resolve));
    status = { ...status, port };
    await server.refresh();
    expect(server.url()).toBe(`http://127.0.0.1:${port}`);
    expect((await ask('GET', `http://127.0.0.1:${port}/livez`)).status).toBe(200);
    await expect(ask('GET', `${before}/livez`)).rejects.toThrow();
    await server.close();
  });
});
