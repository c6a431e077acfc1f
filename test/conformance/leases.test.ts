// Leases and orders over every engine, by two processes' views of one warehouse, each with a clock of its own.
import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isoInstant } from '../../src/core/clock.ts';
import { noCounts } from '../../src/core/glossary.ts';
import { createLog } from '../../src/core/log.ts';
import { createManualClock, type ManualClock } from '../../src/core/manual-clock.ts';
import { createRedactor } from '../../src/core/redaction.ts';
import type { Engine, Transaction } from '../../src/warehouse/engine.ts';
import { helpersEngine } from '../../src/warehouse/fenced-engine.ts';
import {
  pauseJob,
  readControls,
  requestRun,
  resumeJob,
  takeRunRequest,
} from '../../src/warehouse/job-controls.ts';
import {
  createLeaseKeeper,
  type HeldLease,
  LEASE_TIMES,
  type LeaseKeeper,
} from '../../src/warehouse/lease-keeper.ts';
import { freeLease, isHeldBy } from '../../src/warehouse/leases.ts';
import { closeRun, openRun } from '../../src/warehouse/run-log.ts';
import { bringSchemaUpToDate } from '../../src/warehouse/schema.ts';
import { thisProcess } from '../../src/warehouse/this-process.ts';
import { readTicks } from '../../src/warehouse/tick-book.ts';
import { engineCases } from '../support/engines.ts';

const START = Date.parse('2026-05-04T12:00:00Z');
const DAY_MS = 86_400_000;
const log = createLog({ level: 'silent', redactor: createRedactor() });

/** Somebody else's work, which ends when it is told to. */
function gate(): { opened: Promise<void>; open(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

/** A write that the database refuses. */
const refuse = ({ sql }: Transaction) => sql.raw('insert into no_such_table values (1)');

interface Side {
  engine: Engine;
  clock: ManualClock;
  keeper: LeaseKeeper;
}

describe.each(engineCases)('leases on $name', ({ make }) => {
  let place: Awaited<ReturnType<typeof make>>;
  let one: Side;
  let other: Side;

  let engines: [Engine, Engine];

  const sideOf = (engine: Engine, startAt: number): Side => {
    const clock = createManualClock(startAt);
    return { engine, clock, keeper: createLeaseKeeper(engine, { clock, log }) };
  };

  beforeAll(async () => {
    place = await make();
    engines = [await place.open(), await place.open()];
    await bringSchemaUpToDate(engines[0]);
  });

  beforeEach(async () => {
    await engines[0].write(async ({ sql }) => {
      for (const table of ['sync_lease', 'sync_run', 'sync_control']) await sql(table).delete();
    });
    // Their clocks are a day apart, and that changes nothing.
    one = sideOf(engines[0], START);
    other = sideOf(engines[1], START + DAY_MS);
  });

  afterAll(async () => {
    for (const engine of engines) await engine.close();
    await place.remove();
  });

  const take = async ({ keeper }: Pick<Side, 'keeper'>, name = 'pull-events'): Promise<HeldLease> => {
    const result = await keeper.take(name);
    if ('heldBy' in result) throw new Error(`held by ${result.heldBy.holder}`);
    return result;
  };

  const openRunOf = (held: HeldLease, runId: string, tickAt: string) =>
    openRun(held.engine, {
      runId,
      job: 'pull-events',
      cause: 'schedule',
      tickAt,
      startedAt: tickAt,
      lease: held,
    });

  const rows = (table: string): Promise<Record<string, unknown>[]> => other.engine.read((sql) => sql(table));

  /** What the other side sees in the look it makes each second. */
  async function watch(seconds: number): Promise<string[]> {
    const letGo: string[] = [];
    for (let second = 0; second < seconds; second++) {
      await other.clock.advance(1_000);
      letGo.push(...(await other.keeper.look()));
    }
    return letGo;
  }

  /** One whose writes have to wait so long for their turn. */
  function slowKeeper({ engine, clock }: Side, waitMs: () => number): LeaseKeeper {
    const slow: Engine = {
      ...engine,
      async write(work, how) {
        await clock.advance(waitMs());
        return engine.write(work, how);
      },
    };
    return createLeaseKeeper(slow, { clock, log });
  }

  /** A beat is written behind the clock's back, by a real database. */
  async function beatOf({ clock, engine }: Side): Promise<void> {
    await clock.advance(LEASE_TIMES.beatMs);
    await engine.write(async () => undefined);
  }

  it('one of two gets it, and the other is told who has it', async () => {
    const held = await take(one);
    const result = await other.keeper.take('pull-events');
    expect(result).toMatchObject({ heldBy: { pid: process.pid, host: thisProcess.host } });
    await held.release();
    expect((await take(other)).token).toBeGreaterThan(held.token);
  });

  it('a holder that stands still for the lease time is replaced, and its run is abandoned', async () => {
    const held = await take(one);
    await openRunOf(held, 'r1', isoInstant(START));
    expect(await watch(LEASE_TIMES.deadMs / 1_000 - 1)).toEqual([]);
    expect(await watch(2)).toEqual(['pull-events']);
    expect(await rows('sync_run')).toMatchObject([{ run_id: 'r1', status: 'abandoned' }]);
    expect((await readTicks(other.engine, 'pull-events')).unfinishedMs).toBe(START);
    await take(other);
  });

  it('a holder that was replaced writes nothing when it wakes up, and sends nothing', async () => {
    const held = await take(one);
    await openRunOf(held, 'r1', isoInstant(START));
    await watch(LEASE_TIMES.deadMs / 1_000 + 1);
    const next = await take(other);
    await openRunOf(next, 'r2', isoInstant(START));
    const before = await rows('sync_run');
    const late = held.engine.write(async ({ sql }) => {
      await sql('sync_run').delete();
    });
    await expect(late).rejects.toMatchObject({ code: 'lease_lost' });
    const summary = { job: 'pull-events', run_id: 'r1', status: 'ok' as const, ...noCounts(), error: null };
    const closing = closeRun(held.engine, {
      ...summary,
      started_at: isoInstant(START),
      finished_at: isoInstant(START),
    });
    await expect(closing).rejects.toMatchObject({ code: 'lease_lost' });
    expect(await rows('sync_run')).toEqual(before);
    expect(held.lost.aborted).toBe(true);
    expect(() => held.check()).toThrow('took pull-events over');
    // Letting go of what it has lost takes nothing from the new holder.
    await held.release();
    await next.engine.write(async () => undefined);
  });

  it('a process that slept knows by its own clock that it must not send, before it asks anybody', async () => {
    const held = await take(one);
    held.check();
    one.clock.set(LEASE_TIMES.deadMs);
    expect(() => held.check()).toThrow();
    await held.engine.write(async () => undefined);
    held.check();
  });

  it('a write that had to wait for its turn proves the lease from when it ran', async () => {
    const held = await take(one);
    const others = gate();
    const before = one.engine.write(() => others.opened, { isLong: true });
    const claim = held.engine.write(async () => undefined);
    one.clock.set(LEASE_TIMES.deadMs);
    expect(() => held.check()).toThrow();
    others.open();
    await Promise.all([before, claim]);
    held.check();
    // What passes after that counts, though the write itself has only just ended.
    await held.engine.write(async () => one.clock.set(LEASE_TIMES.deadMs));
    expect(() => held.check()).toThrow();
  });

  it('a lease that had to wait for its turn is held from when it was taken', async () => {
    const others = gate();
    const before = one.engine.write(() => others.opened);
    const taking = take(one);
    one.clock.set(LEASE_TIMES.deadMs);
    others.open();
    await before;
    (await taking).check();
  });

  it('beats and claims go before the loads that wait in the same process', async () => {
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
    one.clock.set(LEASE_TIMES.deadMs);
    await one.clock.advance(LEASE_TIMES.beatMs);
    writes.push(
      one.engine.write(async ({ sql }) => {
        const { beat } = await sql('sync_lease').first('beat');
        // The take, the first load, the claim and the beat of the clock.
        order.push(`beat ${beat}`);
      }),
    );
    first.open();
    await Promise.all(writes);
    expect(order).toEqual(['load 1', 'claim', 'beat 4', 'load 2', 'load 3']);
    held.check();
  });

  it('a holder that beats or writes is not replaced, however its clock is set', async () => {
    const held = await take(one);
    // Nothing is even tried.
    const readOnly = { ...other.engine, write: () => Promise.reject(new Error('written')) };
    other.keeper = createLeaseKeeper(readOnly, { clock: other.clock, log });
    for (let round = 0; round < 12; round++) {
      one.clock.set(round % 2 === 0 ? DAY_MS : -DAY_MS);
      if (round < 6) await beatOf(one);
      else await held.engine.write(async () => undefined);
      expect(await watch(5)).toEqual([]);
    }
    held.check();
  });

  it.each([
    ['ahead', DAY_MS],
    ['back', -DAY_MS],
  ])(
    'a holder is replaced after the lease time, no sooner and no later, though who looks has its clock set %s',
    async (_way, byMs) => {
      await take(one);
      const seconds = LEASE_TIMES.deadMs / 1_000 - 1;
      for (let second = 0; second < seconds; second++) {
        other.clock.set(byMs);
        expect(await watch(1)).toEqual([]);
      }
      expect(await watch(2)).toEqual(['pull-events']);
    },
  );

  it('the lease of a process of this machine that is gone is free at once', async () => {
    const { pid } = spawnSync(process.execPath, ['--version']);
    await take(one);
    await one.engine.write(({ sql }) =>
      sql('sync_lease').update({ pid, holder: 'gone', place: thisProcess.place }),
    );
    // However long its own writes have to wait.
    other.keeper = slowKeeper(other, () => LEASE_TIMES.deadMs);
    await take(other);
  });

  it('a holder is given the time again where the write that would replace it had to wait', async () => {
    await take(one);
    let waitMs = LEASE_TIMES.beatMs + 1;
    other.keeper = slowKeeper(other, () => waitMs);
    expect(await watch(LEASE_TIMES.deadMs / 1_000 + 1)).toEqual([]);
    waitMs = LEASE_TIMES.beatMs;
    expect(await watch(LEASE_TIMES.deadMs / 1_000)).toEqual([]);
    expect(await watch(1)).toEqual(['pull-events']);
  });

  it('of a time in which nobody looked a beat counts at most', async () => {
    await take(one);
    const seconds = (LEASE_TIMES.deadMs - LEASE_TIMES.beatMs) / 1_000;
    expect(await watch(seconds)).toEqual([]);
    await other.clock.advance(DAY_MS);
    expect(await watch(1)).toEqual([]);
    expect(await watch(1)).toEqual(['pull-events']);
  });

  it('who could not be replaced, because the warehouse refused it, is given the time again', async () => {
    await take(one);
    const { engine, clock } = other;
    const { look } = createLeaseKeeper({ ...engine, write: () => engine.write(refuse) }, { clock, log });
    const looks = [];
    for (let second = 0; second <= LEASE_TIMES.deadMs / 1_000 + 5; second++) {
      looks.push(await look().catch(() => 'failed'));
      await clock.advance(1_000);
    }
    expect(looks.filter((each) => each === 'failed')).toHaveLength(1);
  });

  it('all leases of a dead process are freed by one look, though each write has to wait a little', async () => {
    for (const name of ['a', 'b', 'c']) await take(one, name);
    other.keeper = slowKeeper(other, () => LEASE_TIMES.beatMs - 1);
    await watch(LEASE_TIMES.deadMs / 1_000);
    expect(await watch(1)).toEqual(['a', 'b', 'c']);
  });

  it('a holder that was replaced is told by its next beat, once', async () => {
    const lines: string[] = [];
    const telling = createLog({
      level: 'warn',
      redactor: createRedactor(),
      write: (line) => lines.push(line),
    });
    one.keeper = createLeaseKeeper(one.engine, { clock: one.clock, log: telling });
    const held = await take(one);
    await watch(LEASE_TIMES.deadMs / 1_000 + 1);
    await beatOf(one);
    expect(held.lost.aborted).toBe(true);
    expect(() => held.check()).toThrow('took pull-events over');
    await beatOf(one);
    expect(lines).toHaveLength(1);
  });

  it('every lease is kept alive until it is let go, and nothing is written after the last', async () => {
    let writes = 0;
    const counting: Engine = {
      ...one.engine,
      write(work, how) {
        writes++;
        return one.engine.write(work, how);
      },
    };
    one.keeper = createLeaseKeeper(counting, { clock: one.clock, log });
    const [first, second] = [await take(one, 'first'), await take(one, 'second')];
    await first.release();
    const since = writes;
    await beatOf(one);
    expect(writes, 'one write keeps them all alive').toBe(since + 1);
    expect(await rows('sync_lease')).toMatchObject([
      { name: 'first', holder: null, beat: 1, heartbeat_at: isoInstant(START) },
      {
        name: 'second',
        beat: 2,
        taken_at: isoInstant(START),
        heartbeat_at: isoInstant(START + LEASE_TIMES.beatMs),
      },
    ]);
    const held = writes;
    await second.release();
    await one.clock.advance(10 * LEASE_TIMES.beatMs);
    expect(writes, 'letting it go is the last').toBe(held + 1);
  });

  it('leases and their runs are apart: taking or freeing one leaves the others as they are', async () => {
    const held = await take(one, 'held');
    await openRunOf(held, 'r1', isoInstant(START));
    for (let round = 0; round < 3; round++) await (await take(one, 'free')).release();
    const before = await rows('sync_lease');
    expect(await take(one, 'new')).toMatchObject({ name: 'new', token: 1 });
    expect(await rows('sync_lease')).toMatchObject([...before, { name: 'new', token: 1 }]);
    expect(await take(one, 'free')).toMatchObject({ token: 4 });
    expect(await rows('sync_run')).toMatchObject([{ run_id: 'r1', status: 'running', finished_at: null }]);
  });

  it('nobody is taken for dead who moved since it was seen', async () => {
    const held = await take(one);
    await openRunOf(held, 'r1', isoInstant(START));
    const seen = { name: 'pull-events', token: held.token, beat: 2 };
    const free = (row: typeof seen) =>
      other.engine.write(({ sql }) => freeLease(sql, row, isoInstant(START)));
    expect(await free({ ...seen, beat: 1 })).toBe(false);
    expect(await free({ ...seen, token: seen.token - 1 })).toBe(false);
    expect(await free({ ...seen, name: 'pull-drivers' })).toBe(false);
    expect(await rows('sync_run')).toMatchObject([{ status: 'running' }]);
    await held.engine.write(async () => undefined);
    expect(await free({ ...seen, beat: 3 })).toBe(true);
    expect(await free({ ...seen, token: seen.token + 1, beat: 3 }), 'nobody has it').toBe(false);
    expect(await rows('sync_run')).toMatchObject([{ status: 'abandoned', finished_at: isoInstant(START) }]);
  });

  it('who works for the holder writes while it holds the lease, and keeps nobody alive', async () => {
    const held = await take(one);
    const helping = helpersEngine(held.engine, held);
    expect(helping.base).toBe(one.engine);
    expect(helpersEngine(other.engine, held).base).toBe(other.engine);
    const help = () =>
      helpersEngine(other.engine, held).write(async ({ sql }) => sql('sync_lease').first('beat'));
    expect(await help()).toEqual({ beat: 1 });
    for (let second = 0; second <= LEASE_TIMES.deadMs / 1_000 + 5; second++) {
      await watch(1);
      if (second < 5) await help();
    }
    await expect(help()).rejects.toMatchObject({ code: 'lease_lost' });
    await take(other);
    await expect(help(), 'though somebody holds it').rejects.toMatchObject({ code: 'lease_lost' });
  });

  it('a lease is held by one process, under one token, until it is let go', async () => {
    const { name, token, release } = await take(one);
    const isHeld = (lease: { name: string; token: number }, holder: string) =>
      other.engine.read((sql) => isHeldBy(sql, lease, { holder }));
    expect(await isHeld({ name, token }, thisProcess.holder)).toBe(true);
    expect(await isHeld({ name, token }, 'somebody else')).toBe(false);
    expect(await isHeld({ name, token: token + 1 }, thisProcess.holder)).toBe(false);
    expect(await isHeld({ name: 'pull-vehicles', token }, thisProcess.holder)).toBe(false);
    await release();
    expect(await isHeld({ name, token }, thisProcess.holder)).toBe(false);
  });

  it('a lease that is let go is seen by the next look', async () => {
    const held = await take(one);
    await watch(1);
    await held.release();
    expect(await watch(1)).toEqual(['pull-events']);
    expect(await watch(3)).toEqual([]);
  });

  it('of a tick that is cut off again and again, three runs are made and no more', async () => {
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

  it('orders are seen by every process, and a requested run is taken once', async () => {
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

  it('old runs leave the history, the last hundred of a job do not', async () => {
    const old = START - 100 * DAY_MS;
    await one.engine.write(async ({ sql }) => {
      const run = { status: 'ok', cause: 'schedule', host: 'h', pid: 1, ...noCounts() };
      for (let n = 0; n < 120; n++) {
        const started_at = isoInstant(old + n * 1_000);
        await sql('sync_run').insert({ ...run, run_id: `old${n}`, job: 'pull-events', started_at });
        await sql('sync_run').insert({ ...run, run_id: `few${n}`, job: `job-${n}`, started_at });
      }
    });
    const held = await take(one);
    await openRunOf(held, 'new', isoInstant(START));
    await closeRun(held.engine, {
      job: 'pull-events',
      run_id: 'new',
      status: 'ok',
      started_at: isoInstant(START),
      finished_at: isoInstant(START),
      ...noCounts(),
      error: null,
    });
    const kept = (await rows('sync_run')).map(({ run_id }) => String(run_id));
    expect(kept.filter((id) => id.startsWith('few'))).toHaveLength(120);
    expect(kept.filter((id) => id.startsWith('old'))).toHaveLength(99);
    expect(kept).not.toContain('old0');
    expect(kept).toContain('old119');
  });
});
