// Which permits an ask gets, independently of where the rate is stored.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  newRate,
  type PermitRequest,
  PRIORITY,
  paceOf,
  RATE,
  type RateState,
  takePermits,
} from '../../../src/core/rate/rate.ts';

const NOW = 1_800_000_000_000;

const ask = (rest: Partial<PermitRequest> = {}): PermitRequest => ({
  priorities: [1, 1, 1, 1],
  perMinute: 600,
  pauseMs: 0,
  ...rest,
});

/** A state without permits for `ms` from now, at 600 a minute. */
const taken = (ms = 200, rest: Partial<RateState> = {}): RateState => {
  const { burst, spacingMs } = paceOf(600);
  const nextMs = NOW + 400 + ms + (burst - 1) * spacingMs;
  return { ...newRate, nextMs, perMinute: { figure: 600, seenMs: NOW }, ...rest };
};
const given = (state: RateState, asked: PermitRequest, nowMs = NOW) =>
  takePermits(state, asked, nowMs).grant.waitsMs.length;

describe('permits', () => {
  it('fit into any minute, at any rate, for any asks, if used a second late and with two more seconds of latency', () => {
    const count = fc.integer({ min: 1, max: 40 });
    const step = fc.record({ count, priority: fc.nat({ max: PRIORITY.session }), passMs: fc.nat({ max: 9_000 }) });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 700 }),
        fc.array(step, { minLength: 20, maxLength: 60 }),
        (perMinute, steps) => {
          let state = newRate;
          let nowMs = NOW;
          const instants: number[] = [];
          for (const { count, priority, passMs } of steps) {
            nowMs += passMs;
            const asked = ask({ priorities: Array(count).fill(priority), perMinute });
            const { grant, ...next } = takePermits(state, asked, nowMs);
            state = next.state;
            for (const ms of grant.waitsMs) instants.push(nowMs + ms);
          }
          // The permit that is `perMinute` places later is more than the 63 s later.
          for (const [index, at] of instants.slice(perMinute).entries())
            expect(at - (instants[index] as number)).toBeGreaterThan(63_000 - 0.1);
        },
      ),
    );
  });

  it('are one burst after an idle time, then evenly spaced, no further ahead than 400 ms', () => {
    const { state, grant } = takePermits(newRate, ask({ priorities: Array(40).fill(1) }), NOW);
    expect(grant.waitsMs.map(Math.round)).toEqual([...Array(10).fill(0), 107, 213, 320]);
    expect(Math.round(grant.againMs)).toBe(26);
    const later = takePermits(state, ask(), NOW + 150).grant;
    expect(later.waitsMs.map(Math.round)).toEqual([276, 383]);
  });

  it.each([1, 5, 13])('are available at %i a minute, one at a time', (perMinute) => {
    const first = takePermits(newRate, ask({ perMinute }), NOW);
    expect(first.grant.waitsMs).toEqual([0]);
    const spacingMs = 63_000 / perMinute;
    const early = takePermits(first.state, ask({ perMinute }), NOW + spacingMs - 401);
    expect(early.grant).toMatchObject({ waitsMs: [], againMs: expect.closeTo(1, 3) });
    expect(given(first.state, ask({ perMinute }), NOW + spacingMs - 399)).toBe(1);
  });

  it('are asked for again when the next is near, every ten seconds at least', () => {
    expect(takePermits(taken(77), ask(), NOW).grant.againMs).toBeCloseTo(77, 2);
    const slow = takePermits(newRate, ask({ perMinute: 1 }), NOW);
    expect(slow.grant.againMs).toBe(10_000);
  });

  it('are not given during a pause, and the longest pause counts', () => {
    const { state } = takePermits(newRate, ask({ pauseMs: 30_000 }), NOW);
    const shorter = takePermits(state, ask({ pauseMs: 1_000, priorities: [] }), NOW + 10).state;
    expect(takePermits(shorter, ask(), NOW + 29_999).grant).toMatchObject({
      waitsMs: [],
      pausedMs: 1,
      againMs: 1,
    });
    expect(given(shorter, ask(), NOW + 30_000)).toBe(4);
  });
});

describe('a call of a higher priority', () => {
  it.each([
    ['session', 3, 800],
    ['push', 2, 600],
    ['live', 1, 400],
    ['history', 0, 200],
  ] as const)('gets its permit further ahead than lower ones: %s', (name, priority, reachMs) => {
    expect(PRIORITY[name]).toBe(priority);
    const { state } = takePermits(newRate, ask({ priorities: [priority], perMinute: 30 }), NOW);
    const near = ask({ priorities: [priority], perMinute: 30 });
    expect(given(state, near, state.nextMs - reachMs - 1)).toBe(0);
    expect(given(state, near, state.nextMs - reachMs)).toBe(1);
  });

  it('leaves none to lower ones while it asks as soon as it may, at the latest after the random wait', () => {
    let state = newRate;
    let [pushAtMs, liveAtMs] = [NOW, NOW + 1];
    const permits = { push: 0, live: 0 };
    while (permits.push < 100) {
      const isPush = pushAtMs <= liveAtMs;
      const nowMs = isPush ? pushAtMs : liveAtMs;
      const taken = takePermits(state, ask({ priorities: Array(20).fill(isPush ? 2 : 1) }), nowMs);
      state = taken.state;
      permits[isPush ? 'push' : 'live'] += taken.grant.waitsMs.length;
      if (isPush) pushAtMs += taken.grant.againMs + RATE.spreadMs;
      else liveAtMs += taken.grant.againMs;
    }
    expect(permits.live).toBe(0);
  });

  it('keeps its permits when a lower one asks, although they are out of its reach', () => {
    const { state } = takePermits(newRate, ask({ priorities: Array(40).fill(PRIORITY.session) }), NOW);
    expect(takePermits(state, ask({ priorities: [0] }), NOW)).toMatchObject({ state, grant: { waitsMs: [] } });
  });

  it('goes first in one ask, and lower ones get what is near', () => {
    const { grant } = takePermits(newRate, ask({ priorities: [...Array(12).fill(2), 0] }), NOW);
    expect(grant.waitsMs.map(Math.round)).toEqual([...Array(10).fill(0), 107, 213]);
    expect(Math.round(grant.againMs)).toBe(320 - 200);
  });
});

describe('the lowest limit of the processes that ask', () => {
  const pace = (state: RateState, perMinute: number, nowMs: number) =>
    takePermits(state, ask({ perMinute }), nowMs).state.perMinute.figure;

  it('counts until no process has asked with it for 20 s', () => {
    const { state } = takePermits(newRate, ask({ perMinute: 60 }), NOW);
    expect(pace(state, 600, NOW + 20_000)).toBe(60);
    expect(pace(state, 600, NOW + 20_001)).toBe(600);
    expect(pace(state, 30, NOW + 1)).toBe(30);
    const again = takePermits(state, ask({ perMinute: 60 }), NOW + 15_000).state;
    expect(pace(again, 600, NOW + 30_000)).toBe(60);
  });
});

describe('a clock that is set', () => {
  const busy = takePermits(newRate, ask({ priorities: Array(40).fill(1) }), NOW).state;

  it('back delays no call for longer than a burst, and no pause for longer than ten minutes', () => {
    const { burst, spacingMs } = paceOf(600);
    const back = takePermits(busy, ask(), NOW - 3_600_000).grant;
    expect(back.againMs).toBeLessThanOrEqual(burst * spacingMs);
    const paused = { ...busy, pausedUntilMs: NOW };
    expect(takePermits(paused, ask(), NOW - 3_600_000).grant.pausedMs).toBe(600_000);
    const over = takePermits(paused, ask(), NOW + 1).state;
    expect(takePermits(over, ask(), NOW - 3_600_000).grant.pausedMs).toBe(0);
    expect(takePermits(busy, ask({ perMinute: 700 }), NOW - 3_600_000).state.perMinute.figure).toBe(700);
  });

  it('forward gives one burst', () => {
    expect(given(busy, ask({ priorities: Array(40).fill(1) }), NOW + 3_600_000)).toBe(13);
  });
});
