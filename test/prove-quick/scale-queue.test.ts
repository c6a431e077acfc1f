// Pulls through the queue: two daemons on one PostgreSQL load the same rows as one process alone, and failures on
// the way neither lose nor double-count anything.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { Fatal, type RoadbookError, Skippable } from '../../src/core/errors.ts';
import { zeroCounts } from '../../src/core/glossary.ts';
import { type Clock, isoInstant, systemClock } from '../../src/core/time/clock.ts';
import { createManualClock } from '../../src/core/time/manual-clock.ts';
import type { NamedJob } from '../../src/sync/job.ts';
import type { Slice, SliceOutcome } from '../../src/sync/slice.ts';
import type { HeldLease, Lease } from '../../src/warehouse/control/leases.ts';
import type { QueueHome } from '../../src/warehouse/engine.ts';
import { leaseManagerOn } from '../support/daemons/lease-manager.ts';
import { commandsOn, dispatcherOn, jobs, queuedRig, rigOn, TIMES } from '../support/daemons/queued-rig.ts';
import { stopPostgres } from '../support/databases/postgres.ts';
import { silentNetworkTo } from '../support/databases/silent-network.ts';
import type { Rig } from '../support/pull/rig.ts';

const SUMMARIES = 'pull-daily-summaries';
const EVENTS = { categories: [1], since: '1d' };

afterAll(stopPostgres);

const facts = async (rig: Rig) => ({
  vehicles: await rig.rows('select id, title, _changed_at from vehicle order by id'),
  events: await rig.rows('select event_category, id, vehicle_id, extra from event order by event_category, id'),
  coverage: await rig.rows('select job, scope, begin_at, end_at from sync_coverage order by 1, 2, 3'),
});

const statementsOf = (file: string) =>
  [...readFileSync(file, 'utf8').matchAll(/```sql\n(.*?);\n```/gs)].map(([, statement]) => statement);

const summaries = (rig: Rig) =>
  rig.rows('select day, subject, title, extra from daily_summary order by day, subject, title');

const change = (rig: Rig, statement: string) => rig.engine.write(async ({ sql }) => void (await sql.raw(statement)));

/** As if the last heartbeat of the process that has a slice were long ago. */
const showNoLife = (rig: Rig) =>
  change(
    rig,
    `update ${rig.engine.queueHome?.schema}.job set heartbeat_on = now() - interval '1 hour' where state = 'active'`,
  );

const callsOf = (rig: Rig, call: string): number => rig.sandbox.ledger().requests[call] ?? 0;

/** The queue's jobs with this name, in the order of their start. */
const begunJobs = async (rig: Rig): Promise<unknown[]> => {
  const rows = await rig.rows(
    `select data->>'job' as job from ${rig.engine.queueHome?.schema}.job where name = 'slices-v2' order by started_on`,
  );
  return rows.map(({ job }) => job);
};

async function leaseOn(rig: Rig): Promise<HeldLease> {
  const held = await rig.dependencies.leases?.take('pull-vehicles');
  if (held === undefined || 'heldBy' in held) throw new Error('the lease is free');
  return held;
}

/** Slices of a run of pull-vehicles under the lease; returns how they ended. */
async function dispatch(
  { dependencies }: Rig,
  { name, token }: Lease,
  slices: Slice[],
  { signal = new AbortController().signal, draining, take }: Partial<Dispatching> = {},
): Promise<SliceOutcome[]> {
  const outcomes: SliceOutcome[] = [];
  await dependencies.dispatcher.dispatch({
    slices,
    context: {
      job: 'pull-vehicles',
      runId: 'r',
      options: {},
      lease: { name, token },
      log: dependencies.log,
      draining,
    },
    atOnce: 1,
    isHistory: () => false,
    work: () => Promise.reject(new Error('not here')),
    take(outcome) {
      outcomes.push(outcome);
      take?.(outcome);
    },
    signal,
  });
  return outcomes;
}

interface Dispatching {
  signal: AbortSignal;
  draining: AbortSignal | undefined;
  take(outcome: SliceOutcome): void;
}

async function vehicleSlice(rig: Rig): Promise<Slice> {
  const [step] = await rig.preview('pull-vehicles');
  return { scope: step?.what ?? '', work: step?.detail };
}

/** Waits that take a twentieth of their time. */
const fastClock: Clock = { ...systemClock, sleep: (ms, signal) => systemClock.sleep(ms / 20, signal) };

const balanced = (run: Awaited<ReturnType<Rig['run']>>) =>
  expect(run.inserted + run.updated + run.unchanged + run.quarantined).toBe(run.records);

describe('slices through the queue', () => {
  it('load the same rows as one process alone', async () => {
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

  it('are cut when they are too large, and the parts go back to the queue', async () => {
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

  it('are all dropped when one fails with an error that makes them pointless', async () => {
    const rig = await queuedRig(1);
    await rig.run('pull-vehicles');
    rig.sandbox.addFault({ call: 'events', fault: '403', times: 1 });
    // The next one takes so long that the run knows of the first failure before.
    rig.sandbox.addFault({ call: 'events', fault: 'latency', ms: 5_000, skip: 1 });
    const run = await rig.run('pull-events', { ...EVENTS, since: '20d' });
    expect(run.status).toBe('failed');
    expect(run.slices).toBe(1);
    expect(await rig.rows('select * from sync_lease where holder is not null')).toEqual([]);
  });

  it('of a run whose lease has changed hands write nothing', async () => {
    const rig = await queuedRig(1);
    const { name, token } = await leaseOn(rig);
    const outcomes = await dispatch(rig, { name, token: token - 1 }, [await vehicleSlice(rig)]);
    expect(outcomes).toMatchObject([{ end: 'failed', failure: { code: 'slice_given_up' } }]);
    expect(await rig.rows('select * from vehicle')).toEqual([]);
    expect(callsOf(rig, 'vehicles')).toBe(0);
  });

  it('that two workers have, because the first stalled, are loaded and counted once', async () => {
    const rig = await queuedRig(0);
    const wakes: (() => void)[] = [];
    const still = dispatcherOn(rig, 1, {
      async during(work) {
        await new Promise<void>((resolve) => wakes.push(resolve));
        return work(rig.dependencies);
      },
    });
    await still.start();
    const run = rig.run('pull-vehicles');
    await expect.poll(() => wakes.length, { timeout: 10_000 }).toBe(1);
    rig.sandbox.addFault({ call: 'vehicles', fault: 'hang', times: 1 });
    await showNoLife(rig);
    const other = dispatcherOn(rig, 1);
    await other.start();
    // The second one is in progress and never ends.
    await expect.poll(() => callsOf(rig, 'vehicles'), { timeout: 20_000 }).toBe(1);
    wakes[0]?.();
    const ended = await run;
    expect(ended).toMatchObject({ status: 'ok', slices: 1, requests: 1 });
    balanced(ended);
    const [{ n } = { n: 0 }] = await rig.rows('select count(*) as n from vehicle');
    expect(ended.inserted).toBe(Number(n));
  }, 60_000);

  it('are not sent once the daemon drains', async () => {
    const rig = await queuedRig(1);
    const { name, token } = await leaseOn(rig);
    const draining = AbortSignal.abort();
    expect(await dispatch(rig, { name, token }, [await vehicleSlice(rig)], { draining })).toEqual([]);
    expect(await (rig.engine.queueHome as QueueHome).isMade()).toBe(false);
  });

  it('of a stopped run are cancelled, and do not count as failures', async () => {
    const rig = await queuedRig(1);
    const lease = await leaseOn(rig);
    const slice = await vehicleSlice(rig);
    const stopping = new AbortController();
    rig.sandbox.addFault({ call: 'vehicles', fault: 'hang', skip: 1 });
    const slices = ['a', 'b', 'c'].map((scope) => ({ ...slice, scope }));
    const take = () => stopping.abort();
    const outcomes = await dispatch(rig, lease, slices, { signal: stopping.signal, take });
    expect(outcomes).toMatchObject([{ scope: 'a', end: 'loaded' }]);
    expect(await rig.dependencies.dispatcher.facts()).toEqual({ waiting: 0, active: 0, dead: 0 });
  });

  it('carry the failure back, whatever its message contains', async () => {
    const failures = [
      new Skippable('a\0b\ud800', { code: 'odd', hint: 'try' }),
      new Fatal('all of it', { code: 'pointless' }),
    ];
    const facts = { counts: zeroCounts() };
    const odd = jobs.map(
      (job): NamedJob => ({
        ...job,
        workSlice: async ({ scope }) => ({
          ...facts,
          scope,
          end: 'failed',
          failure: failures[Number(scope)] as RoadbookError,
        }),
      }),
    );
    const rig = await queuedRig(1, {}, { jobs: odd });
    const slices = ['0', '1'].map((scope) => ({ scope, work: {} }));
    const outcomes = await dispatch(rig, await leaseOn(rig), slices);
    const carried = outcomes.map((outcome) => (outcome.end === 'failed' ? outcome.failure : undefined));
    expect(carried[0]).toBeInstanceOf(Skippable);
    expect(carried[0]).toMatchObject({ message: 'a\ufffdb\ufffd', code: 'odd', hint: 'try' });
    expect(carried[1]).toBeInstanceOf(Fatal);
    expect(carried[1]).toMatchObject({ message: 'all of it', code: 'pointless' });
  });

  it('are waited for while the queue does not answer', async () => {
    const rig = await rigOn('postgres');
    const home = rig.engine.queueHome as QueueHome;
    const network = await silentNetworkTo(home.url);
    onTestFinished(network.close);
    const times = { ...TIMES, statementTimeout: 1 };
    rig.dependencies.leases = leaseManagerOn(rig.engine, { clock: systemClock, log: rig.dependencies.log });
    rig.dependencies.dispatcher = dispatcherOn(rig, 0, {
      home: async () => ({ ...home, url: network.url }),
      times,
    });
    const run = rig.run('pull-vehicles');
    const waiting = async () => (await rig.dependencies.dispatcher.facts())?.waiting;
    await expect.poll(waiting, { timeout: 10_000 }).toBe(1);
    network.goSilent();
    const isMissed = () => rig.logLines.some((line) => line.includes('outcomes of slices could not be read'));
    await expect.poll(isMissed, { timeout: 10_000 }).toBe(true);
    network.hearNew();
    await dispatcherOn(rig, 1).start();
    expect(await run).toMatchObject({ status: 'ok', slices: 1 });
  }, 60_000);

  it('do not delay the shutdown when the server is silent', async () => {
    const rig = await queuedRig(0);
    const home = rig.engine.queueHome as QueueHome;
    const network = await silentNetworkTo(home.url);
    onTestFinished(network.close);
    const dispatcher = dispatcherOn(rig, 1, {
      home: async () => ({ ...home, url: network.url }),
      times: { ...TIMES, statementTimeout: 1 },
      clock: fastClock,
    });
    await dispatcher.start();
    expect(await dispatcher.facts()).toMatchObject({ dead: 0 });
    network.goSilent();
    expect(await dispatcher.facts()).toBeNull();
    await dispatcher.close();
  });

  it('go back to the queue when their worker is stopped', async () => {
    const rig = await queuedRig(0);
    rig.sandbox.addFault({ call: 'vehicles', fault: 'hang', times: 1 });
    const stopped = dispatcherOn(rig, 1, { clock: fastClock });
    await stopped.start();
    const run = rig.run('pull-vehicles');
    await expect.poll(() => callsOf(rig, 'vehicles'), { timeout: 10_000 }).toBe(1);
    await stopped.stop();
    await expect.poll(() => rig.dependencies.dispatcher.facts()).toEqual({ waiting: 1, active: 0, dead: 0 });
    await dispatcherOn(rig, 1).start();
    expect(await run).toMatchObject({ status: 'ok', slices: 1 });
  });

  it('are started only by others once a process is stopped, even those of its own runs', async () => {
    const rig = await queuedRig(2);
    await rig.dependencies.dispatcher.stop();
    const run = rig.run('pull-vehicles');
    await expect.poll(() => rig.dependencies.dispatcher.facts()).toEqual({ waiting: 1, active: 0, dead: 0 });
    await dispatcherOn(rig, 1).start();
    expect(await run).toMatchObject({ status: 'ok', slices: 1 });
  });

  it('of a job unknown to a process are retried, and the process takes none for two minutes', async () => {
    const rig = await queuedRig(0);
    const known: NamedJob[] = [];
    const clock = createManualClock(0);
    await dispatcherOn(rig, 1, { jobs: known, clock }).start();
    const run = rig.run('pull-vehicles');
    await expect.poll(clock.untilNext, { timeout: 10_000 }).toBe(120_000);
    const waiting = () => expect.poll(() => rig.dependencies.dispatcher.facts(), { timeout: 10_000 });
    await waiting().toEqual({ waiting: 1, active: 0, dead: 0 });
    known.push(...jobs);
    await clock.advance(119_999);
    expect(await rig.dependencies.dispatcher.facts()).toEqual({ waiting: 1, active: 0, dead: 0 });
    await clock.advance(1);
    expect(await run).toMatchObject({ status: 'ok', slices: 1 });
  });

  it('are limited at once by the workers of a process, and by the limit of their job', async () => {
    let busy = 0;
    let most = 0;
    const rig = await queuedRig(3);
    const worker = dispatcherOn(rig, 3, {
      async during(work) {
        most = Math.max(most, ++busy);
        return work(rig.dependencies).finally(() => busy--);
      },
    });
    await rig.run('pull-vehicles');
    await rig.dependencies.dispatcher.stop();
    rig.dependencies.dispatcher = worker;
    for (const call of ['events', 'daily-summary'] as const) rig.sandbox.addFault({ call, fault: 'latency', ms: 500 });
    await rig.run(SUMMARIES, { since: '4d' });
    expect(most).toBe(3);
    most = 0;
    expect(await rig.run('pull-events', { ...EVENTS, since: '20d' })).toMatchObject({ status: 'ok' });
    expect(most).toBe(2);
  });

  it('are not counted by a process that would have to create the queue, or cannot read it', async () => {
    const rig = await queuedRig(0);
    const home = rig.engine.queueHome as QueueHome;
    const factsAt = (at: QueueHome) => dispatcherOn(rig, 1, { home: async () => at }).facts();
    expect(await factsAt(home)).toBeNull();
    expect(await home.isMade()).toBe(false);
    const away = { ...home, url: 'postgres://nobody@127.0.0.1:1/nothing', isMade: async () => true };
    expect(await factsAt(away)).toBeNull();
    await rig.dependencies.dispatcher.start();
    expect(await factsAt(home)).toEqual({ waiting: 0, active: 0, dead: 0 });
  });

  it('of a daemon that was killed are handed out again and counted once', async () => {
    // The planner works on none itself, so that the daemon has to.
    const rig = await queuedRig(0);
    await rig.dependencies.dispatcher.start();
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

  it('are retried by others if a daemon cannot log in, and do not end the run', async () => {
    const rig = await queuedRig(0);
    await rig.dependencies.dispatcher.start();
    const failing = commandsOn(rig, (config) => config.replace(/password: .*/, 'password: of-last-year'));
    const daemon = failing.start(['start']);
    await daemon.printed(/is running/);
    const run = rig.run('pull-vehicles');
    await expect.poll(() => rig.sandbox.ledger().logins_rejected, { timeout: 30_000 }).toBeGreaterThan(0);
    await daemon.printed(/login_refused.*slice will be retried/);
    const other = dispatcherOn(rig, 1);
    await other.start();
    expect(await run).toMatchObject({ status: 'ok', slices: 1, error: null });
    await other.stop();
    daemon.kill('SIGKILL');
    await daemon.ended;
  }, 60_000);

  it('are retried by others if a daemon cannot store pictures, and do not end the run', async () => {
    const rig = await queuedRig(0, { sandbox: { vehicles: 2 } });
    await rig.dependencies.dispatcher.start();
    const failing = commandsOn(rig, (config) => config.replace('warehouse: {', 'warehouse: { images: blocked/images,'));
    writeFileSync(join(failing.dir, 'blocked'), 'in the way');
    const daemon = failing.start(['start']);
    await daemon.printed(/is running/);
    const run = rig.run('pull-checklists', { since: '1d' });
    await Promise.race([daemon.printed(/images_unwritable.*slice will be retried/), run]);
    const other = dispatcherOn(rig, 1);
    await other.start();
    const ended = await run;
    expect(ended).toMatchObject({ status: 'ok', error: null });
    balanced(ended);
    const images = await rig.rows('select file from image where error is null');
    expect(images.length).toBeGreaterThan(0);
    for (const { file } of images) expect(existsSync(join(rig.dependencies.images, String(file)))).toBe(true);
    await other.stop();
    daemon.kill('SIGKILL');
    await daemon.ended;
  }, 60_000);

  it('that fail at every attempt are cancelled and reported, and the next run reads the missing data', async () => {
    const rig = await queuedRig(2);
    await rig.run('pull-vehicles');
    await change(
      rig,
      `create function reject() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$;
       create trigger reject before insert on daily_summary for each row
       when (new.day = '2026-03-01' and new.subject = 'driver') execute function reject()`,
    );
    const run = await rig.run(SUMMARIES, { since: '3d' });
    expect(run.status).toBe('partial');
    expect(run.error).toMatchObject({
      code: 'slice_given_up',
      message: expect.stringMatching(/driver 2026-03-01 .*warehouse_failed/),
    });
    balanced(run);
    expect(await rig.dependencies.dispatcher.facts()).toEqual({ waiting: 0, active: 0, dead: 1 });
    const [listing = '', clear = ''] = statementsOf('docs/how-to/scale-out.md');
    expect(await rig.rows(listing)).toMatchObject([
      { job: SUMMARIES, slice: 'driver 2026-03-01', last_reason: 'warehouse_failed' },
    ]);
    await change(rig, clear);
    expect(await rig.rows(listing)).toHaveLength(1);
    const { stdout } = await commandsOn(rig).run(['status', '--json']);
    expect(JSON.parse(stdout).queue).toEqual({ waiting: 0, active: 0, dead: 1 });
    expect(await rig.rows("select * from daily_summary where day = '2026-03-01' and subject = 'driver'")).toEqual([]);

    await change(rig, 'drop trigger reject on daily_summary');
    expect(await rig.run(SUMMARIES, { since: '3d' })).toMatchObject({ status: 'ok', error: null });
    const alone = await rigOn('sqlite');
    await alone.run('pull-vehicles');
    await alone.run(SUMMARIES, { since: '3d' });
    expect(await summaries(rig)).toEqual(await summaries(alone));
    expect(await rig.dependencies.dispatcher.facts()).toEqual({ waiting: 0, active: 0, dead: 0 });
  });

  it('take turns between live runs, and all of them precede those of a waiting backfill', async () => {
    const rig = await queuedRig(0);
    const helper = dispatcherOn(rig, 1);
    await helper.start();
    for (const name of ['pull-vehicles', 'pull-drivers']) await rig.run(name);
    await helper.stop();
    const waiting = async () => (await rig.dependencies.dispatcher.facts())?.waiting;
    const period = { beginAt: '2026-02-01T03:00:00Z', endAt: '2026-02-03T03:00:00Z', resumable: true };
    const past = rig.run(SUMMARIES, {}, period);
    await expect.poll(waiting, { timeout: 10_000 }).toBe(4);
    const long = rig.run('pull-events', { ...EVENTS, since: '20d' });
    await expect.poll(waiting, { timeout: 10_000 }).toBeGreaterThan(4);
    const before = (await waiting()) ?? 0;
    const short = rig.run('pull-vehicles');
    await expect.poll(waiting, { timeout: 10_000 }).toBe(before + 1);
    await dispatcherOn(rig, 1).start();
    const ends = await Promise.all([past, long, short]);
    expect(ends.map(({ status }) => status)).toEqual(['ok', 'ok', 'ok']);
    expect(ends[1].slices).toBeGreaterThan(1);
    expect(await begunJobs(rig)).toEqual([
      'pull-vehicles',
      'pull-drivers',
      'pull-events',
      'pull-vehicles',
      ...Array(ends[1].slices - 1).fill('pull-events'),
      ...Array(4).fill(SUMMARIES),
    ]);
  });

  it('whose planner was killed stop there, and the same backfill continues from there', async () => {
    const rig = await queuedRig(0, { startAt: new Date().toISOString() });
    const helper = dispatcherOn(rig, 1);
    await helper.start();
    await rig.run('pull-vehicles');
    const [from, to] = [12, 6].map((days) => isoInstant(rig.clock.now() - days * 86_400_000).slice(0, 10));
    const range = { beginAt: `${from}T03:00:00.000Z`, endAt: `${to}T03:00:00.000Z`, resumable: true };
    const LOADED = 5;
    rig.sandbox.addFault({ call: 'daily-summary', fault: 'hang', skip: LOADED });
    const planner = commandsOn(rig).start(['backfill', SUMMARIES, '--from', range.beginAt, '--to', range.endAt]);
    await expect.poll(() => callsOf(rig, 'daily-summary'), { timeout: 60_000 }).toBe(LOADED + 2);
    planner.kill('SIGKILL');
    await planner.ended;
    await showNoLife(rig);
    await rig.dependencies.leases?.freeDead();
    await expect
      .poll(() => rig.dependencies.dispatcher.facts(), { timeout: 60_000 })
      .toEqual({ waiting: 0, active: 0, dead: 0 });
    expect(await rig.rows("select status from sync_run where cause = 'backfill'")).toEqual([{ status: 'abandoned' }]);

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
    await helper.stop();
  }, 180_000);
});
