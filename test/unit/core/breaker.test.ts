import { describe, expect, it } from 'vitest';
import { createBreaker, type Reachability } from '../../../src/core/retry/breaker.ts';
import { createManualClock } from '../../../src/core/time/manual-clock.ts';

function setUp() {
  const clock = createManualClock(0);
  const judge = (error: unknown): Reachability => (error as { verdict: Reachability }).verdict;
  const breaker = createBreaker({ threshold: 3, coolDownMs: 30_000, clock, judge });
  const run = (call: () => Promise<unknown>) =>
    breaker.run(call, (leftMs) => new Error(`rejected ${leftMs}`)).catch((error: unknown) => error);
  const fail = (verdict: Reachability) => () => Promise.reject({ verdict });
  const opened = async () => {
    for (let i = 0; i < 3; i++) await run(fail('down'));
  };
  return { clock, run, fail, opened };
}
const fine = async () => 'fine';

describe('the breaker', () => {
  it('rejects calls at once after a number of outages in a row, for the cool-down', async () => {
    const { clock, run, opened } = setUp();
    await opened();
    expect(await run(fine)).toEqual(new Error('rejected 30000'));
    await clock.advance(29_999);
    expect(await run(fine)).toEqual(new Error('rejected 1'));
    await clock.advance(1);
    expect(await run(fine)).toBe('fine');
    expect(await run(fine)).toBe('fine');
  });

  it.each([
    ['back', -86_400_000],
    ['ahead', 86_400_000],
  ])('keeps the cool-down while the clock is set %s', async (_way, byMs) => {
    const { clock, run, opened } = setUp();
    await opened();
    clock.set(byMs);
    expect(await run(fine)).toEqual(new Error('rejected 30000'));
    await clock.advance(30_000);
    expect(await run(fine)).toBe('fine');
  });

  it('counts outages in a row only; an answer of any kind shows that the service is up', async () => {
    const { run, fail } = setUp();
    for (const verdict of ['down', 'down', 'up', 'down', 'down'] as const) await run(fail(verdict));
    expect(await run(fine)).toBe('fine');
    for (const verdict of ['down', 'down'] as const) await run(fail(verdict));
    expect(await run(fine), 'a success too').toBe('fine');
  });

  it('lets one probe through after the cool-down; another outage opens it again', async () => {
    const { clock, run, fail, opened } = setUp();
    await opened();
    await clock.advance(30_000);
    const probe = Promise.withResolvers<never>();
    const probing = run(() => probe.promise);
    expect(await run(fine)).toEqual(new Error('rejected 0'));
    probe.reject({ verdict: 'down' });
    await probing;
    expect(await run(fine)).toEqual(new Error('rejected 30000'));
    await clock.advance(30_000);
    await run(fail('unknown'));
    expect(await run(fine), 'a probe that was given up says nothing: the next one may try').toBe('fine');
  });

  it('lets no other call through where a call from before the outages ends during the probe', async () => {
    const { clock, run, opened } = setUp();
    const early = Promise.withResolvers<never>();
    const late = run(() => early.promise);
    await opened();
    await clock.advance(30_000);
    const probe = Promise.withResolvers<string>();
    const probing = run(() => probe.promise);
    early.reject({ verdict: 'unknown' });
    await late;
    expect(await run(fine)).toEqual(new Error('rejected 0'));
    probe.resolve('up again');
    expect(await probing).toBe('up again');
  });
});
