import { describe, expect, it } from 'vitest';
import { createLog } from '../../src/core/log.ts';
import { createManualClock } from '../../src/core/manual-clock.ts';
import { createRedactor } from '../../src/core/redaction.ts';
import type { RateBook } from '../../src/core/shared-rate.ts';
import { makeLimiter, makeService, memoryBook, windows } from '../support/shared-rate.ts';

const log = createLog({ level: 'silent', redactor: createRedactor() });
const LIMITS = { concurrency: 4, perMinute: 300 };

function several(names: readonly string[], limits = LIMITS, rttMs = 20) {
  const clock = createManualClock(1_800_000_000_000);
  const book = memoryBook(clock, rttMs);
  const service = makeService(clock, { wayMs: [5, 1_900], answerMs: 100 });
  const limiters = names.map((name) => makeLimiter(name, { clock, log, book }, limits));
  return { clock, book, service, limiters };
}

describe('limiters that share a rate', () => {
  it('together never send more in a sliding minute than allowed, and use at least nine tenths of it', async () => {
    const { clock, service, limiters } = several(['a', 'b', 'c', 'd'], { concurrency: 40, perMinute: 300 });
    for (const limiter of limiters) for (let n = 0; n < 500; n++) void limiter.run(service.call);
    await clock.advance(240_000);
    const { most, fewest } = windows(service.arrivals, 60_000, { from: 5_000, to: 240_000 });
    expect(most).toBeLessThanOrEqual(300);
    expect(fewest).toBeGreaterThanOrEqual(270);
    expect(service.mostInFlight()).toBeLessThanOrEqual(40);
  });

  it('leave the whole rate to the one that has work, and take their part when they have some', async () => {
    const { clock, service, limiters } = several(['a', 'b', 'c', 'd'], { concurrency: 40, perMinute: 300 });
    const [busy, ...others] = limiters;
    for (let n = 0; n < 900; n++) void busy?.run(service.call);
    await clock.advance(70_000);
    expect(service.arrivals.filter((at) => at >= 10_000).length).toBeGreaterThanOrEqual(270);
    let done = 0;
    for (const limiter of others)
      for (let n = 0; n < 20; n++)
        void limiter.run(async () => {
          await service.call();
          done++;
        });
    await clock.advance(60_000);
    expect(done).toBe(60);
  });

  it('hold no more calls at once than allowed while processes come and go', async () => {
    const { clock, service, limiters } = several(['a', 'b', 'c', 'd', 'e', 'f'], {
      concurrency: 4,
      perMinute: 60_000,
    });
    let done = 0;
    for (const limiter of limiters) {
      for (let n = 0; n < 30; n++)
        void limiter.run(async () => {
          await service.call();
          done++;
        });
      await clock.advance(3_000);
    }
    await clock.advance(600_000);
    expect(done).toBe(180);
    expect(service.mostInFlight()).toBe(4);
  });

  it('all stand still when one of them is told to wait, though it has nothing else to say', async () => {
    const { clock, service, limiters } = several(['a', 'b'], { concurrency: 8, perMinute: 600 });
    const starts: number[] = [];
    const call = async () => {
      starts.push(clock.monotonic());
      await service.call();
    };
    void limiters[0]?.run(() => new Promise(() => undefined));
    for (let n = 0; n < 600; n++) void limiters[1]?.run(call);
    await clock.advance(11_000);
    limiters[0]?.pause(30_000);
    await clock.advance(40_000);
    // The other may still use the permits it has.
    expect(starts.filter((at) => at >= 11_000 + 1_300 && at < 41_000)).toEqual([]);
    expect(starts.some((at) => at >= 41_000)).toBe(true);
  });

  it('use no permit that came so late that it may have lapsed', async () => {
    const { clock, service, limiters } = several(['a'], LIMITS, 2_500);
    void limiters[0]?.run(service.call);
    await clock.advance(30_000);
    expect(service.arrivals).toEqual([]);
  });

  it('give their lanes back soon after their last call', async () => {
    const { clock, limiters } = several(['a', 'b'], { concurrency: 1, perMinute: 6_000 });
    await Promise.all([limiters[0]?.run(async () => undefined), clock.advance(1_000)]);
    await clock.advance(1_000);
    let isDone = false;
    void limiters[1]?.run(async () => {
      isDone = true;
    });
    await clock.advance(1_000);
    expect(isDone).toBe(true);
  });

  it('open nothing while the book cannot be reached, and go on when it is back', async () => {
    const { clock, book, service, limiters } = several(['a']);
    for (let n = 0; n < 20; n++) limiters[0]?.run(service.call).catch(() => undefined);
    await clock.advance(2_000);
    book.isDown = true;
    await clock.advance(5_000);
    const before = service.arrivals.length;
    await clock.advance(30_000);
    expect(service.arrivals.length).toBe(before);
    book.isDown = false;
    await clock.advance(30_000);
    expect(service.arrivals.length).toBe(20);
  });

  it('fail a call that has waited a minute for a book that is away', async () => {
    const { clock, book, limiters } = several(['a']);
    book.isDown = true;
    const call = limiters[0]?.run(async () => 'sent');
    const outcome = expect(call).rejects.toMatchObject({ code: 'warehouse_unreachable' });
    await clock.advance(65_000);
    await outcome;
  });

  describe('where a draw is never answered', () => {
    const silent: RateBook = { draw: () => new Promise(() => undefined) };

    it('fail a call that has waited a minute', async () => {
      const { clock } = several([]);
      const limiter = makeLimiter('a', { clock, log, book: silent }, LIMITS);
      const outcome = expect(limiter.run(async () => 'sent')).rejects.toMatchObject({
        code: 'warehouse_unreachable',
      });
      await clock.advance(80_000);
      await outcome;
    });

    it('go on when the next one is', async () => {
      const { clock, book, service } = several([]);
      let draws = 0;
      const once: RateBook = { draw: (asked) => (draws++ === 0 ? silent : book).draw(asked) };
      const limiter = makeLimiter('a', { clock, log, book: once }, LIMITS);
      void limiter.run(service.call);
      await clock.advance(15_000);
      expect(service.arrivals).toHaveLength(1);
    });

    it('end, though a share is still to be given back', async () => {
      const { clock, book } = several([]);
      let isSilent = false;
      const later: RateBook = { draw: (asked) => (isSilent ? silent : book).draw(asked) };
      const limiter = makeLimiter('a', { clock, log, book: later }, LIMITS);
      void limiter.run(() => new Promise(() => undefined));
      await clock.advance(1_000);
      isSilent = true;
      let isClosed = false;
      void limiter.close().then(() => {
        isClosed = true;
      });
      await clock.advance(11_000);
      expect(isClosed).toBe(true);
    });
  });

  it('start the most urgent call first, even if others waited before it', async () => {
    const { clock, limiters } = several(['a'], { concurrency: 1, perMinute: 60 });
    const order: string[] = [];
    const call = (name: string) => async () => {
      order.push(name);
    };
    for (const name of ['old 1', 'old 2', 'old 3']) void limiters[0]?.run(call(name), { priority: -1 });
    await clock.advance(500);
    void limiters[0]?.run(call('live'));
    await clock.advance(10_000);
    expect(order).toEqual(['old 1', 'live', 'old 2', 'old 3']);
  });

  it('let live calls of one go before the backfill of another', async () => {
    const { clock, limiters } = several(['daemon', 'x', 'y', 'z'], {
      concurrency: 16,
      perMinute: 300,
    });
    const [daemon, ...backfills] = limiters;
    const starts: Record<string, number[]> = { old: [], live: [] };
    const call = (name: string) => async () => {
      starts[name]?.push(clock.monotonic());
      await clock.sleep(100);
    };
    for (const limiter of backfills)
      for (let n = 0; n < 100; n++) void limiter.run(call('old'), { priority: -1 });
    await clock.advance(10_000);
    for (let n = 0; n < 20; n++) void daemon?.run(call('live'));
    await clock.advance(30_000);
    expect(starts.live).toHaveLength(20);
    const [from, to] = [starts.live?.[0] ?? 0, starts.live?.at(-1) ?? 0];
    // What it had in its hand when the other came, it may use.
    const between = starts.old?.filter((at) => at > from && at < to).length;
    expect(between).toBeLessThanOrEqual(4);
    expect(starts.old?.some((at) => at > to)).toBe(true);
  });

  it.each([
    { concurrency: 4, perMinute: 600, callMs: 500 },
    { concurrency: 4, perMinute: 60_000, callMs: 200 },
    { concurrency: 1, perMinute: 60_000, callMs: 200 },
  ])(
    'leave no lane for ever to a backfill that always has calls waiting: $concurrency at once',
    async (one) => {
      const { clock, limiters } = several(['backfill', 'live'], one, 6);
      const [backfill, live] = limiters;
      for (let lane = 0; lane < 20; lane++)
        void (async () => {
          for (;;) await backfill?.run(() => clock.sleep(one.callMs), { priority: -1 });
        })();
      await clock.advance(5_000);
      const starts: number[] = [];
      for (let n = 0; n < 20; n++)
        void live?.run(() => {
          starts.push(clock.monotonic() - 5_000);
          return clock.sleep(one.callMs);
        });
      await clock.advance(10_000);
      expect(starts).toHaveLength(20);
      expect(starts[0]).toBeLessThanOrEqual(2_000);
    },
  );

  it('have equal parts, however far from the database one of them is', async () => {
    const limits = { concurrency: 30, perMinute: 300 };
    const { clock, book, service, limiters } = several(['near', 'near too'], limits);
    const far: RateBook = {
      async draw(asked) {
        await clock.sleep(40);
        const grant = await book.draw(asked);
        await clock.sleep(40);
        return grant;
      },
    };
    limiters.push(makeLimiter('far', { clock, log, book: far }, limits));
    const started = limiters.map(() => 0);
    for (const [index, limiter] of limiters.entries())
      for (let n = 0; n < 300; n++)
        void limiter.run(() => {
          started[index] = (started[index] ?? 0) + 1;
          return service.call();
        });
    await clock.advance(60_000);
    for (const each of started) expect(each).toBeGreaterThanOrEqual(75);
  });

  it('give a dead process’s lanes to the others', async () => {
    const { clock, service } = several([]);
    // Its call never ends and its clock has stopped: it is not heard of again.
    const frozen = createManualClock(0);
    const book = memoryBook(clock, 0);
    const dead = makeLimiter('dead', { clock: frozen, log, book }, { concurrency: 1, perMinute: 6_000 });
    void dead.run(() => new Promise(() => undefined));
    await frozen.advance(1);
    const heir = makeLimiter('heir', { clock, log, book }, { concurrency: 1, perMinute: 6_000 });
    void heir.run(service.call);
    await clock.advance(19_000);
    expect(service.arrivals).toEqual([]);
    await clock.advance(6_000);
    expect(service.arrivals.length).toBe(1);
  });

  it('keep to other limits once they have been told', async () => {
    const { clock, service, limiters } = several(['a', 'b'], { concurrency: 8, perMinute: 600 });
    for (const limiter of limiters) for (let n = 0; n < 900; n++) void limiter.run(service.call);
    await clock.advance(60_000);
    for (const limiter of limiters) limiter.change({ concurrency: 8, perMinute: 60 });
    await clock.advance(5_000);
    const before = service.arrivals.length;
    await clock.advance(60_000);
    expect(service.arrivals.length - before).toBeLessThanOrEqual(60);
    expect(service.arrivals.length - before).toBeGreaterThanOrEqual(50);
  });

  it('let a waiting call go when its signal aborts, and give the share back when nothing is left', async () => {
    const { clock, service, limiters, book } = several(['a', 'b'], { concurrency: 1, perMinute: 600 });
    const stop = new AbortController();
    limiters[0]?.pause(60_000);
    const call = limiters[0]?.run(service.call, { signal: stop.signal });
    const outcome = expect(call).rejects.toThrow('stopping');
    await clock.advance(100);
    stop.abort(new Error('stopping'));
    await outcome;
    await clock.advance(62_000);
    const draws = book.draws;
    await clock.advance(60_000);
    expect(book.draws).toBe(draws);
    void limiters[1]?.run(service.call);
    await clock.advance(4_000);
    expect(service.arrivals.length).toBe(1);
  });

  it('draw no oftener than every tenth call where calls are many', async () => {
    const { clock, book, limiters } = several(['a'], { concurrency: 64, perMinute: 60_000 });
    let done = 0;
    for (let n = 0; n < 3_000; n++)
      void limiters[0]?.run(async () => {
        await clock.sleep(30);
        done++;
      });
    await clock.advance(10_000);
    expect(done).toBe(3_000);
    expect(book.draws).toBeLessThanOrEqual(300);
  });
});
