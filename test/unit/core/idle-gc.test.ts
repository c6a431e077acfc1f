// When a process returns memory: after a while without work, once, and never while work is under way.
import { describe, expect, it } from 'vitest';
import { createIdleGc, IDLE_AFTER_MS } from '../../../src/core/idle-gc.ts';
import { createManualClock } from '../../../src/core/time/manual-clock.ts';

function makeIdleGc() {
  const clock = createManualClock(0);
  const seen = { collections: 0 };
  const idleGc = createIdleGc({ clock, collect: () => (seen.collections += 1) });
  return { clock, seen, idleGc };
}

describe('the idle GC', () => {
  it('runs once after the start, however long the process is idle', async () => {
    const { clock, seen, idleGc } = makeIdleGc();
    idleGc.start();
    await clock.advance(IDLE_AFTER_MS - 1);
    expect(seen.collections).toBe(0);
    await clock.advance(10 * IDLE_AFTER_MS);
    expect(seen.collections).toBe(1);
  });

  it('waits for all work to end and counts from there', async () => {
    const { clock, seen, idleGc } = makeIdleGc();
    idleGc.start();
    const first = Promise.withResolvers<void>();
    const second = Promise.withResolvers<void>();
    const works = [idleGc.during(() => first.promise), idleGc.during(() => second.promise)];
    await clock.advance(2 * IDLE_AFTER_MS);
    first.resolve();
    await works[0];
    await clock.advance(2 * IDLE_AFTER_MS);
    expect(seen.collections).toBe(0);
    second.resolve();
    await works[1];
    await clock.advance(IDLE_AFTER_MS - 1);
    expect(seen.collections).toBe(0);
    await clock.advance(1);
    expect(seen.collections).toBe(1);
  });

  it('runs again after work that failed, and passes the failure on', async () => {
    const { clock, seen, idleGc } = makeIdleGc();
    idleGc.start();
    await clock.advance(IDLE_AFTER_MS);
    await expect(idleGc.during(() => Promise.reject(new Error('lost')))).rejects.toThrow('lost');
    await clock.advance(IDLE_AFTER_MS);
    expect(seen.collections).toBe(2);
  });

  it('runs neither before the start nor after the stop, and leaves no timer behind', async () => {
    const { clock, seen, idleGc } = makeIdleGc();
    await idleGc.during(async () => undefined);
    await clock.advance(IDLE_AFTER_MS);
    idleGc.start();
    idleGc.stop();
    idleGc.stop();
    expect(clock.sleepers()).toBe(0);
    await clock.advance(IDLE_AFTER_MS);
    expect(seen.collections).toBe(0);
  });
});
