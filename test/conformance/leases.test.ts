// Leases and orders over every engine, by two processes' views of one warehouse, each with a clock of its own.
import { spawnSync } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isoInstant } from '../../src/core/clock.ts';
import { noCounts } from '../../src/core/glossary.ts';
import { createLog } from '../../src/core/log.ts';
import { createManualClock, type ManualClock } from '../../src/core/manual-clock.ts';
import { createRedactor } from '../../src/core/redaction.ts';
import type { Engine } from '../../src/warehouse/engine.ts';
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

interface Side {
  engine: Engine;
  clock: ManualClock;
  keeper: LeaseKeeper;
}

describe.each(engineCases)('leases on $name', ({ make }) => {
  let place: Awaited<ReturnType<typeof make>>;
  let one: Side;
  let other: Side;

  const openSide = async (startAt: number): Promise<Side> => {
    const engine = await place.open();
    const clock = createManualClock(startAt);
    return { engine, clock, keeper: createLeaseKeeper(engine, { clock, log }) };
  };

  beforeEach(async () => {
    place = await make();
    // Their clocks are a day apart, and that changes nothing.
    one = await openSide(START);
    await bringSchemaUpToDate(one.engine);
    other = await openSide(START + DAY_MS);
  });

  afterEach(async () => {
    await one.engine.close();
    await other.engine.close();
    await place.remove();
  });

  const take = async ({ keeper }: Side): Promise<HeldLease> => {
    const result = await keeper.take('pull-events');
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
    for (let round = 0; round < 12; round++) {
      one.clock.set(round % 2 === 0 ? DAY_MS : -DAY_MS);
      if (round < 6) await one.clock.advance(LEASE_TIMES.beatMs);
      else await held.engine.write(async () => undefined);
      // The beat is written behind the clock's back, by a real database.
      await one.engine.write(async () => undefined);
      expect(await watch(5)).toEqual([]);
    }
    held.check();
  });

  it('the lease of a process of this machine that is gone is free at once', async () => {
    const { pid } = spawnSync(process.execPath, ['--version']);
    await take(one);
    await one.engine.write(({ sql }) =>
      sql('sync_lease').update({ pid, holder: 'gone', place: thisProcess.place }),
    );
    await take(other);
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
