// Leases and actions on every engine, by two processes on one warehouse, each with its own clock.
import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Fatal } from '../../../src/core/errors.ts';
import { zeroCounts } from '../../../src/core/glossary.ts';
import { createLog } from '../../../src/core/log.ts';
import { createRedactor } from '../../../src/core/text/redaction.ts';
import { isoInstant } from '../../../src/core/time/clock.ts';
import { createManualClock, type ManualClock } from '../../../src/core/time/manual-clock.ts';
import {
  pauseJob,
  readControls,
  requestRun,
  resumeJob,
  takeRunRequest,
} from '../../../src/warehouse/control/job-controls.ts';
import {
  createLeaseManager,
  fencedEngine,
  freeProcess,
  type HeldLease,
  isHeld,
  type LeaseManager,
} from '../../../src/warehouse/control/leases.ts';
import { createObserver, DEAD_MS, HEARTBEAT_MS, type Heartbeat } from '../../../src/warehouse/control/processes.ts';
import { closeRun, openRun, type RunCause, readTicks } from '../../../src/warehouse/control/runs.ts';
import { type ProcessIdentity, thisProcess } from '../../../src/warehouse/control/this-process.ts';
import type { Engine, Transaction } from '../../../src/warehouse/engine.ts';
import { bringSchemaUpToDate } from '../../../src/warehouse/schema/converge.ts';
import { heartbeatOn, processElsewhere } from '../../support/daemons/lease-manager.ts';
import { engineCases } from '../../support/warehouse/engines.ts';

const START = Date.parse('2026-05-04T12:00:00Z');
const DAY_MS = 86_400_000;
const log = createLog({ level: 'silent', redactor: createRedactor() });

/** Work of another process, which ends when the test ends it. */
function gate(): { opened: Promise<void>; open(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

/** A write that the database rejects. */
const reject = ({ sql }: Transaction) => sql.raw('insert into no_such_table values (1)');

interface Side {
  engine: Engine;
  clock: ManualClock;
  heartbeat: Heartbeat;
  leases: LeaseManager;
}

const ONE = processElsewhere('depot-1');
const OTHER = processElsewhere('depot-2');

function sideOf(engine: Engine, clock: ManualClock, process: ProcessIdentity): Side {
  const heartbeat = heartbeatOn(engine, { clock, log, process });
  return { engine, clock, heartbeat, leases: createLeaseManager(heartbeat, { engine, clock, log }) };
}

/** The engine with an action around each of its writing transactions. */
const wrapped = (engine: Engine, wrap: <T>(turn: () => Promise<T>) => Promise<T>): Engine => ({
  ...engine,
  write: (work, how) => wrap(() => engine.write(work, how)),
  ...(engine.shortTransaction && {
    shortTransaction: (work) => wrap(() => engine.shortTransaction?.(work) ?? Promise.reject()),
  }),
});

describe.each(engineCases)('leases on $name', ({ name, make }) => {
  let place: Awaited<ReturnType<typeof make>>;
  let one: Side;
  let other: Side;

  let engines: [Engine, Engine];

  beforeAll(async () => {
    place = await make();
    engines = [await place.open(), await place.open()];
    await bringSchemaUpToDate(engines[0]);
  });

  beforeEach(async () => {
    await engines[0].write(async ({ sql }) => {
      for (const table of ['sync_daemon', 'sync_lease', 'sync_run', 'sync_control']) await sql(table).delete();
    });
    // Their clocks are a day apart, which must not matter.
    one = sideOf(engines[0], createManualClock(START), ONE);
    other = sideOf(engines[1], createManualClock(START + DAY_MS), OTHER);
  });

  afterAll(async () => {
    for (const engine of engines) await engine.close();
    await place.remove();
  });

  const take = async ({ leases }: Pick<Side, 'leases'>, name = 'pull-events'): Promise<HeldLease> => {
    const result = await leases.take(name);
    if ('heldBy' in result) throw new Error(`held by ${result.heldBy.holder}`);
    return result;
  };

  const openRunOf = (held: HeldLease, runId: string, tickAt: string, cause: RunCause = 'schedule') =>
    openRun(held.engine, {
      runId,
      job: 'pull-events',
      cause,
      tickAt,
      startedAt: tickAt,
      lease: held,
    });

  const closed = (runId: string) => ({
    job: 'pull-events',
    run_id: runId,
    status: 'ok' as const,
    started_at: isoInstant(START),
    finished_at: isoInstant(START),
    ...zeroCounts(),
    error: null,
  });

  const rows = (table: string): Promise<Record<string, unknown>[]> =>
    other.engine.read((sql) => sql(table).orderByRaw('1'));

  /** The leases that the other process finds free in the observation it makes each second. */
  async function watch(seconds: number): Promise<string[]> {
    const freed: string[] = [];
    for (let second = 0; second < seconds; second++) {
      await other.clock.advance(1_000);
      freed.push(...(await other.leases.freeDead()));
    }
    return freed;
  }

  /** Waits for the heartbeat that is under way: a real database writes it, independently of the test's clock. */
  const written = ({ engine }: Side): Promise<void> =>
    engine.shortTransaction?.(async () => undefined) ?? engine.write(async () => undefined);

  it('one of two processes gets the lease, and the other learns who has it', async () => {
    const held = await take(one);
    const result = await other.leases.take('pull-events');
    expect(result).toMatchObject({ heldBy: { holder: ONE.holder, pid: ONE.pid, host: ONE.host } });
    await held.release();
    expect((await take(other)).token).toBeGreaterThan(held.token);
  });

  it('one of two processes that take a lease at the same moment gets it', async () => {
    const results = await Promise.all([one, other].map(({ leases }) => leases.take('pull-events')));
    expect(results.filter((result) => 'heldBy' in result)).toHaveLength(1);
    expect(await rows('sync_lease')).toMatchObject([{ name: 'pull-events', token: 1 }]);
  });

  it('a process that freezes for 20 s is replaced, and its runs are abandoned', async () => {
    const held = await take(one);
    await openRunOf(held, 'r0', isoInstant(START - DAY_MS));
    await closeRun(held.engine, closed('r0'));
    await openRunOf(held, 'r1', isoInstant(START));
    expect(await watch(DEAD_MS / 1_000)).toEqual([]);
    expect(await watch(1)).toEqual(['pull-events']);
    expect(await watch(1), 'once').toEqual([]);
    expect(await rows('sync_run')).toMatchObject([
      { run_id: 'r0', status: 'ok' },
      { run_id: 'r1', status: 'abandoned' },
    ]);
    expect((await readTicks(other.engine, 'pull-events')).unfinishedMs).toBe(START);
    await take(other);
  });

  it('a process that was replaced writes nothing and sends nothing when it wakes up', async () => {
    const held = await take(one);
    await openRunOf(held, 'r1', isoInstant(START));
    await watch(DEAD_MS / 1_000 + 1);
    const next = await take(other);
    await openRunOf(next, 'r2', isoInstant(START));
    const before = await rows('sync_run');
    const late = held.engine.write(async ({ sql }) => {
      await sql('sync_run').delete();
    });
    await expect(late).rejects.toMatchObject({ code: 'lease_lost' });
    await expect(closeRun(held.engine, closed('r1'))).rejects.toMatchObject({ code: 'lease_lost' });
    expect(await rows('sync_run')).toEqual(before);
    expect(held.lost.aborted).toBe(true);
    expect(() => held.check()).toThrow('may have taken over pull-events');
    // When it releases the lost lease, the new holder loses nothing.
    await held.release();
    await next.engine.write(async () => undefined);
  });

  it('a process that was replaced finds out at its next heartbeat, once, and goes on', async () => {
    const lines: string[] = [];
    const write = (line: string) => lines.push(line);
    const heard = createLog({ level: 'warn', redactor: createRedactor(), write });
    one.leases = createLeaseManager(one.heartbeat, { ...one, log: heard });
    const held = [await take(one, 'a'), await take(one, 'b')];
    await watch(DEAD_MS / 1_000 + 1);
    expect(await rows('sync_daemon')).toMatchObject([{ id: ONE.holder, beat: null }]);
    await one.heartbeat.runOnce();
    for (const { lost, check } of held) {
      expect(lost.reason).toMatchObject({ code: 'lease_lost' });
      expect(check).toThrow('this process sent no heartbeat');
    }
    const later = await take(one, 'c');
    await one.heartbeat.runOnce();
    await expect(held[0]?.engine.write(async () => undefined)).rejects.toThrow();
    expect(lines).toHaveLength(2);
    later.check();
  });

  it('a process that slept knows by its own clocks that it must not send, without a query', async () => {
    const held = await take(one);
    one.clock.set(DEAD_MS - 1);
    held.check();
    one.clock.set(1);
    // Only the clock has moved: nobody took the lease.
    expect(() => held.check()).toThrow('may have taken over pull-events');
    expect(() => held.check()).toThrow(Fatal);
    await one.heartbeat.runOnce();
    held.check();
    await one.clock.advance(HEARTBEAT_MS);
    await written(one);
    one.clock.set(-DAY_MS);
    held.check();
  });

  it('a heartbeat counts from its start: other processes cannot see it before its commit', async () => {
    let lastsMs = 0;
    const slow = wrapped(one.engine, async (turn) => {
      const result = await turn();
      one.clock.set(lastsMs);
      return result;
    });
    const side = sideOf(slow, one.clock, ONE);
    const held = await take(side);
    held.check();
    lastsMs = DEAD_MS;
    await side.heartbeat.runOnce();
    expect(() => held.check()).toThrow();
    lastsMs = 0;
    await side.heartbeat.runOnce();
    held.check();
    // The same for a write that counts as a heartbeat, where heartbeats wait for the writer.
    await held.engine.write(async () => one.clock.set(DEAD_MS));
    expect(() => held.check()).toThrow();
  });

  it('a heartbeat that cannot be written proves nothing, and is reported once', async () => {
    const lines: string[] = [];
    const heard = createLog({ level: 'warn', redactor: createRedactor(), write: (line) => lines.push(line) });
    let isAway = false;
    const away = wrapped(one.engine, (turn) => (isAway ? one.engine.write(reject) : turn()));
    one.heartbeat = heartbeatOn(away, { clock: one.clock, log: heard, process: ONE });
    one.leases = createLeaseManager(one.heartbeat, { ...one, log });
    const held = await take(one);
    isAway = true;
    // A clock that is set back keeps no lease alive.
    one.clock.set(-DAY_MS);
    await one.clock.advance(DEAD_MS);
    await one.heartbeat.runOnce();
    expect(() => held.check()).toThrow();
    const reports = () => lines.filter((line) => line.includes('the heartbeat of this process failed'));
    expect(reports()).toHaveLength(1);
    isAway = false;
    await one.heartbeat.runOnce();
    held.check();
    isAway = true;
    await one.heartbeat.runOnce();
    expect(reports(), 'each outage once').toHaveLength(2);
  });

  it('no lease is taken where the first heartbeat fails', async () => {
    const away: Engine = { ...one.engine };
    if (away.shortTransaction === undefined) away.write = () => one.engine.write(reject) as never;
    else away.shortTransaction = () => one.engine.write(reject) as never;
    const heartbeat = heartbeatOn(away, { clock: one.clock, log, process: ONE });
    await expect(createLeaseManager(heartbeat, { ...one, log }).take('pull-events')).rejects.toThrow();
    expect(await rows('sync_lease')).toEqual([]);
    expect(one.clock.sleepers()).toBe(0);
  });

  it('heartbeats and claims go before the waiting loads of the same process', async () => {
    const held = await take(one);
    const order: string[] = [];
    const first = gate();
    const load = (name: string, until?: Promise<void>) =>
      held.engine.write(
        async () => {
          order.push(name);
          await until;
        },
        { isLong: true },
      );
    const writes = [load('load 1', first.opened), load('load 2'), load('load 3')];
    writes.push(held.engine.write(async () => void order.push('claim')));
    const heartbeat = one.heartbeat.runOnce().then(() => void order.push('heartbeat'));
    writes.push(heartbeat);
    // Beside the writer, a heartbeat does not even wait for the load that is under way.
    if (one.engine.shortTransaction !== undefined) await heartbeat;
    first.open();
    await Promise.all(writes);
    expect(order.filter((each) => each !== 'heartbeat')).toEqual(['load 1', 'claim', 'load 2', 'load 3']);
    expect(order.indexOf('heartbeat')).toBeLessThan(order.indexOf('load 2'));
  });

  // Where heartbeats wait for the writer, the write that would replace the process waits too: see below.
  it.skipIf(name === 'sqlite')('a load that takes longer than 20 s blocks no heartbeat', async () => {
    const held = await take(one);
    await watch(1);
    const end = gate();
    const load = held.engine.write(() => end.opened, { isLong: true });
    for (let round = 0; round <= DEAD_MS / HEARTBEAT_MS; round++) {
      await one.clock.advance(HEARTBEAT_MS);
      await written(one);
      held.check();
      expect(await watch(5)).toEqual([]);
    }
    end.open();
    await load;
    await held.engine.write(async () => undefined);
  });

  it('a process with a heartbeat is not replaced, however its clock is set', async () => {
    const held = await take(one);
    // No replacement is even tried.
    const readOnly = { ...other.engine, write: () => Promise.reject(new Error('written')) };
    other.leases = createLeaseManager(other.heartbeat, { ...other, engine: readOnly, log });
    for (let round = 0; round < 8; round++) {
      one.clock.set(round % 2 === 0 ? DAY_MS : -DAY_MS);
      await one.clock.advance(HEARTBEAT_MS);
      await written(one);
      expect(await watch(5)).toEqual([]);
    }
    held.check();
  });

  it.each([
    ['ahead', DAY_MS],
    ['back', -DAY_MS],
  ])(
    'a process is replaced after 20 s, no sooner and no later, though the clock of the observer is set %s',
    async (_way, byMs) => {
      await take(one);
      for (let second = 0; second < DEAD_MS / 1_000; second++) {
        other.clock.set(byMs);
        expect(await watch(1)).toEqual([]);
      }
      expect(await watch(1)).toEqual(['pull-events']);
    },
  );

  it('the leases of a process of this machine that is gone are free at once', async () => {
    const { pid } = spawnSync(process.execPath, ['--version']);
    const gone = { ...ONE, pid, place: thisProcess.place };
    const held = await take(sideOf(one.engine, one.clock, gone));
    await openRunOf(held, 'r1', isoInstant(START));
    // However long its own writes have to wait.
    const slow = wrapped(other.engine, async (turn) => {
      await other.clock.advance(DEAD_MS);
      return turn();
    });
    await take(sideOf(slow, other.clock, OTHER));
    expect(await rows('sync_run')).toMatchObject([{ run_id: 'r1', status: 'abandoned' }]);
  });

  it('a process gets its time again where the write that would replace it had to wait', async () => {
    await take(one);
    let waitMs = 1_001;
    const slow = wrapped(other.engine, async (turn) => {
      await other.clock.advance(waitMs);
      return turn();
    });
    other.leases = createLeaseManager(other.heartbeat, { ...other, engine: slow, log });
    expect(await watch(DEAD_MS / 1_000 + 1)).toEqual([]);
    waitMs = 1_000;
    expect(await watch(DEAD_MS / 1_000)).toEqual([]);
    expect(await watch(1)).toEqual(['pull-events']);
  });

  it('a period without observations counts as one heartbeat at most', async () => {
    await take(one);
    expect(await watch((DEAD_MS - HEARTBEAT_MS) / 1_000)).toEqual([]);
    await other.clock.advance(DAY_MS);
    expect(await watch(1)).toEqual([]);
    expect(await watch(1)).toEqual(['pull-events']);
    expect(createObserver(other.clock).stillMs('never observed')).toBe(0);
  });

  it('a process that could not be replaced, because the warehouse rejected the write, gets its time again', async () => {
    await take(one);
    const rejecting = { ...other.engine, write: () => other.engine.write(reject) };
    other.leases = createLeaseManager(other.heartbeat, { ...other, engine: rejecting, log });
    const failures: unknown[] = [];
    for (let second = 0; second <= DEAD_MS / 1_000 + 5; second++) await watch(1).catch((error) => failures.push(error));
    expect(failures).toHaveLength(1);
  });

  it('the leases of all dead processes are freed by one observation, though each write has to wait a little', async () => {
    const third = sideOf(engines[0], createManualClock(START), processElsewhere('depot-3'));
    for (const name of ['a', 'b']) await take(one, name);
    await take(third, 'c');
    const slow = wrapped(other.engine, async (turn) => {
      await other.clock.advance(999);
      return turn();
    });
    other.leases = createLeaseManager(other.heartbeat, { ...other, engine: slow, log });
    await watch(DEAD_MS / 1_000);
    expect(await watch(1)).toEqual(['a', 'b', 'c']);
  });

  it('one heartbeat keeps all leases of a process; its row goes with the last lease, and nothing more is written', async () => {
    let turns = 0;
    const counted = wrapped(one.engine, (turn) => {
      turns++;
      return turn();
    });
    one = sideOf(counted, one.clock, ONE);
    const [first, second] = [await take(one, 'first'), await take(one, 'second')];
    await first.release();
    const before = await rows('sync_daemon');
    expect(before).toMatchObject([{ id: ONE.holder, place: ONE.place, kind: 'command', version: '1.2.3', beat: 1 }]);
    turns = 0;
    await one.clock.advance(HEARTBEAT_MS);
    await written(one);
    expect(turns, 'and the one that waited for it').toBe(2);
    expect(await rows('sync_daemon')).toMatchObject([{ beat: Number(before[0]?.beat) + 1 }]);
    expect(await rows('sync_lease')).toMatchObject([
      { name: 'first', holder: null },
      { name: 'second', holder: ONE.holder, taken_at: isoInstant(START) },
    ]);
    await second.release();
    expect(await rows('sync_daemon')).toEqual([]);
    turns = 0;
    await one.clock.advance(10 * HEARTBEAT_MS);
    expect(turns).toBe(0);
  });

  it('a lease that is taken while the last one is released is kept alive, whichever comes first', async () => {
    let turn = gate();
    turn.open();
    const gated = wrapped(one.engine, async (next) => {
      await turn.opened;
      return next();
    });
    const { heartbeat } = sideOf(gated, one.clock, ONE);
    const [first, second] = [() => undefined, () => expect.fail('taken for dead')];
    const joined = async (held: ReturnType<typeof gate>, leaving: Promise<void>) => {
      turn = gate();
      const joining = heartbeat.join(second);
      turn.open();
      await joining;
      held.open();
      await leaving;
      expect(heartbeat.isRecent()).toBe(true);
      await heartbeat.runOnce();
      expect(await rows('sync_daemon')).toMatchObject([{ id: ONE.holder }]);
      await heartbeat.leave(second);
      expect(await rows('sync_daemon')).toEqual([]);
    };
    // A heartbeat is under way.
    await heartbeat.join(first);
    turn = gate();
    await one.clock.advance(HEARTBEAT_MS);
    await joined(turn, heartbeat.leave(first));
    // The row is being deleted.
    await heartbeat.join(first);
    turn = gate();
    const leaving = heartbeat.leave(first);
    await one.clock.advance(0);
    await joined(turn, leaving);
  });

  it('a heartbeat that is stopped while its first write is under way starts again', async () => {
    one.heartbeat.start();
    await one.heartbeat.stop();
    expect(await rows('sync_daemon')).toEqual([]);
    expect(one.heartbeat.isRecent()).toBe(false);
    const held = await take(one);
    expect(await rows('sync_daemon')).toHaveLength(1);
    expect(held.lost.aborted).toBe(false);
  });

  it('leases and their runs are independent: taking one does not affect the others', async () => {
    const held = await take(one, 'held');
    await openRunOf(held, 'r1', isoInstant(START));
    for (let round = 0; round < 3; round++) await (await take(one, 'free')).release();
    const before = await rows('sync_lease');
    expect(await take(one, 'new')).toMatchObject({ name: 'new', token: 1 });
    expect(await rows('sync_lease')).toMatchObject([...before, { name: 'new', token: 1 }]);
    expect(await take(one, 'free')).toMatchObject({ token: 4 });
    expect(await rows('sync_run')).toMatchObject([{ run_id: 'r1', status: 'running', finished_at: null }]);
  });

  it('a process that has sent a heartbeat since it was observed is not taken for dead', async () => {
    await openRunOf(await take(one), 'r1', isoInstant(START));
    await take(other, 'pull-drivers');
    const [seen] = await other.engine.read((sql) => sql('sync_daemon').where({ id: ONE.holder }));
    const free = (row: typeof seen) => other.engine.write(({ sql }) => freeProcess(sql, row, isoInstant(START)));
    await one.heartbeat.runOnce();
    expect(await free(seen)).toBeUndefined();
    expect(await free({ ...seen, beat: null }), 'nor one that came back').toBeUndefined();
    expect(await rows('sync_run')).toMatchObject([{ status: 'running' }]);
    expect(await free({ ...seen, beat: Number(seen.beat) + 1 })).toEqual(['pull-events']);
    expect(await rows('sync_run')).toMatchObject([{ status: 'abandoned', finished_at: isoInstant(START) }]);
    expect(await rows('sync_lease')).toMatchObject([
      { name: 'pull-drivers', holder: OTHER.holder, token: 1 },
      { name: 'pull-events', holder: null, token: 2 },
    ]);
  });

  it('a lease of an earlier version keeps its token, and is free after 20 s', async () => {
    const { engine } = other;
    await engine.write(async ({ sql }) => {
      await sql.raw('alter table sync_lease add column beat integer not null default 0');
      await sql('sync_lease').insert({ name: 'pull-events', token: 3, holder: 'earlier', beat: 9 });
      await sql('schema_version').where('name', 'like', '%one heartbeat for each process').delete();
    });
    await bringSchemaUpToDate(engine);
    expect(await rows('sync_lease')).toEqual([{ name: 'pull-events', token: 3, holder: 'earlier', taken_at: null }]);
    // This process has a heartbeat; the holder has none.
    await other.heartbeat.join(() => undefined);
    expect(await watch(DEAD_MS / 1_000)).toEqual([]);
    expect(await watch(1)).toEqual(['pull-events']);
    expect(await take(other)).toMatchObject({ token: 5 });
  });

  it('a process never takes itself for dead, although it sees its own heartbeat stand still', async () => {
    let isAway = false;
    const away = wrapped(one.engine, (turn) => (isAway ? one.engine.write(reject) : turn()));
    one.heartbeat = heartbeatOn(away, { clock: one.clock, log, process: ONE });
    one.leases = createLeaseManager(one.heartbeat, { ...one, log });
    const held = await take(one);
    isAway = true;
    for (let second = 0; second <= DEAD_MS / 1_000 + 1; second++) {
      await one.clock.advance(1_000);
      await one.leases.freeDead();
    }
    isAway = false;
    await held.engine.write(async () => undefined);
  });

  it('a lease that belongs to no run of its living process is free at the next observation', async () => {
    let isLost = false;
    // The transaction is committed, but its answer is lost.
    const flaky: Engine = {
      ...other.engine,
      async write(work, how) {
        const result = await other.engine.write(work, how);
        return isLost ? other.engine.write(reject) : result;
      },
    };
    other.leases = createLeaseManager(other.heartbeat, { ...other, engine: flaky, log });
    const held = await take(other, 'held');
    await watch(1);
    isLost = true;
    await expect(other.leases.take('pull-events')).rejects.toThrow();
    isLost = false;
    expect(await rows('sync_lease')).toMatchObject([
      { name: 'held', holder: OTHER.holder },
      { name: 'pull-events', holder: OTHER.holder },
    ]);
    expect(await watch(1)).toEqual(['pull-events']);
    await held.engine.write(async () => undefined);
    expect(held.lost.aborted).toBe(false);
  });

  it('a lease whose release failed is free at the next observation', async () => {
    let isAway = false;
    const away = { ...other.engine };
    away.write = (work, how) => other.engine.write(isAway ? (reject as never) : work, how);
    other.leases = createLeaseManager(other.heartbeat, { ...other, engine: away, log });
    other.heartbeat.start();
    const held = await take(other);
    await watch(1);
    isAway = true;
    await expect(held.release()).rejects.toThrow();
    isAway = false;
    expect(await watch(1)).toEqual(['pull-events']);
    await other.heartbeat.stop();
  });

  it('a worker of the holder writes while the holder has the lease, and keeps no lease alive', async () => {
    const held = await take(one);
    const helping = fencedEngine(other.engine, held);
    const help = () => helping.write(async () => 'written');
    for (let second = 0; second <= DEAD_MS / 1_000; second++) {
      expect(await help()).toBe('written');
      await watch(1);
    }
    await expect(help()).rejects.toMatchObject({ code: 'lease_lost' });
    await take(other);
    await expect(help(), 'though somebody holds it').rejects.toMatchObject({ code: 'lease_lost' });
  });

  it('a lease is held by one process, under one token, until it is released', async () => {
    const { name, token, release } = await take(one);
    const held = (lease: { name: string; token: number }, holder?: string) =>
      other.engine.read((sql) => isHeld(sql, lease, holder));
    expect(await held({ name, token })).toBe(true);
    expect(await held({ name, token }, ONE.holder)).toBe(true);
    expect(await held({ name, token }, OTHER.holder)).toBe(false);
    expect(await held({ name, token: token + 1 })).toBe(false);
    expect(await held({ name: 'pull-vehicles', token })).toBe(false);
    await release();
    expect(await held({ name, token })).toBe(false);
  });

  it('a lease that is released is found by the next observation', async () => {
    const held = await take(one);
    await watch(1);
    await held.release();
    expect(await watch(1)).toEqual(['pull-events']);
    expect(await watch(DEAD_MS / 1_000 + 2), 'and no further one').toEqual([]);
    // Even where it was taken and released in between.
    await (await take(one)).release();
    expect(await watch(1)).toEqual(['pull-events']);
  });

  it('a tick that is interrupted again and again gets three runs and no more', async () => {
    for (const [index, isOwed] of [true, true, false].entries()) {
      const held = await take(one);
      await openRunOf(held, `r${index}`, isoInstant(START));
      await held.release();
      await (await take(other)).release();
      expect((await readTicks(other.engine, 'pull-events')).unfinishedMs).toBe(isOwed ? START : undefined);
    }
  });

  it('the last run is the one under the newest lease, although the clock was set back', async () => {
    for (const [runId, tickAt] of [
      ['r1', START + DAY_MS],
      ['r2', START],
    ] as const) {
      const held = await take(one);
      await openRunOf(held, runId, isoInstant(tickAt));
      await held.release();
    }
    expect((await readTicks(other.engine, 'pull-events')).lastRunId).toBe('r2');
  });

  it('a manual run that is cut off, or reads a period, leaves the retry of the scheduled run as it was', async () => {
    const retryAt = START + 60_000;
    const retryMs = async () => (await readTicks(other.engine, 'pull-events')).retryMs;
    const run = async (lease: string, runId: string, cause: RunCause, summary: object, retry: string | null = null) => {
      const held = await take(one, lease);
      await openRunOf(held, runId, isoInstant(START), cause);
      await closeRun(held.engine, { ...closed(runId), ...summary }, retry);
      await held.release();
    };
    const stopped = { status: 'failed', error: { code: 'stopped', message: 'stopped', hint: null } };
    await run('pull-events', 'r1', 'schedule', { status: 'failed' }, isoInstant(retryAt));
    await run('pull-events', 'r2', 'manual', stopped);
    expect(await retryMs()).toBe(retryAt);
    await run('pull-events', 'r3', 'manual', { status: 'abandoned' });
    // Its lease has been taken more often.
    for (let n = 4; n < 9; n++) await run('backfill pull-events', `r${n}`, 'manual', {});
    expect(await retryMs()).toBe(retryAt);
    await run('pull-events', 'r9', 'manual', {});
    expect(await retryMs()).toBeUndefined();
  });

  it('actions are seen by every process, and a requested run is started once', async () => {
    const at = isoInstant(START);
    await pauseJob(one.engine, 'pull-events', at);
    await pauseJob(one.engine, 'pull-events', isoInstant(START + 1));
    await requestRun(one.engine, 'pull-events', at, 'somebody');
    expect(await readControls(other.engine)).toEqual(
      new Map([['pull-events', { paused: true, pausedAt: at, runRequestedAt: at }]]),
    );
    const taken = await Promise.all([one, other].map(({ engine }) => takeRunRequest(engine, 'pull-events')));
    expect(taken.toSorted()).toEqual([false, true]);
    await resumeJob(other.engine, 'pull-events', at);
    expect((await readTicks(one.engine, 'pull-events')).paused).toBe(false);
  });

  it('old runs are deleted from the history, except the last hundred of a job', async () => {
    const old = START - 100 * DAY_MS;
    await one.engine.write(async ({ sql }) => {
      const run = { status: 'ok', cause: 'schedule', host: 'h', pid: 1, ...zeroCounts() };
      for (let n = 0; n < 120; n++) {
        const started_at = isoInstant(old + n * 1_000);
        await sql('sync_run').insert({ ...run, run_id: `old${n}`, job: 'pull-events', started_at });
        await sql('sync_run').insert({ ...run, run_id: `few${n}`, job: `job-${n}`, started_at });
      }
    });
    const held = await take(one);
    await openRunOf(held, 'new', isoInstant(START));
    await closeRun(held.engine, closed('new'));
    const kept = (await rows('sync_run')).map(({ run_id }) => String(run_id));
    expect(kept.filter((id) => id.startsWith('few'))).toHaveLength(120);
    expect(kept.filter((id) => id.startsWith('old'))).toHaveLength(99);
    expect(kept).not.toContain('old0');
    expect(kept).toContain('old119');
  });
});
