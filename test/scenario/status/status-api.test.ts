// What the page asks for: the plans of a day, one job, actions on many entries and their preview, the story of one entry.
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { tableJobs } from '../../../src/app/app.ts';
import { fillTableJobs } from '../../../src/warehouse/control/config-tables.ts';
import { writeFact } from '../../../src/warehouse/control/learned-facts.ts';
import { fillLocalTime } from '../../../src/warehouse/load/local-days.ts';
import { storeEntries } from '../../../src/warehouse/outbox/transitions.ts';
import { entryIn } from '../../support/push/outbox-samples.ts';
import { makeRejection, makeWorkingDay } from '../../support/status/status-day.ts';
import { makeStatusPlace, type StatusPlace } from '../../support/status/status-place.ts';

let place: StatusPlace;
beforeAll(async () => {
  place = await makeWorkingDay();
});
afterAll(() => place.close());

const get = async (path: string) => (await place.ask('GET', `/api/${path}`)).json;
const post = async (path: string, body: object) => (await place.ask('POST', `/api/${path}`, { body })).json;

describe('/api/day', () => {
  // The pull reads back what the push has sent.
  beforeAll(() => place.rig.run('pull-route-plans', { since: '4d' }));

  it('has one row for each plan, with both sides of it', async () => {
    const { rows, steps, read_until } = await get('day?day=2026-03-11');
    const [truth] = await place.rig.rows(
      `select count(*) as n from push_outbox where kind = 'route_plans' and period_start like '2026-03-11%'`,
    );
    const offered = rows.filter(({ entry }: { entry: unknown }) => entry !== null);
    expect(offered).toHaveLength(Number(truth?.n));
    expect(read_until).toBe(new Date(place.rig.clock.now()).toISOString());
    const [sent] = rows.filter(({ code }: { code: string }) => code === 'R-2026-03-11-1');
    expect(sent).toMatchObject({
      step: 'in',
      entry: { state: 'confirmed', code_use: 1, run_id: expect.any(String) },
      plan: {
        id: sent.entry.remote_id,
        stops: 1,
        stops_done: 0,
        stops_late: 0,
        stops_late_open: 0,
        missing_since: null,
      },
    });
    expect(rows.find(({ code }: { code: string }) => code === 'R-2026-03-11-7')).toMatchObject({
      step: 'unknown',
      plan: null,
    });
    const { entry: rejected } = rows.find(({ step }: { step: string }) => step === 'rejected');
    expect(rejected.reasons).toHaveLength(2);
    expect(rejected.vehicle_plate).toBe('XYZ9A87');
    expect(JSON.stringify(rows)).not.toContain('52998224725');
    expect(steps).toMatchObject({ in: 6, unknown: 1, rejected: 1 });
    expect(
      rows
        .slice(0, 2)
        .map(({ step }: { step: string }) => step)
        .toSorted(),
    ).toEqual(['rejected', 'unknown']);
  });

  it('counts stops as the warehouse does, and shows plans that the ERP did not offer', async () => {
    const { rows } = await get('day?day=2026-03-10');
    const truth = await place.rig.rows(
      `select plan_id as id, stops, stops_done, stops_returned from bi_route_plan
       where planned_start_at >= '2026-03-10T03:00' and planned_start_at < '2026-03-11T03:00' order by 1`,
    );
    expect(truth.length).toBeGreaterThan(0);
    const foreign = rows.filter(({ step }: { step: string }) => step === 'foreign');
    const shown = foreign.map(({ plan }: { plan: Record<string, unknown> }) => ({
      ...{ id: plan.id, stops: plan.stops, stops_done: plan.stops_done, stops_returned: plan.stops_returned },
    }));
    expect(shown.toSorted((a: { id: number }, b: { id: number }) => a.id - b.id)).toEqual(truth);
  });

  it('says which plans are gone from the service and which need a person, and shows them first', async () => {
    const { engine, clock } = place.rig;
    const { rows: before } = await get('day?day=2026-03-11');
    const [gone, twice] = before.filter(({ step }: { step: string }) => step === 'in');
    const at = new Date(clock.now()).toISOString();
    const mark = (_missing_since: string | null, attention: string | null) =>
      engine.write(async ({ sql }) => {
        await sql('route_plan').where({ id: gone.plan.id }).update({ _missing_since });
        await sql('push_outbox').where({ external_code: twice.code }).update({ attention });
      });
    await mark(at, 'found_twice');
    onTestFinished(() => mark(null, null));
    const { rows, steps } = await get('day?day=2026-03-11');
    expect(steps).toMatchObject({ in: 5, gone: 1 });
    const named = new Map<string, object>(rows.slice(0, 4).map((row: { code: string }) => [row.code, row]));
    expect(named.get(gone.code)).toMatchObject({ step: 'gone', plan: { missing_since: at } });
    expect(named.get(twice.code)).toMatchObject({ step: 'in', entry: { needs_person: 'found_twice' } });
    const unknown = rows.find(({ step }: { step: string }) => step === 'unknown');
    const story = (code: string) => get(`outbox/entry?kind=route_plans&code=${code}`);
    expect(unknown.entry.needs_person).toBe((await story(unknown.code)).needs_person);
    expect((await story(gone.code)).remote).toMatchObject({ gone_since: at });
    expect((await story(twice.code)).remote).toMatchObject({ gone_since: null });
    const { reasons } = await get('status');
    expect(reasons.find(({ code }: { code: string }) => code === 'push_gone')).toMatchObject({
      ...{ subject: 'outbox gone', place: 'plans?state=confirmed,partial,differs', newest: at },
      text: `1 confirmed plan is no longer at the service: ${gone.code}`,
    });
  });

  it('says that the service was not read yet', async () => {
    const fresh = await makeStatusPlace();
    expect((await fresh.ask('GET', '/api/day')).json).toMatchObject({ read_until: null, rows: [] });
    await fresh.close();
  });
});

describe('/api/today', () => {
  it('counts done, returned, open and late stops as the warehouse does', async () => {
    const { chart, stops, status } = await get('today?day=2026-03-10');
    const [truth] = await place.rig.rows(
      `select count(*) as stops, sum(is_done) as done, sum(is_returned) as returned,
         sum(is_on_time = 0) as late_done
       from bi_delivery as stop join bi_route_plan as plan on plan.plan_id = stop.plan_id
       where plan.day = '2026-03-10' and is_customer_stop`,
    );
    expect({ stops, ...chart.counts, late_done: chart.lateDone }).toEqual({
      ...truth,
      open: Number(truth?.stops) - Number(truth?.done) - Number(truth?.returned),
    });
    expect(chart.late.map(({ executed_at }: { executed_at: string | null }) => executed_at === null)).toEqual([
      ...Array.from({ length: chart.lateOpen }, () => true),
      ...Array.from({ length: chart.lateDone }, () => false),
    ]);
    const [final] = await place.rig.rows(
      `select status, expected_final_at from bi_day_status where day = '2026-03-10' and table_name = 'route_plan'`,
    );
    expect(status).toMatchObject({ ...final, status: 'provisional' });
  });

  it('counts the stops of the plans of the day that lack proof, by driver', async () => {
    const { missing_proof } = await get('today?day=2026-03-10');
    const truth = await place.rig.rows(
      `select proof.day, proof.agent_name as agent, count(*) as stops, sum(by_office) as by_office,
       sum(lacks_picture) as lacks_picture
       from bi_missing_proof as proof join bi_route_plan as plan on plan.plan_id = proof.plan_id
       where plan.day = '2026-03-10' group by proof.day, proof.agent_id, proof.agent_name`,
    );
    expect(truth.length).toBeGreaterThan(0);
    const byAgent = ({ agent: a }: Record<string, unknown>, { agent: b }: Record<string, unknown>) =>
      String(a) < String(b) ? -1 : 1;
    const shown = missing_proof.map(({ day, agent, stops, by_office, lacks_picture }: Record<string, unknown>) => ({
      ...{ day, agent, stops, by_office, lacks_picture },
    }));
    expect(shown.toSorted(byAgent)).toEqual(truth.toSorted(byAgent));
    expect(missing_proof[0].which.length).toBe(Math.min(5, missing_proof[0].stops));
  });
});

describe('/api/days', () => {
  it('judges each table by the schedule of its job, and each day by what was read', async () => {
    const { jobs, running } = place.dependencies;
    const { config } = running();
    await fillLocalTime(place.rig.engine, config.timezone, place.rig.clock.now());
    await fillTableJobs(place.rig.engine, tableJobs(jobs, config));
    const { days, tables } = await get('days');
    const verdicts = Object.fromEntries(tables.map((row: Record<string, string>) => [row.name, row.verdict]));
    expect(verdicts).toMatchObject({
      vehicle: 'fresh',
      route_plan: 'fresh',
      event: 'fresh',
      checklist: 'not read yet',
    });
    const flawed = tables.filter(({ in_quarantine }: { in_quarantine: number }) => in_quarantine > 0);
    expect(flawed).toMatchObject([{ name: 'vehicle', in_quarantine: 1 }]);
    expect(days).toHaveLength(30);
    expect(days[1].tables.map((row: Record<string, string>) => [row.table_name, row.status])).toEqual([
      ['checklist', 'hole'],
      ['daily_summary', 'provisional'],
      ['event', 'provisional'],
      ['itinerary', 'provisional'],
      ['route_plan', 'provisional'],
    ]);
  });

  it('calls a table late once its job has missed two of its ticks', async () => {
    await place.rig.clock.advance(2 * 86_400_000);
    const { tables } = await get('days');
    const verdicts = Object.fromEntries(tables.map((row: Record<string, string>) => [row.name, row.verdict]));
    expect(verdicts).toMatchObject({ vehicle: 'late', route_plan: 'late', checklist: 'not read yet' });
  });
});

describe('/api/jobs/<job>', () => {
  it('has cells, and the last error with its hint', async () => {
    const job = await get('jobs/return-executions');
    expect(job).toMatchObject({
      health: 'failing',
      failures_in_a_row: 1,
      last_error: { run_id: 'f00d', code: 'erp_unreachable', hint: expect.stringContaining('Check erp') },
      reasons: [{ code: 'job_failing' }],
    });
    const events = await get('jobs/pull-events');
    expect(events).toMatchObject({ options: { lookback: '6h' }, tables: [{ name: 'event' }], failures_in_a_row: 0 });
    expect(events.runs).toHaveLength(60);
    expect(events.runs.at(-1)).toMatchObject({ status: 'ok', seconds: expect.any(Number) });
    expect((await place.ask('GET', '/api/jobs/pull-event')).status).toBe(404);
  });
});

describe('/api/config', () => {
  it('has durations as the file has them, inside an option too', async () => {
    const config = 'jobs: { maintain-warehouse: { retention: { event: 90d } }, pull-events: { lookback: 7h } }\n';
    const other = await makeStatusPlace({ config });
    onTestFinished(() => other.close());
    const { jobs } = (await other.ask('GET', '/api/config')).json.config;
    expect(jobs['maintain-warehouse'].options.retention).toEqual({ event: '90d' });
    expect(jobs['pull-events'].options).toMatchObject({ lookback: '7h', since: '30d', categories: 'all' });
  });
});

describe('the outbox', () => {
  it('gives the reasons of Roadbook in the language of the reader', async () => {
    const rejected = { external_code: 'no-stops', reasons: '["route_points: at least one is required"]' };
    await place.rig.engine.write((tx) => storeEntries(tx, [entryIn('rejected', rejected)]));
    const reasonsIn = async (language: string) => {
      const headers = { 'accept-language': language };
      return (await place.ask('GET', '/api/outbox?code=no-stops', { headers })).json.rows[0].reasons;
    };
    expect(await reasonsIn('en-US,pt')).toEqual(['route_points: at least one is required']);
    expect(await reasonsIn('pt-BR')).toEqual(['route_points: é preciso pelo menos um']);
  });

  it('says what the service rejected, where the file lies that could not be read, and keeps the job in attention', async () => {
    const { place, folder } = await makeRejection();
    onTestFinished(() => place.close());
    const asked = async (path: string) =>
      (await place.ask('GET', `/api/${path}`, { headers: { 'accept-language': 'pt-BR' } })).json;
    const at = new Date(place.rig.clock.now()).toISOString();
    const { rows, unread } = await asked('outbox?state=rejected');
    expect(rows).toMatchObject([{ external_code: 'R-2', vehicle: 'XXX0X00' }]);
    expect(rows[0].reasons).toEqual(['Nenhum veículo tem esta placa (XXX0X00)']);
    expect(unread).toMatchObject([
      { name: 'broken.json', job: 'push-route-plans', at, folder: join(folder, 'failed') },
    ]);
    expect(existsSync(join(unread[0].folder, 'broken.json'))).toBe(true);
    expect(await asked('outbox/entry?kind=route_plans&code=R-2')).toMatchObject({
      has_content: true,
      content_until: new Date(place.rig.clock.now() + 7 * 86_400_000).toISOString(),
      from_files: true,
      attempts: [{ outcome: 'rejected', message: 'Nenhum veículo tem esta placa' }],
    });
    const job = async () => {
      const { health, last_run, reasons, failures_in_a_row } = await asked('jobs/push-route-plans');
      return [health, last_run.status, reasons, failures_in_a_row];
    };
    expect(await job()).toEqual(['warning', 'partial', [], 0]);
    await place.rig.clock.advance(30_000);
    await place.rig.run('push-route-plans');
    expect(await job()).toEqual(['warning', 'ok', [], 0]);
    const name = `${'ç'.repeat(99)}.json`;
    writeFileSync(join(folder, name), '[]');
    await place.rig.clock.advance(1_000);
    await place.rig.run('push-route-plans');
    expect(await job()).toEqual(['warning', 'partial', [], 0]);
    const reason = 'tem um nome de mais de 200 bytes; dê um nome mais curto';
    expect((await asked('outbox')).unread).toContainEqual(expect.objectContaining({ name, folder, reason }));
    rmSync(join(folder, name));
    const later = Date.parse(at) + 60_000;
    const facts = Array.from({ length: 25 }, (_, n) => ({ name: `${n}.json`, reason: 'x', kind: 'route_plans' }));
    await place.rig.engine.write(async (tx) => {
      for (const [n, fact] of facts.entries())
        await writeFact(tx, `unread route_plans ${fact.name}`, fact, later + n * 1_000);
    });
    const newest = facts.slice(5).map(({ name }) => name);
    const shown = async () => (await asked('outbox')).unread.map(({ name }: { name: string }) => name);
    expect(await shown()).toEqual(newest.toReversed());
    const { reasons } = await asked('status');
    expect(reasons.filter(({ code }: { code: string }) => code.startsWith('push_'))).toMatchObject([
      { code: 'push_unreadable', health: 'warning', place: 'plans?show=unread' },
      { code: 'push_rejected', health: 'warning', place: 'plans?state=rejected' },
    ]);
    await place.rig.clock.advance(86_400_000 + 600_000);
    expect(await shown()).toEqual([]);
  });

  it('counts a push without a clear answer under one reason: it is read back, or it needs a person', async () => {
    const place = await makeStatusPlace();
    onTestFinished(() => place.close());
    const { engine, clock } = place.rig;
    const unknown_since = new Date(clock.now()).toISOString();
    await engine.write((tx) =>
      storeEntries(tx, [
        entryIn('unknown', { external_code: 'U-1', unknown_since, attention: 'inconclusive' }),
        entryIn('unknown', { external_code: 'U-2', unknown_since }),
        entryIn('unknown', { external_code: 'U-3' }),
      ]),
    );
    const { reasons } = (await place.ask('GET', '/api/status')).json;
    const counts = Object.fromEntries(reasons.map(({ code, text }: Record<string, string>) => [code, text?.[0]]));
    expect(counts).toMatchObject({ push_inconclusive: '1', push_unknown: '1', push_unclear: '1' });
  });

  it('is searched by day and states', async () => {
    const codes = async (search: string) =>
      (await get(`outbox?${search}`)).rows.map(({ external_code }: { external_code: string }) => external_code);
    expect(await codes('day=2026-03-10&state=unknown,rejected')).toEqual(['R-2026-03-10-9']);
    expect(await codes('day=2026-03-11&state=unknown')).toEqual(['R-2026-03-11-7']);
    expect((await place.ask('GET', '/api/outbox?state=gone')).status).toBe(400);
  });

  it('has partial plans under a state of their own', async () => {
    const { engine, clock } = place.rig;
    const day = { period_start: '2026-03-20T11:00:00.000Z', updated_at: new Date(clock.now()).toISOString() };
    const reasons = ['point rejected: S7: The address was not found'];
    const part = { ...day, external_code: 'PART', remote_key: 'PART', reasons: JSON.stringify(reasons) };
    const whole = { ...day, external_code: 'WHOLE', remote_key: 'WHOLE', remote_id: 8 };
    await engine.write((tx) => storeEntries(tx, [entryIn('confirmed', part), entryIn('confirmed', whole)]));
    onTestFinished(() =>
      engine.write(({ sql }) => sql('push_outbox').whereIn('external_code', ['PART', 'WHOLE']).delete()),
    );
    const { rows, found, counts } = await get('outbox?state=partial');
    expect(rows).toMatchObject([{ external_code: 'PART', state: 'confirmed', is_partial: true, reasons }]);
    expect({ found, partial: counts.partial }).toEqual({ found: 1, partial: 1 });
    const confirmed = await get('outbox?state=confirmed');
    expect(confirmed.found).toBe(confirmed.counts.confirmed);
    const { outbox, reasons: whys } = await get('status');
    expect(outbox.confirmed).toBe(confirmed.found + 1);
    expect(whys).toContainEqual(expect.objectContaining({ code: 'push_partial', place: 'plans?state=partial' }));
    const { steps, rows: plans } = await get('day?day=2026-03-20');
    expect(steps).toEqual({ partial: 1, in: 1 });
    expect(plans).toMatchObject([{ code: 'PART', step: 'partial' }, { code: 'WHOLE' }]);
  });

  it('has a plan that the ERP changed after the push under a state of its own, and in the health', async () => {
    const { engine, clock } = place.rig;
    const day = { period_start: '2026-03-20T11:00:00.000Z', updated_at: new Date(clock.now()).toISOString() };
    const entry = { ...day, external_code: 'MOVED', remote_key: 'MOVED', content_hash: 'new', sent_hash: 'old' };
    await engine.write((tx) => storeEntries(tx, [entryIn('confirmed', entry)]));
    onTestFinished(() => engine.write(({ sql }) => sql('push_outbox').where({ external_code: 'MOVED' }).delete()));
    const { rows, counts } = await get('outbox?state=differs');
    expect(rows).toMatchObject([{ external_code: 'MOVED', state: 'confirmed', shown_state: 'differs' }]);
    expect(counts.differs).toBe(1);
    const { health, reasons } = await get('status');
    expect(health).not.toBe('ok');
    expect(reasons).toContainEqual(expect.objectContaining({ code: 'push_differs', place: 'plans?state=differs' }));
    const { steps } = await get('day?day=2026-03-20');
    expect(steps).toEqual({ differs: 1 });
  });

  it('says in Portuguese why a change of a confirmed plan is invalid', async () => {
    const { engine, clock } = place.rig;
    const entry = {
      ...{ external_code: 'ODD', remote_key: 'ODD', content_hash: 'new', sent_hash: 'old' },
      message:
        'The ERP changed it in an invalid way after it was pushed; the first of its errors: route_points[2].address: give an address or coordinates',
      updated_at: new Date(clock.now()).toISOString(),
    };
    await engine.write((tx) => storeEntries(tx, [entryIn('confirmed', entry)]));
    onTestFinished(() => engine.write(({ sql }) => sql('push_outbox').where({ external_code: 'ODD' }).delete()));
    const said = async (language: string) =>
      (await place.ask('GET', '/api/outbox?code=ODD', { headers: { 'accept-language': language } })).json.rows[0]
        .message;
    expect(await said('en')).toBe(entry.message);
    // The sentence itself is translated by the page.
    expect(await said('pt-BR')).toBe(
      'The ERP changed it in an invalid way after it was pushed; the first of its errors: route_points[2].address: informe um endereço ou as coordenadas',
    );
  });

  it('previews an action on many entries one by one, changes nothing, then does what it said', async () => {
    const at = new Date(place.rig.clock.now()).toISOString();
    const states = ['rejected', 'confirmed', 'unknown'] as const;
    const made = states.map((state) =>
      entryIn(state, { external_code: `M-${state}`, remote_key: `M-${state}`, unknown_since: at, remote_id: null }),
    );
    await place.rig.engine.write((tx) => storeEntries(tx, made));
    const entries = made.map(({ kind, external_code: code }) => ({ kind, code }));
    const stored = () => place.rig.rows(`select external_code, state, revision from push_outbox order by 1, 2`);
    const before = await stored();
    const { preview } = await post('outbox/cancel-many', { entries });
    expect(await stored()).toEqual(before);
    const would = Object.fromEntries(preview.map((row: Record<string, string>) => [row.code, row.becomes]));
    expect(would).toEqual({ 'M-rejected': 'cancelled', 'M-confirmed': 'confirmed', 'M-unknown': 'unknown' });
    expect(preview.find(({ code }: { code: string }) => code === 'M-unknown')).toMatchObject({
      problem: expect.stringContaining('may be at the service'),
      hint: expect.any(String),
    });
    expect((await post('outbox/cancel-many', { entries, sure: true })).words).toContain('1 cancelled, 2 skipped');
    const after = await place.rig.rows(`select external_code, state from push_outbox where external_code like 'M-%'`);
    expect(Object.fromEntries(after.map((row) => [row.external_code, row.state]))).toEqual(would);
    const absent = await post('outbox/assert-absent-many', { entries: [entries[2]], sure: true });
    expect(absent.words).toContain('1 marked as not at the service');
    expect((await place.ask('POST', '/api/outbox/cancel-many', { body: { sure: true } })).status).toBe(400);
  });

  it('gives the story of an entry: attempts, actions of people, and both records side by side', async () => {
    const { remote_id } = (await get('outbox/entry?kind=route_plans&code=R-2026-03-11-2')) as { remote_id: number };
    await post('outbox/retry', { kind: 'route_plans', code: 'R-2026-03-11-2' });
    const story = await get('outbox/entry?kind=route_plans&code=R-2026-03-11-2');
    expect(story.actions).toMatchObject([{ action: 'retry', outcome: expect.stringContaining('nothing to retry') }]);
    const namesOf = (stops: { name: string }[]) => stops.map(({ name }) => name);
    expect(namesOf(story.content.stops)).toEqual(namesOf(story.remote.stops));
    expect(story.remote.plan).toMatchObject({ id: remote_id, external_code: 'R-2026-03-11-2' });
    expect(story.remote.stops).toHaveLength(2);
  });
});
