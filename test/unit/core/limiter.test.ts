import { describe, expect, it } from 'vitest';
import { createLimiter } from '../../../src/core/rate/limiter.ts';
import { PRIORITY } from '../../../src/core/rate/rate.ts';
import { createManualClock } from '../../../src/core/time/manual-clock.ts';

function limited(concurrency: number, perMinute: number) {
  const clock = createManualClock(1_000_000);
  const limiter = createLimiter({ concurrency, perMinute, clock });
  const starts: number[] = [];
  const call = () =>
    limiter.run(async () => {
      starts.push(clock.monotonic());
    });
  return { clock, limiter, starts, call };
}

describe('the limiter', () => {
  it('starts a call at once, without a timer, while there is room', async () => {
    const { clock, starts, call } = limited(4, 600);
    await Promise.all([call(), call(), call(), call()]);
    expect(starts).toEqual([0, 0, 0, 0]);
    expect(clock.sleepers()).toBe(0);
  });

  it('never lets more calls arrive in a minute than allowed, with a latency of up to two seconds, and uses most of it', async () => {
    const { clock, starts, call } = limited(4, 300);
    const calls = Array.from({ length: 900 }, call);
    await clock.advance(60_000 * 5);
    await Promise.all(calls);
    for (const [index, start] of starts.entries()) {
      const inMinute = starts.filter((other, at) => at >= index && other < start + 62_000).length;
      expect(inMinute).toBeLessThanOrEqual(300);
    }
    expect(starts.filter((start) => start < 60_000).length).toBeGreaterThanOrEqual(270);
  });

  it('starts a login first, then a push, then live pulls, then history', async () => {
    const { clock, limiter } = limited(1, 6_000);
    const order: string[] = [];
    const names = ['history', 'live', 'push', 'session'] as const;
    const first = limiter.run(() => clock.sleep(1_000));
    const calls = names.map((name) => limiter.run(async () => void order.push(name), { priority: PRIORITY[name] }));
    await clock.advance(5_000);
    await Promise.all([first, ...calls]);
    expect(order).toEqual(['session', 'push', 'live', 'history']);
  });

  it('delays every call while paused, and the longest pause counts', async () => {
    const { clock, limiter, starts, call } = limited(4, 600);
    limiter.pause(30_000);
    limiter.pause(5_000);
    const calls = [call(), call(), call()];
    await clock.advance(29_999);
    expect(starts).toEqual([]);
    await clock.advance(1_000);
    await Promise.all(calls);
    expect(starts).toHaveLength(3);
  });

  it('delays a call that was already waiting when the pause came', async () => {
    const { clock, limiter, starts, call } = limited(1, 60);
    const calls = [call(), call()];
    await clock.advance(100);
    limiter.pause(60_000);
    await clock.advance(59_000);
    expect(starts).toEqual([0]);
    await clock.advance(2_000);
    await Promise.all(calls);
    expect(starts).toHaveLength(2);
  });

  it.each([
    ['back', -86_400_000],
    ['ahead', 86_400_000],
  ])('keeps its pace and its pause while the clock is set %s', async (_way, byMs) => {
    const { clock, limiter, starts, call } = limited(1, 60);
    void Promise.all([call(), call()]);
    await clock.advance(100);
    clock.set(byMs);
    await clock.advance(1_900);
    limiter.pause(30_000);
    clock.set(byMs);
    void call();
    await clock.advance(30_000);
    expect(starts).toEqual([0, 1_050, 32_000]);
  });

  it('runs no more than `concurrency` calls at once', async () => {
    const clock = createManualClock(0);
    const limiter = createLimiter({ concurrency: 3, perMinute: 6_000, clock });
    let running = 0;
    let most = 0;
    const calls = Array.from({ length: 20 }, () =>
      limiter.run(async () => {
        most = Math.max(most, ++running);
        await clock.sleep(10);
        running--;
      }),
    );
    await clock.advance(10_000);
    await Promise.all(calls);
    expect(most).toBe(3);
  });

  it('removes a waiting call when its signal aborts', async () => {
    const { clock, limiter } = limited(1, 60);
    limiter.pause(60_000);
    const stop = new AbortController();
    const call = limiter.run(async () => 'done', { signal: stop.signal });
    call.catch(() => undefined);
    await clock.advance(10);
    stop.abort(new Error('stopping'));
    await expect(call).rejects.toThrow('stopping');
    expect(clock.sleepers()).toBe(0);
  });

  it('rejects the calls that wait when it is closed, and every later one', async () => {
    const { clock, limiter, starts, call } = limited(1, 600);
    void limiter.run(() => clock.sleep(1_000));
    const waiting = call();
    const rejected = expect(waiting).rejects.toMatchObject({ code: 'closed' });
    await clock.advance(100);
    await limiter.close();
    await rejected;
    await expect(call()).rejects.toMatchObject({ code: 'closed' });
    await clock.advance(60_000);
    await limiter.close();
    expect(starts).toEqual([]);
    expect(clock.sleepers()).toBe(0);
  });

  it('applies other limits from the moment they change', async () => {
    const { clock, limiter, starts, call } = limited(4, 600);
    const calls = Array.from({ length: 800 }, call);
    await clock.advance(60_000);
    const before = starts.length;
    expect(before).toBeGreaterThanOrEqual(570);
    limiter.change({ concurrency: 1, perMinute: 60 });
    await clock.advance(60_000);
    expect(starts.length - before).toBeLessThanOrEqual(60);
    expect(starts.length - before).toBeGreaterThanOrEqual(55);
    limiter.change({ concurrency: 4, perMinute: 600 });
    await clock.advance(60_000);
    await Promise.all(calls);
  });
});
