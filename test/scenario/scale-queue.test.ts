// Pulls through the queue: two daemons on one PostgreSQL bring what one process brings alone, and what goes wrong on
// the way is neither lost nor counted twice.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { isoInstant, systemClock } from '../../src/core/clock.ts';
import { Retriable } from '../../src/core/errors.ts';
import { noCounts } from '../../src/core/glossary.ts';
import { dispatcherFor } from '../../src/sync/dispatch/dispatchers.ts';
import { openPgBoss } from '../../src/sync/dispatch/pg-boss.ts';
import { createQueuedDispatcher } from '../../src/sync/dispatch/queued.ts';
import type { Received, SliceQueue } from '../../src/sync/dispatch/slice-queue.ts';
import { workReceived } from '../../src/sync/dispatch/slice-worker.ts';
import type { RunContext } from '../../src/sync/job.ts';
import type { Slice, SliceOutcome } from '../../src/sync/slice.ts';
import type { Engine, QueueHome } from '../../src/warehouse/engine.ts';
import { createLeaseKeeper } from '../../src/warehouse/lease-keeper.ts';
import { tellSlice } from '../../src/warehouse/slice-outcomes.ts';
import { stopPostgres } from '../support/postgres.ts';
import {
  commandsOn,
  dispatcherOn,
  dispatcherParts,
  find,
  queuedRig,
  rigOn,
  TIMES,
} from '../support/queued-rig.ts';
import type { Rig } from '../support/rig.ts';

const SUMMARIES = 'pull-daily-summaries';
const EVENTS = { categories: [1], since: '1d' };

afterAll(stopPostgres);

const facts = async (rig: Rig) => ({
  vehicles: await rig.rows('select id, title, _changed_at from vehicle order by id'),
  events: await rig.rows(
    'select event_category, id, vehicle_id, extra from event order by event_category, id',
  ),
  coverage: await rig.rows('select job, scope, begin_at, end_at from sync_coverage order by 1, 2, 3'),
});

const statementsOf = (file: string) =>
  [...readFileSync(file, 'utf8').matchAll(/```sql\n(.*?);\n```/gs)].map(([, statement]) => statement);

const summaries = (rig: Rig) =>
  rig.rows('select day, subject, title, extra from daily_summary order by day, subject, title');

const change = (rig: Rig, statement: string) =>
  rig.engine.write(async ({ sql }) => void (await sql.raw(statement)));

/** As if the last sign of life of whoever has a slice were long ago. */
const showNoLife = (rig: Rig) =>
  change(
    rig,
    `update ${rig.engine.queueHome?.schema}.job set heartbeat_on = now() - interval '1 hour' where state = 'active'`,
  );

const callsOf = (rig: Rig, call: string): number => rig.sandbox.ledger().requests[call] ?? 0;

const contextOn = ({ parts }: Rig): RunContext => ({
  job: 'pull-vehicles',
  runId: 'r',
  options: find('pull-vehicles')?.options.parse({}) as Record<string, unknown>,
  lease: { name: 'pull-vehicles', token: 1 },
  counts: noCounts(),
  parts,
  log: parts.log,
  signal: new AbortController().signal,
});

/** As a worker does it whose slice was too large. */
async function cut(rig: Rig, queue: SliceQueue, { message, complete, end }: Received, slice: Slice) {
  const part = { ...message, id: crypto.randomUUID(), slice };
  await rig.engine.write(async (tx) => {
    await complete(tx);
    await queue.put(tx, [part]);
    const facts = { scope: 'all', counts: noCounts(), named: [] };
    const told = { ...facts, end: 'cut', parts: [slice], code: 'too_large', partIds: [part.id] };
    await tellSlice(tx.sql, message.runId, message.id, told);
  });
  await end('settled');
}

const balanced = (run: Awaited<ReturnType<Rig['run']>>) =>
  expect(run.inserted + run.updated + run.unchanged + run.quarantined).toBe(run.records);

describe('slices through the queue', () => {
  it('bring what one process brings alone, row for row', async () => {
    const alone = await rigOn('sqlite');
    const shared = await queuedRig(1);
    const helper = dispatcherOn(shared, 2);
    await helper.start();
    const sums = [];
    for (const rig of [alone, shared]) {
      await rig.run('pull-vehicles');
      const run = await rig.run('pull-events', EVENTS);
      balanced(run);
      const { status, slices, records, inserted, requests } = run;
      sums.push({ status, slices, records, inserted, requests });
    }
    expect(sums[1]).toEqual(sums[0]);
    expect(sums[0]?.records).toBeGreaterThan(0);
    expect(await facts(shared)).toEqual(await facts(alone));
    expect(await shared.rows('select * from sync_slice')).toEqual([]);
    await helper.stop();
  });

  it('leave no password of the database in any table of the queue', async () => {
    const rig = await queuedRig(1);
    await rig.run('pull-vehicles');
    const { url, schema } = rig.engine.queueHome as QueueHome;
    const password = decodeURIComponent(new URL(url).password);
    expect(password).not.toBe('');
    const tables = await rig.rows(
      `select table_name as name from information_schema.tables where table_schema = '${schema}'`,
    );
    expect(tables.map(({ name }) => name)).toContain('job');
    const kept = await Promise.all(tables.map(({ name }) => rig.rows(`select * from ${schema}."${name}"`)));
    const text = JSON.stringify(kept);
    expect(text.includes('pull-vehicles')).toBe(true);
    expect(text.includes(password)).toBe(false);
  });

  it('are cut where they are too large, and the parts go back to the queue', async () => {
    const rig = await queuedRig(2);
    await rig.run('pull-vehicles');
    rig.sandbox.addFault({ call: 'events', fault: '413', times: 3 });
    const run = await rig.run('pull-events', EVENTS);
    expect(run.status).toBe('ok');
    balanced(run);
    const [{ n } = { n: 0 }] = await rig.rows('select count(*) as n from event');
    expect(run.inserted).toBe(Number(n));
    expect(rig.logLines.filter((line) => line.includes('slice cut')).length).toBe(3);
  });

  it('are all dropped when one meets what makes them pointless', async () => {
    const rig = await queuedRig(1);
    await rig.run('pull-vehicles');
    rig.sandbox.addFault({ call: 'events', fault: '403', times: 1 });
    // The next one takes so long that the run has heard of the first before.
    rig.sandbox.addFault({ call: 'events', fault: 'latency', ms: 5_000, skip: 1 });
    const run = await rig.run('pull-events', { ...EVENTS, since: '20d' });
    expect(run.status).toBe('failed');
    expect(run.slices).toBe(1);
    expect(await rig.rows('select * from sync_lease where holder is not null')).toEqual([]);
  });

  it('of a run whose lease has changed hands write nothing', async () => {
    const rig = await queuedRig(1);
    const held = await rig.parts.leases?.take('pull-vehicles');
    if (held === undefined || 'heldBy' in held) throw new Error('the lease is free');
    const queue = await openPgBoss(rig.engine.queueHome as QueueHome, { log: rig.parts.log });
    onTestFinished(() => queue.close());
    const lease = { name: held.name, token: held.token - 1 };
    const message = {
      id: crypto.randomUUID(),
      job: 'pull-vehicles',
      runId: 'old',
      options: {},
      lease,
      turn: 0,
    };
    const [slice] = await rig.preview('pull-vehicles');
    const work = { scope: slice?.what ?? '', work: slice?.detail };
    await rig.engine.write((tx) => queue.put(tx, [{ ...message, slice: work }]));
    await rig.parts.dispatcher.start();
    await expect.poll(() => queue.unfinished('old').then(({ size }) => size)).toBe(0);
    expect(await rig.rows('select * from vehicle')).toEqual([]);
    expect(callsOf(rig, 'vehicles')).toBe(0);
    await rig.parts.dispatcher.stop();
  });

  it('that were given out twice are loaded and told once', async () => {
    const rig = await queuedRig(0);
    const held = await rig.parts.leases?.take('pull-vehicles');
    if (held === undefined || 'heldBy' in held) throw new Error('the lease is free');
    const queue = await openPgBoss(rig.engine.queueHome as QueueHome, { log: rig.parts.log });
    onTestFinished(() => queue.close());
    const [step] = await rig.preview('pull-vehicles');
    const slice = { scope: step?.what ?? '', work: step?.detail };
    const { name, token } = held;
    const message = {
      id: crypto.randomUUID(),
      job: 'pull-vehicles',
      runId: 'r',
      options: {},
      slice,
      turn: 0,
    };
    await rig.engine.write((tx) => queue.put(tx, [{ ...message, lease: { name, token } }]));
    const parts = {
      find,
      during: <T>(work: (own: typeof rig.parts) => Promise<T>) => work(rig.parts),
      newId: () => crypto.randomUUID(),
      clock: systemClock,
      log: rig.parts.log,
    };
    // One worker that stood still until the slice had been given to another.
    const received = await queue.next([]);
    if (received === undefined) throw new Error('the slice waits');
    await Promise.all([workReceived(received, queue, parts), workReceived(received, queue, parts)]);
    expect(await queue.unfinished('r')).toEqual(new Set());
    expect(callsOf(rig, 'vehicles')).toBe(2);
    const told = await rig.rows("select outcome from sync_slice where run_id = 'r'");
    expect(told).toHaveLength(1);
    const [{ n } = { n: 0 }] = await rig.rows('select count(*) as n from vehicle');
    expect(JSON.parse(String(told[0]?.outcome)).counts).toMatchObject({ inserted: Number(n), unchanged: 0 });
    await held.release();
  });

  it('are not put there once the daemon drains', async () => {
    const rig = await queuedRig(1);
    const draining = AbortSignal.abort();
    const { failures } = (await find('pull-vehicles')?.execute({ ...contextOn(rig), draining })) ?? {};
    expect(failures?.map(({ code }) => code)).toEqual(['stopped']);
    expect(await (rig.engine.queueHome as QueueHome).isMade()).toBe(false);
  });

  it('are waited for where the warehouse did not answer for a while', async () => {
    const rig = await queuedRig(1);
    rig.sandbox.addFault({ call: 'vehicles', fault: 'latency', ms: 500, times: 1 });
    let failing = 2;
    const engine: Engine = {
      ...rig.engine,
      async read(work) {
        if (callsOf(rig, 'vehicles') > 0 && failing-- > 0) throw new Retriable('Away', { code: 'away' });
        return rig.engine.read(work);
      },
    };
    rig.parts.leases = createLeaseKeeper(engine, { clock: systemClock, log: rig.parts.log });
    expect(await rig.run('pull-vehicles')).toMatchObject({ status: 'ok', slices: 1 });
    expect(failing).toBeLessThan(0);
  });

  it('and the parts of one that was cut at the last moment are all cancelled', async () => {
    const rig = await queuedRig(0);
    const queue = await openPgBoss(rig.engine.queueHome as QueueHome, { log: rig.parts.log, times: TIMES });
    const ending = new AbortController();
    const slice = { scope: 'all', work: {} };
    let cutting = true;
    const dispatcher = createQueuedDispatcher({
      ...dispatcherParts(rig, 0),
      open: async () => ({
        ...queue,
        async put(tx, messages) {
          await queue.put(tx, messages);
          ending.abort();
        },
        async cancel(ids) {
          const received = cutting ? await queue.next([]) : undefined;
          cutting = false;
          if (received !== undefined) await cut(rig, queue, received, slice);
          await queue.cancel(ids);
        },
      }),
    });
    onTestFinished(() => dispatcher.close());
    const ends: string[] = [];
    const work = () => Promise.reject(new Error('not here'));
    const take = ({ end }: SliceOutcome) => void ends.push(end);
    const context = contextOn(rig);
    await dispatcher.dispatch({ slices: [slice], context, atOnce: 1, work, take, signal: ending.signal });
    expect(ends).toEqual(['cut']);
    expect(await queue.unfinished(context.runId)).toEqual(new Set());
  });

  it('are counted by nobody who would have to make the queue, or cannot read it', async () => {
    const rig = await queuedRig(0);
    const home = rig.engine.queueHome as QueueHome;
    const factsAt = (at: QueueHome) => {
      const around = { ...dispatcherParts(rig, 1), home: async () => at };
      const dispatcher = dispatcherFor({ dispatcher: 'pg-boss', workers: 1 }, around);
      onTestFinished(() => dispatcher.close());
      return dispatcher.facts();
    };
    expect(await factsAt(home)).toBeNull();
    expect(await home.isMade()).toBe(false);
    const away = { ...home, url: 'postgres://nobody@127.0.0.1:1/nothing', isMade: async () => true };
    expect(await factsAt(away)).toBeNull();
    await rig.parts.dispatcher.facts();
    expect(await factsAt(home)).toEqual({ waiting: 0, active: 0, dead: 0 });
  });

  it('of a daemon that was killed are given out again and counted once', async () => {
    // The planner works none itself, so that the daemon has to.
    const rig = await queuedRig(0);
    await rig.parts.dispatcher.facts();
    rig.sandbox.addFault({ call: 'vehicles', fault: 'hang', times: 1 });
    const place = commandsOn(rig);
    const daemon = place.start(['start']);
    await daemon.printed(/is running/);
    const run = rig.run('pull-vehicles');
    await expect.poll(() => callsOf(rig, 'vehicles'), { timeout: 10_000 }).toBe(1);
    daemon.kill('SIGKILL');
    await daemon.ended;
    await showNoLife(rig);
    const other = dispatcherOn(rig, 1);
    await other.start();
    const ended = await run;
    expect(ended).toMatchObject({ status: 'ok', slices: 1 });
    balanced(ended);
    const [{ n } = { n: 0 }] = await rig.rows('select count(*) as n from vehicle');
    expect(ended.inserted).toBe(Number(n));
    await other.stop();
  }, 60_000);

  it('are left to others by a daemon that cannot log in, and do not end the run', async () => {
    const rig = await queuedRig(0);
    await rig.parts.dispatcher.facts();
    const sick = commandsOn(rig, (config) => config.replace(/password: .*/, 'password: of-last-year'));
    const daemon = sick.start(['start']);
    await daemon.printed(/is running/);
    const run = rig.run('pull-vehicles');
    await expect.poll(() => rig.sandbox.ledger().logins_refused, { timeout: 30_000 }).toBeGreaterThan(0);
    await daemon.printed(/slice is left to others/);
    const other = dispatcherOn(rig, 1);
    await other.start();
    expect(await run).toMatchObject({ status: 'ok', slices: 1, error: null });
    await other.stop();
    daemon.kill('SIGKILL');
    await daemon.ended;
  }, 60_000);

  it('are left to others by a daemon that cannot store pictures, and do not end the run', async () => {
    const rig = await queuedRig(0, { sandbox: { vehicles: 2 } });
    await rig.parts.dispatcher.facts();
    const sick = commandsOn(rig, (config) =>
      config.replace('warehouse: {', 'warehouse: { images: blocked/images,'),
    );
    writeFileSync(join(sick.dir, 'blocked'), 'in the way');
    const daemon = sick.start(['start']);
    await daemon.printed(/is running/);
    const run = rig.run('pull-checklists', { since: '1d' });
    await Promise.race([daemon.printed(/images_unwritable.*slice is left to others/), run]);
    const other = dispatcherOn(rig, 1);
    await other.start();
    const ended = await run;
    expect(ended).toMatchObject({ status: 'ok', error: null });
    balanced(ended);
    const images = await rig.rows('select file from image where error is null');
    expect(images.length).toBeGreaterThan(0);
    for (const { file } of images) expect(existsSync(join(rig.parts.images, String(file)))).toBe(true);
    await other.stop();
    daemon.kill('SIGKILL');
    await daemon.ended;
  }, 60_000);

  it('that fail at every attempt are given up and told so, and the next run reads what is missing', async () => {
    // A run that hears nothing asks the queue after a while, which is shorter here.
    const hasty = { ...systemClock, monotonic: () => systemClock.monotonic() * 20 };
    const rig = await queuedRig(2, {}, { clock: hasty });
    await rig.run('pull-vehicles');
    await change(
      rig,
      `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$;
       create trigger refuse before insert on daily_summary for each row
       when (new.day = '2026-03-01' and new.subject = 'driver') execute function refuse()`,
    );
    const run = await rig.run(SUMMARIES, { since: '3d' });
    expect(run.status).toBe('partial');
    expect(run.error).toMatchObject({
      code: 'slice_given_up',
      message: expect.stringMatching(/driver 2026-03-01 .*warehouse_failed/),
    });
    balanced(run);
    expect(await rig.parts.dispatcher.facts()).toEqual({ waiting: 0, active: 0, dead: 1 });
    const [look = '', clear = ''] = statementsOf('docs/scale.md');
    expect(await rig.rows(look)).toMatchObject([
      { job: SUMMARIES, slice: 'driver 2026-03-01', last_reason: 'warehouse_failed' },
    ]);
    await change(rig, clear);
    expect(await rig.rows(look)).toHaveLength(1);
    const { stdout } = await commandsOn(rig).run(['status', '--json']);
    expect(JSON.parse(stdout).queue).toEqual({ waiting: 0, active: 0, dead: 1 });
    expect(
      await rig.rows("select * from daily_summary where day = '2026-03-01' and subject = 'driver'"),
    ).toEqual([]);

    await change(rig, 'drop trigger refuse on daily_summary');
    expect(await rig.run(SUMMARIES, { since: '3d' })).toMatchObject({ status: 'ok', error: null });
    const alone = await rigOn('sqlite');
    await alone.run('pull-vehicles');
    await alone.run(SUMMARIES, { since: '3d' });
    expect(await summaries(rig)).toEqual(await summaries(alone));
    expect(await rig.parts.dispatcher.facts()).toEqual({ waiting: 0, active: 0, dead: 0 });
  });

  it('of a live run go before those of a backfill that wait already', async () => {
    const rig = await queuedRig(0);
    const calls: Record<string, number>[] = [];
    const helper = dispatcherOn(rig, 1, {
      during(work) {
        calls.push(rig.sandbox.ledger().requests);
        return work(rig.parts);
      },
    });
    await helper.start();
    for (const name of ['pull-vehicles', 'pull-drivers']) await rig.run(name);
    await helper.stop();
    const waiting = async () => (await rig.parts.dispatcher.facts())?.waiting;
    const period = { beginAt: '2026-02-01T03:00:00Z', endAt: '2026-02-03T03:00:00Z', resumable: true };
    const past = rig.run(SUMMARIES, {}, period);
    await expect.poll(waiting).toBe(4);
    const live = rig.run('pull-events', { ...EVENTS, since: '20d' });
    await expect.poll(waiting).toBeGreaterThan(4);
    await helper.start();
    const [{ slices, requests }, { status }] = await Promise.all([live, past]);
    expect(status).toBe('ok');
    expect(slices).toBeGreaterThan(1);
    const before = calls.filter((at) => (at['daily-summary'] ?? 0) > 0);
    expect(before).toHaveLength(3);
    expect(before.map(({ events }) => events)).toEqual(Array(3).fill(requests));
    await helper.stop();
  });

  it('whose planner was killed stop where they are, and the same backfill goes on from there', async () => {
    const rig = await queuedRig(0, { startAt: new Date().toISOString() });
    const helper = dispatcherOn(rig, 1);
    await helper.start();
    await rig.run('pull-vehicles');
    const [from, to] = [12, 6].map((days) => isoInstant(rig.clock.now() - days * 86_400_000).slice(0, 10));
    const range = { beginAt: `${from}T03:00:00.000Z`, endAt: `${to}T03:00:00.000Z`, resumable: true };
    const LOADED = 5;
    rig.sandbox.addFault({ call: 'daily-summary', fault: 'hang', skip: LOADED });
    const planner = commandsOn(rig).start([
      'backfill',
      SUMMARIES,
      '--from',
      range.beginAt,
      '--to',
      range.endAt,
    ]);
    await expect.poll(() => callsOf(rig, 'daily-summary'), { timeout: 60_000 }).toBe(LOADED + 2);
    planner.kill('SIGKILL');
    await planner.ended;
    await showNoLife(rig);
    await rig.parts.leases?.look();
    await expect
      .poll(() => rig.parts.dispatcher.facts(), { timeout: 60_000 })
      .toEqual({ waiting: 0, active: 0, dead: 0 });
    expect(await rig.rows("select status from sync_run where cause = 'backfill'")).toEqual([
      { status: 'abandoned' },
    ]);

    rig.sandbox.clearFaults();
    expect(await rig.run(SUMMARIES, {}, range)).toMatchObject({
      status: 'ok',
      slices: 12 - LOADED,
      updated: 0,
      unchanged: 0,
    });
    expect(callsOf(rig, 'daily-summary')).toBe(12 + 2);
    const again = await rig.run(SUMMARIES, {}, { ...range, resumable: false });
    expect(again).toMatchObject({ status: 'ok', slices: 12, inserted: 0, updated: 0 });
    expect(await rig.rows('select * from sync_slice')).toEqual([]);
    await helper.stop();
  }, 180_000);
});
