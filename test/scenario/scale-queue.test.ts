// Pulls through the queue: two daemons on one PostgreSQL bring what one process brings alone, and what goes wrong on
// the way is neither lost nor counted twice.
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { loadJobs } from '../../src/app.ts';
import { systemClock } from '../../src/core/clock.ts';
import { Retriable } from '../../src/core/errors.ts';
import { noCounts } from '../../src/core/glossary.ts';
import type { Dispatcher, SliceOutcome } from '../../src/sync/dispatch/dispatcher.ts';
import { dispatcherFor } from '../../src/sync/dispatch/dispatchers.ts';
import { openPgBoss } from '../../src/sync/dispatch/pg-boss.ts';
import { createQueuedDispatcher, type QueuedOptions } from '../../src/sync/dispatch/queued.ts';
import type { Received, SliceQueue } from '../../src/sync/dispatch/slice-queue.ts';
import { workReceived } from '../../src/sync/dispatch/slice-worker.ts';
import type { RunContext } from '../../src/sync/job.ts';
import type { Slice } from '../../src/sync/pull/pull-job.ts';
import type { Engine, QueueHome } from '../../src/warehouse/engine.ts';
import { createLeaseKeeper } from '../../src/warehouse/lease-keeper.ts';
import { tellSlice } from '../../src/warehouse/slice-outcomes.ts';
import { stopPostgres } from '../support/postgres.ts';
import { makeRig, type Rig, type RigOptions } from '../support/rig.ts';
import { configFor, makeWorkplace } from '../support/workplace.ts';

const START = '2026-03-02T12:00:00Z';
const EVENTS = { categories: [1], since: '1d' };
/** As short as the queue allows. */
const TIMES = { heartbeat: 10, refresh: 5, look: 1 };

const jobs = await loadJobs();
const find = (name: string) => jobs.find((job) => job.name === name);

afterAll(stopPostgres);

async function rigOn(engine: RigOptions['engine'], options: Partial<RigOptions> = {}): Promise<Rig> {
  const rig = await makeRig({ startAt: START, engine, ...options });
  onTestFinished(() => rig.close());
  return rig;
}

const dispatcherParts = (rig: Rig, workers: number): QueuedOptions => ({
  open: () => openPgBoss(rig.engine.queueHome as QueueHome, { log: rig.parts.log, times: TIMES }),
  find,
  during: (work) => work(rig.parts),
  workers,
  log: rig.parts.log,
});

/** A daemon's share in this process, with a connection of its own to the queue. */
function dispatcherOn(rig: Rig, workers: number): Dispatcher {
  const dispatcher = createQueuedDispatcher(dispatcherParts(rig, workers));
  onTestFinished(() => dispatcher.close());
  return dispatcher;
}

async function queuedRig(workers: number, options: Partial<RigOptions> = {}): Promise<Rig> {
  const rig = await rigOn('postgres', options);
  const { log } = rig.parts;
  rig.parts.leases = createLeaseKeeper(rig.engine, { clock: systemClock, log });
  rig.parts.dispatcher = dispatcherOn(rig, workers);
  return rig;
}

const facts = async (rig: Rig) => ({
  vehicles: await rig.rows('select id, title, _changed_at from vehicle order by id'),
  events: await rig.rows(
    'select event_category, id, vehicle_id, extra from event order by event_category, id',
  ),
  coverage: await rig.rows('select job, scope, begin_at, end_at from sync_coverage order by 1, 2, 3'),
});

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
    rig.sandbox.addFault({ call: 'events', fault: '403' });
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
    const message = { id: crypto.randomUUID(), job: 'pull-vehicles', runId: 'old', options: {}, lease };
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
    const message = { id: crypto.randomUUID(), job: 'pull-vehicles', runId: 'r', options: {}, slice };
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
    const off = jobs.map(({ name }) => `  ${name}: { enabled: false }`).join('\n');
    const { url, schema } = rig.settings;
    const sections = `warehouse: { engine: postgres, url: "${url}", schema: ${schema} }\nscale: { dispatcher: pg-boss }\njobs:\n${off}\n`;
    const place = makeWorkplace(configFor(rig.sandbox.url, sections));
    onTestFinished(() => place.remove());
    const daemon = place.start(['start']);
    await daemon.printed(/is running/);
    const run = rig.run('pull-vehicles');
    await expect.poll(() => callsOf(rig, 'vehicles'), { timeout: 10_000 }).toBe(1);
    daemon.kill('SIGKILL');
    await daemon.ended;
    const other = dispatcherOn(rig, 1);
    await other.start();
    const ended = await run;
    expect(ended).toMatchObject({ status: 'ok', slices: 1 });
    balanced(ended);
    const [{ n } = { n: 0 }] = await rig.rows('select count(*) as n from vehicle');
    expect(ended.inserted).toBe(Number(n));
    await other.stop();
  }, 60_000);
});
