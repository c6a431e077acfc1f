// The queue of slices on pg-boss by itself: what one worker says of a slice never touches the attempt of another, and
// what is given back is not counted.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import { createManualClock } from '../../src/core/manual-clock.ts';
import { openPgBoss } from '../../src/sync/dispatch/pg-boss.ts';
import { createQueuedDispatcher } from '../../src/sync/dispatch/queued.ts';
import { createReceiver } from '../../src/sync/dispatch/receiver.ts';
import type { Received, SliceQueue, WorkEnd } from '../../src/sync/dispatch/slice-queue.ts';
import type { QueueHome } from '../../src/warehouse/engine.ts';
import { stopPostgres } from '../support/postgres.ts';
import { makeRig, type Rig } from '../support/rig.ts';
import { silentNetworkTo } from '../support/silent-network.ts';

/** A sign of life often enough for a test; the queue itself takes nothing away here. */
const TIMES = { heartbeat: 600, refresh: 0.05, look: 60, again: 1, silent: 20 };

let rig: Rig;
let queue: SliceQueue;
let table: string;

beforeAll(async () => {
  rig = await makeRig({ startAt: '2026-03-02T12:00:00Z', engine: 'postgres' });
  const home = rig.engine.queueHome as QueueHome;
  queue = await openPgBoss(home, { log: rig.parts.log, times: TIMES });
  table = `${home.schema}.job`;
});
beforeEach(() => rig.engine.write(async ({ sql }) => void (await sql.raw(`delete from ${table}`))));
afterAll(async () => {
  await queue.close();
  await rig.close();
  await stopPostgres();
});

const lease = { name: 'pull-vehicles', token: 1 };
/** As slices of one run, in their order. */
const put = (...jobs: string[]) =>
  rig.engine.write((tx) =>
    queue.put(
      tx,
      jobs.map((job, turn) => ({
        turn,
        id: crypto.randomUUID(),
        job,
        runId: 'r',
        options: {},
        lease,
        slice: { scope: 'all', work: {} },
      })),
    ),
  );

async function next(except: string[] = []): Promise<Received> {
  const received = await queue.next(except);
  if (received === undefined) throw new Error('a slice should wait');
  return received;
}

/** As the queue does it when the worker has shown no life. */
const takeAway = () =>
  rig.engine.write(async ({ sql }) => void (await sql.raw(`update ${table} set state = 'retry'`)));

const complete = (received: Received): Promise<boolean> => rig.engine.write((tx) => received.complete(tx));

const attempts = () => rig.rows(`select state, retry_count from ${table} where name = 'slices-v1'`);

describe('a slice that was taken from a worker which stood still', () => {
  it.each<WorkEnd>(['dropped', 'stopped', 'failed'])(
    'is left to the one that has it when the first says: %s',
    async (how) => {
      await put('pull-vehicles');
      const stale = await next();
      await takeAway();
      const other = await next();
      await stale.end(how);
      expect(await attempts()).toEqual([{ state: 'active', retry_count: 1 }]);
      expect(await complete(other)).toBe(true);
      await other.end('settled');
    },
  );

  it('is not completed by it, whether it waits or is worked on', async () => {
    await put('pull-vehicles');
    const stale = await next();
    await takeAway();
    expect(await complete(stale)).toBe(false);
    const other = await next();
    const undone = rig.engine.write(async (tx) => {
      expect(await stale.complete(tx)).toBe(false);
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    expect(await attempts()).toEqual([{ state: 'active', retry_count: 1 }]);
    await stale.end('settled');
    await other.end('dropped');
  });

  it('is told so by the next sign of life', async () => {
    await put('pull-vehicles');
    const stale = await next();
    await takeAway();
    const other = await next();
    await expect.poll(() => stale.signal.aborted).toBe(true);
    expect(other.signal.aborted).toBe(false);
    await stale.end('stopped');
    await other.end('dropped');
  });
});

describe('a slice that is given back', () => {
  it('may be stopped as often as need be', async () => {
    await put('pull-vehicles');
    for (let time = 0; time < 10; time++) await (await next()).end('stopped');
    expect(await attempts()).toEqual([{ state: 'created', retry_count: 0 }]);
  });

  it('keeps what is left of its retries, and is dead after the last', async () => {
    await put('pull-vehicles');
    for (let time = 0; time < 5; time++) {
      await (await next()).end('failed');
      await rig.engine.write(
        async ({ sql }) => void (await sql.raw(`update ${table} set start_after = now()`)),
      );
      await (await next()).end('stopped');
    }
    await (await next()).end('failed');
    expect(await queue.next([])).toBeUndefined();
    expect((await attempts()).map(({ state }) => state)).toEqual(['failed']);
    expect(await rig.rows(`select 1 as n from ${table} where name = 'slices-v1-dead'`)).toHaveLength(1);
  });
});

it('a run of many slices takes turns with a run of few that comes after it', async () => {
  await put(...Array(4).fill('pull-events'));
  await put('pull-vehicles', 'pull-vehicles');
  const given: string[] = [];
  for (let taken = 0; taken < 6; taken++) {
    const received = await next();
    given.push(received.message.job);
    await received.end('dropped');
  }
  const [events, vehicles] = ['pull-events', 'pull-vehicles'];
  expect(given).toEqual([events, vehicles, events, vehicles, events, events]);
});

describe('a process that receives', () => {
  it('has at most its workers at once, and of each job what it may have', async () => {
    const many = 4;
    await put(...Array(many).fill('pull-events'), ...Array(many).fill('pull-vehicles'), 'pull-unheard-of');
    const gates: (() => void)[] = [];
    const busy: Record<string, number> = {};
    const most: Record<string, number> = {};
    const receiver = createReceiver({
      next: queue.next,
      workers: 3,
      atOnce: (job) => ({ 'pull-events': 1, 'pull-vehicles': 9 })[job] ?? 0,
      async work(received) {
        for (const name of [received.message.job, 'all']) {
          busy[name] = (busy[name] ?? 0) + 1;
          most[name] = Math.max(most[name] ?? 0, busy[name]);
        }
        await new Promise<void>((resolve) => gates.push(resolve));
        for (const name of [received.message.job, 'all']) busy[name] = (busy[name] ?? 0) - 1;
        await received.end('dropped');
        return true;
      },
      clock: systemClock,
      log: rig.parts.log,
    });
    receiver.start();
    for (let done = 0; done < 2 * many; done++) {
      await expect.poll(() => gates.length).toBeGreaterThan(0);
      gates.shift()?.();
    }
    await expect.poll(attempts).toContainEqual({ state: 'created', retry_count: 0 });
    await receiver.stop();
    expect(most).toEqual({ all: 3, 'pull-events': 1, 'pull-vehicles': expect.any(Number) });
    expect(await attempts()).toContainEqual({ state: 'created', retry_count: 0 });
  });

  it('that was unable to work takes the next slice after its rest, though the clock was set back', async () => {
    await put('pull-events');
    const clock = createManualClock(0);
    const ends: number[] = [];
    const receiver = createReceiver({
      next: queue.next,
      workers: 1,
      atOnce: () => 1,
      async work(received) {
        await received.end('stopped');
        ends.push(clock.monotonic());
        return false;
      },
      clock,
      log: rig.parts.log,
    });
    receiver.start();
    await expect.poll(() => ends).toEqual([0]);
    clock.set(-86_400_000);
    await clock.advance(29_999);
    await clock.advance(1_000);
    await expect.poll(() => ends).toEqual([0, 30_999]);
    await receiver.stop();
  });
});

it('of a server that is silent fails what it is asked, and does not hold the end', async () => {
  const home = rig.engine.queueHome as QueueHome;
  const network = await silentNetworkTo(home.url);
  const { log } = rig.parts;
  const open = () => openPgBoss({ ...home, url: network.url }, { log, times: { ...TIMES, silent: 1 } });
  const parts = {
    find: () => undefined,
    during: () => Promise.reject(new Error('not here')),
    workers: 0,
    log,
  };
  // The patience of the end is shorter here.
  const clock: Clock = { ...systemClock, sleep: (ms, signal) => systemClock.sleep(ms / 20, signal) };
  const dispatcher = createQueuedDispatcher({ ...parts, open, clock });
  expect(await dispatcher.facts()).toMatchObject({ dead: 0 });
  network.goSilent();
  await expect(dispatcher.facts()).rejects.toMatchObject({ code: 'queue_failed' });
  await dispatcher.close();
  network.close();
});
