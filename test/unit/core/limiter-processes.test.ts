// Processes that share the rate of one account, as limiters on one clock and one rate in memory.
import { describe, expect, it } from 'vitest';
import { createLog } from '../../../src/core/log.ts';
import { createLimiter, type Limiter, type Limits } from '../../../src/core/rate/limiter.ts';
import { type PermitSource, PRIORITY } from '../../../src/core/rate/rate.ts';
import { createRedactor } from '../../../src/core/text/redaction.ts';
import { createManualClock } from '../../../src/core/time/manual-clock.ts';
import { seededRandom } from '../../../src/sandbox/made-up/seeded-random.ts';
import { makeService, memoryRate, windows } from '../../support/daemons/shared-rate.ts';

const MINUTE_MS = 60_000;

function processes(limits: Limits, rttMs: readonly (number | (() => number))[]) {
  const clock = createManualClock(1_800_000_000_000);
  const rate = memoryRate(clock);
  const service = makeService(clock, { wayMs: [0, 1_999], answerMs: 100 });
  const warnings: string[] = [];
  const random = seededRandom('asks').next;
  const log = createLog({
    level: 'warn',
    redactor: createRedactor(),
    write: (line) => void warnings.push(JSON.parse(line).msg),
  });
  const limiters = rttMs.map((each) => {
    const permits = rate.permits(typeof each === 'number' ? () => each : each);
    return createLimiter({ ...limits, clock, log, permits, random });
  });
  const starts = limiters.map((): number[] => []);
  const call = (at: number, priority: number = PRIORITY.live, work = service.call): Promise<void> => {
    const started = () => {
      starts[at]?.push(clock.monotonic());
      return work();
    };
    return (limiters[at] as Limiter).run(started, { priority });
  };
  /** Keeps `count` calls waiting or under way. */
  const load = (at: number, count: number, priority?: number) => {
    let goesOn = true;
    for (let n = 0; n < count; n++)
      void (async () => {
        while (goesOn) await call(at, priority);
      })();
    return () => {
      goesOn = false;
    };
  };
  return { clock, rate, service, warnings, limiters, starts, call, load };
}

describe('processes that share a rate', () => {
  it.each([
    { perMinute: 1, far: [2, 80] },
    { perMinute: 5, far: [2, 80] },
    { perMinute: 5, far: [2, 2, 80, 300] },
    { perMinute: 13, far: [2, 80] },
    { perMinute: 300, far: [2, 80] },
    { perMinute: 300, far: [2, 2, 80, 300] },
    { perMinute: 600, far: [300, 300] },
    { perMinute: 300, far: [2, 2, 2, 2, 80, 80, 80, 80] },
  ])(
    'have about equal parts of $perMinute a minute at a latency of $far ms, never exceed it, and use most of it',
    async ({ perMinute, far }) => {
      const { clock, service, starts, load } = processes({ concurrency: 30, perMinute }, far);
      for (const at of far.keys()) load(at, 40);
      await clock.advance(10 * MINUTE_MS);
      const { most } = windows(service.arrivals, MINUTE_MS, { from: 0, to: 10 * MINUTE_MS });
      expect(most).toBeLessThanOrEqual(perMinute);
      const all = starts.flat().length;
      expect(all).toBeGreaterThanOrEqual(9 * perMinute);
      for (const { length } of starts) expect(length).toBeGreaterThanOrEqual(Math.floor(all / far.length / 2));
    },
  );

  it.each([
    ['one calls little', 300, [40, 1]],
    ['one calls nothing', 300, [40, 0]],
    ['one calls little, slowly', 13, [40, 1]],
    ['one calls nothing, slowly', 5, [0, 40]],
  ])('leave no part of it idle where %s', async (_, perMinute, loads) => {
    const { clock, service, starts, load } = processes({ concurrency: 30, perMinute }, [2, 40]);
    for (const [at, count] of loads.entries()) load(at, count);
    await clock.advance(10 * MINUTE_MS);
    const { most } = windows(service.arrivals, MINUTE_MS, { from: 0, to: 10 * MINUTE_MS });
    expect(most).toBeLessThanOrEqual(perMinute);
    expect(starts.flat().length).toBeGreaterThanOrEqual(9 * perMinute);
    // A process with one call at a time waits only for the call itself.
    if (loads[1] === 1 && perMinute === 300) expect(starts[1]?.length).toBeGreaterThanOrEqual(300);
  });

  it.each([
    ['live calls before history', PRIORITY.live, PRIORITY.history],
    ['pushes before live calls', PRIORITY.push, PRIORITY.live],
  ])('start %s of another process', async (_, high, low) => {
    const { clock, starts, call, load } = processes({ concurrency: 16, perMinute: 300 }, [2, 2, 2, 40]);
    for (const at of [0, 1, 2]) load(at, 30, low);
    await clock.advance(10_000);
    const calls = Array.from({ length: 30 }, () => call(3, high));
    await clock.advance(20_000);
    await Promise.all(calls);
    const [from, to] = [starts[3]?.[0] as number, starts[3]?.at(-1) as number];
    expect(from).toBeLessThanOrEqual(11_000);
    const others = starts.slice(0, 3).flat();
    // Permits that a process had when the other one came.
    expect(others.filter((at) => at > from && at < to).length).toBeLessThanOrEqual(3);
    expect(others.some((at) => at > to)).toBe(true);
  });

  it('learn of a push at once, though its process was to ask much later', async () => {
    const { clock, starts, call, load } = processes({ concurrency: 4, perMinute: 13 }, [80, 2]);
    load(0, 8, PRIORITY.history);
    load(1, 8, PRIORITY.live);
    // Two seconds into the 4.8 from one permit to the next.
    await clock.advance(MINUTE_MS);
    const before = starts.map(({ length }) => length);
    void call(0, PRIORITY.push);
    await clock.advance(4_000);
    expect(starts.map(({ length }) => length)).toEqual([(before[0] as number) + 1, before[1]]);
  });

  it('learn of a second push while the first one still waits for its instant', async () => {
    const { clock, starts, call, load, service } = processes({ concurrency: 4, perMinute: 60 }, [80, 2]);
    load(0, 8, PRIORITY.history);
    load(1, 8, PRIORITY.live);
    await clock.advance(MINUTE_MS);
    let overtakers = 0;
    for (const waitMs of [20, 60, 100, 140, 180, 220, 260, 300, 340, 380, 420, 460, 500, 540, 580]) {
      void call(0, PRIORITY.push);
      await clock.advance(waitMs);
      const before = starts[1]?.length ?? 0;
      const second = call(0, PRIORITY.push, () => {
        overtakers += (starts[1]?.length ?? 0) - before;
        return service.call();
      });
      await clock.advance(10_000);
      await second;
    }
    expect(overtakers).toBeLessThanOrEqual(2);
  });

  it('drop the permits they have when they learn of a pause', async () => {
    const { clock, starts, limiters, call } = processes({ concurrency: 8, perMinute: 300 }, [2, 2]);
    // A burst, and one permit for later.
    for (let n = 0; n < 6; n++) void call(0);
    await clock.advance(10);
    expect(starts[0]).toHaveLength(5);
    limiters[1]?.pause(30_000);
    await clock.advance(10);
    void call(0, PRIORITY.push);
    await clock.advance(20_000);
    expect(starts[0]).toHaveLength(5);
  });

  it('ask again for a call whose permit is from before a pause', async () => {
    const { clock, rate, starts, limiters, call } = processes({ concurrency: 8, perMinute: 300 }, [2]);
    for (let n = 0; n < 6; n++) void call(0);
    await clock.advance(10);
    limiters[0]?.pause(500);
    await clock.advance(10);
    const { asks } = rate;
    await clock.advance(500);
    expect(starts[0]).toHaveLength(6);
    expect(rate.asks).toBe(asks + 1);
  });

  it.each([
    ['is used by the next call within a second', 900, 2],
    ['lapses after a second', 1_100, 3],
  ])('have a permit that %s', async (_, callMs, asks) => {
    const { clock, rate, starts, limiters, call } = processes({ concurrency: 3, perMinute: 300 }, [2]);
    const calls = [0, callMs, callMs].map((ms) => call(0, PRIORITY.live, () => clock.sleep(ms)));
    // The first is asked for alone, the others together; then only one of them has a slot.
    await clock.advance(3);
    limiters[0]?.change({ concurrency: 1, perMinute: 300 });
    await clock.advance(3_000);
    await Promise.all(calls);
    expect(starts[0]).toHaveLength(3);
    expect(rate.asks).toBe(asks);
  });

  it('continue within seconds when one of them is killed', async () => {
    const { clock, rate, service, starts, load } = processes({ concurrency: 8, perMinute: 300 }, [2, 2]);
    const killed = createManualClock(0);
    const permits = rate.permits(() => 0);
    const source: PermitSource = {
      take: (asked) => (killed.monotonic() > 0 ? forever() : permits.take(asked)),
    };
    const random = seededRandom('killed').next;
    const limiter = createLimiter({ concurrency: 8, perMinute: 300, clock, permits: source, random });
    for (let n = 0; n < 500; n++)
      void limiter.run(() => (killed.monotonic() > 0 ? forever() : service.call()), { priority: 2 });
    load(0, 20);
    load(1, 20);
    await clock.advance(10_000);
    // Of about fifty calls: now and then a request for permits is late.
    expect(starts.flat().length).toBeLessThanOrEqual(5);
    await killed.advance(1);
    await clock.advance(2_500);
    expect(starts[0]?.length).toBeGreaterThan(0);
    expect(starts[1]?.length).toBeGreaterThan(0);
  });

  it('all stop when the service asks one of them to wait, and continue after it', async () => {
    const { clock, starts, limiters, load } = processes({ concurrency: 8, perMinute: 600 }, [2, 40, 80]);
    load(1, 20);
    load(2, 20);
    await clock.advance(11_000);
    limiters[0]?.pause(30_000);
    await clock.advance(40_000);
    const all = starts.flat();
    // The others may still use the permits they have.
    expect(all.filter((at) => at >= 11_000 + 1_400 && at < 41_000)).toEqual([]);
    expect(all.some((at) => at >= 41_000)).toBe(true);
  });

  it('keep to the lowest limit of those that call', async () => {
    const { clock, service, limiters, load } = processes({ concurrency: 8, perMinute: 600 }, [2, 2]);
    load(0, 20);
    load(1, 20);
    await clock.advance(MINUTE_MS);
    limiters[0]?.change({ concurrency: 8, perMinute: 60 });
    await clock.advance(5_000);
    const before = service.arrivals.length;
    await clock.advance(MINUTE_MS);
    expect(service.arrivals.length - before).toBeLessThanOrEqual(60);
    expect(service.arrivals.length - before).toBeGreaterThanOrEqual(50);
  });

  it.each([-3_600_000, 3_600_000])(
    'neither exceed the rate nor stop when the clock of the database is set by %i ms',
    async (byMs) => {
      const { clock, service, load } = processes({ concurrency: 8, perMinute: 300 }, [2, 40]);
      load(0, 20);
      load(1, 20);
      await clock.advance(90_000);
      clock.set(byMs);
      await clock.advance(90_000);
      const { most, fewest } = windows(service.arrivals, MINUTE_MS, { from: 5_000, to: 180_000 });
      expect(most).toBeLessThanOrEqual(300);
      expect(fewest).toBeGreaterThanOrEqual(260);
    },
  );

  it('ask at most once for ten calls where calls are many and short', async () => {
    const { clock, rate, call } = processes({ concurrency: 64, perMinute: 60_000 }, [20]);
    const calls = Array.from({ length: 3_000 }, () => call(0, PRIORITY.live, () => clock.sleep(30)));
    await clock.advance(10_000);
    await Promise.all(calls);
    expect(rate.asks).toBeLessThanOrEqual(300);
  });

  it('ask for nothing while they have no calls', async () => {
    const { clock, rate, call } = processes({ concurrency: 4, perMinute: 60 }, [2]);
    void call(0);
    await clock.advance(5_000);
    expect(clock.sleepers()).toBe(0);
    const { asks } = rate;
    await clock.advance(10 * MINUTE_MS);
    expect(rate.asks).toBe(asks);
  });
});

describe('a rate that', () => {
  const limits = { concurrency: 4, perMinute: 300 };

  it('cannot be reached starts nothing and warns once, and is used again when it is back', async () => {
    const { clock, rate, warnings, starts, load } = processes(limits, [2, 40]);
    load(0, 8);
    load(1, 8);
    await clock.advance(5_000);
    rate.isDown = true;
    await clock.advance(2_000);
    const before = starts.flat().length;
    await clock.advance(40_000);
    expect(starts.flat().length).toBe(before);
    expect(warnings).toEqual(Array(2).fill('the shared rate cannot be reached; calls are waiting'));
    rate.isDown = false;
    await clock.advance(MINUTE_MS);
    expect(starts.flat().length).toBeGreaterThanOrEqual(before + 250);
    rate.isDown = true;
    await clock.advance(5_000);
    expect(warnings).toHaveLength(4);
  });

  it('is slow is asked for one permit at a time, because each is wasted', async () => {
    const { clock, rate } = processes(limits, []);
    const slow = rate.permits(() => 3_000);
    const asked: number[] = [];
    const permits: PermitSource = {
      take(one) {
        asked.push(one.priorities.length);
        return slow.take(one);
      },
    };
    const limiter = createLimiter({ ...limits, clock, permits });
    for (let n = 0; n < 8; n++) void limiter.run(async () => undefined);
    await clock.advance(10_000);
    expect(asked).toEqual([1, 1, 1]);
  });

  it.each([
    ['fails', true, 2],
    ['answers too late to keep a rate', false, 3_000],
  ])('%s fails a call that has waited a minute for it, and no other', async (_, isDown, rttMs) => {
    const { clock, rate, warnings, starts, call } = processes(limits, [rttMs]);
    rate.isDown = isDown;
    const early = expect(call(0)).rejects.toMatchObject({ code: 'warehouse_unreachable' });
    await clock.advance(45_000);
    let failed = false;
    void call(0).catch(() => {
      failed = true;
    });
    await clock.advance(30_000);
    await early;
    expect(failed).toBe(false);
    await clock.advance(45_000);
    expect(failed).toBe(true);
    expect(starts.flat()).toEqual([]);
    expect(warnings).toHaveLength(1);
  });

  it('was away for a moment fails no call that waits for its turn at a slow rate', async () => {
    const { clock, rate, starts, call } = processes({ concurrency: 1, perMinute: 1 }, [2]);
    const calls = [call(0), call(0), call(0)];
    await clock.advance(2 * MINUTE_MS);
    rate.isDown = true;
    await clock.advance(15_000);
    rate.isDown = false;
    await clock.advance(2 * MINUTE_MS);
    await Promise.all(calls);
    expect(starts.flat()).toHaveLength(3);
  });

  it('is slow is used if it answers within a second, and again after it did not', async () => {
    let rttMs = 800;
    const { clock, warnings, starts, load } = processes(limits, [() => rttMs]);
    load(0, 8);
    await clock.advance(20_000);
    const slow = starts.flat().length;
    expect(slow).toBeGreaterThanOrEqual(40);
    expect(warnings).toEqual([]);
    rttMs = 3_000;
    await clock.advance(20_000);
    expect(starts.flat().length).toBeLessThanOrEqual(slow + 4);
    rttMs = 20;
    await clock.advance(20_000);
    expect(starts.flat().length).toBeGreaterThanOrEqual(slow + 50);
  });

  it('cannot be reached lets a process end that has a pause to pass on', async () => {
    const { clock, rate, limiters } = processes(limits, [2]);
    rate.isDown = true;
    limiters[0]?.pause(MINUTE_MS);
    await clock.advance(1_500);
    await limiters[0]?.close();
    expect(clock.sleepers()).toBe(0);
  });
});

const forever = <T>(): Promise<T> => new Promise(() => undefined);
