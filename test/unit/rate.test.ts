// Which permits an ask gets, independently of where the rate is stored.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newRate, type PermitRequest, paceOf, type RateState, takePermits } from '../../src/core/rate/rate.ts';

const NOW = 1_800_000_000_000;

const ask = (rest: Partial<PermitRequest> = {}): PermitRequest => ({
  priorities: [1, 1, 1, 1],
  process: 'one',
  perMinute: 600,
  pauseMs: 0,
  ...rest,
});

/** A state without permits for `ms` from now, at 600 a minute. */
const taken = (ms = 200, rest: Partial<RateState> = {}): RateState => {
  const { burst, spacingMs } = paceOf(600);
  const nextMs = NOW + 300 + ms + (burst - 1) * spacingMs;
  return { ...newRate, nextMs, perMinute: { figure: 600, seenMs: NOW }, ...rest };
};
const claim = (priority: number, untilMs = NOW + 500): Partial<RateState> => ({
  urgent: { priority, process: 'other', untilMs },
});
/** A state in which permits are available and a call of another process waits. */
const claimed = (priority: number, untilMs?: number): RateState => ({
  ...newRate,
  ...claim(priority, untilMs),
});
const given = (state: RateState, asked: PermitRequest, nowMs = NOW) =>
  takePermits(state, asked, nowMs).grant.waitsMs.length;

describe('permits', () => {
  it('fit into any minute, at any rate, for any asks, if used a second late and with two more seconds of latency', () => {
    const step = fc.record({ count: fc.integer({ min: 1, max: 40 }), passMs: fc.nat({ max: 9_000 }) });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 700 }),
        fc.array(step, { minLength: 20, maxLength: 60 }),
        (perMinute, steps) => {
          let state = newRate;
          let nowMs = NOW;
          const instants: number[] = [];
          for (const { count, passMs } of steps) {
            nowMs += passMs;
            const asked = ask({ priorities: Array(count).fill(1), perMinute });
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

  it('are one burst after an idle time, then evenly spaced, no further ahead than 300 ms', () => {
    const { state, grant } = takePermits(newRate, ask({ priorities: Array(40).fill(1) }), NOW);
    expect(grant.waitsMs.map(Math.round)).toEqual([...Array(10).fill(0), 107, 213]);
    expect(Math.round(grant.againMs)).toBe(150);
    const later = takePermits(state, ask(), NOW + 150).grant;
    expect(later.waitsMs.map(Math.round)).toEqual([170, 276]);
  });

  it.each([1, 5, 13])('are available at %i a minute, one at a time', (perMinute) => {
    const first = takePermits(newRate, ask({ perMinute }), NOW);
    expect(first.grant.waitsMs).toEqual([0]);
    const spacingMs = 63_000 / perMinute;
    const early = takePermits(first.state, ask({ perMinute }), NOW + spacingMs - 301);
    expect(early.grant).toMatchObject({ waitsMs: [], againMs: expect.closeTo(1, 3) });
    expect(given(first.state, ask({ perMinute }), NOW + spacingMs - 299)).toBe(1);
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

describe('a call that got no permit', () => {
  it.each([
    ['goes before a call of lower priority', claimed(2), ask(), 0],
    ['leaves the rest to others when its time has passed', claimed(2, NOW), ask(), 4],
    ['lets calls of equal priority pass', claimed(1), ask(), 4],
    ['lets calls of higher priority pass, and not those after it', claimed(1), ask({ priorities: [2, 0] }), 1],
    ['does not hold up its own process', claimed(2), ask({ priorities: [2, 0], process: 'other' }), 2],
    ['is of no weight if it claims a time that only a clock set back explains', claimed(2, NOW + 60_000), ask(), 4],
  ])('%s', (_, state, asked, permits) => {
    expect(given(state, asked)).toBe(permits);
  });

  it('is stored with its own priority, until a second after its process should have asked again', () => {
    const { state, grant } = takePermits(newRate, ask({ priorities: [2, ...Array(20).fill(0)] }), NOW);
    expect(grant.waitsMs).toHaveLength(12);
    expect(state.urgent).toEqual({ priority: 0, process: 'one', untilMs: NOW + 150 + 1_000 });
  });

  it.each([
    ['a lower one', claim(0), ask(), { priority: 1, process: 'one' }],
    ['an equal one', claim(1), ask(), { priority: 1, process: 'one' }],
    ['none that goes first', claim(2), ask(), { priority: 2, process: 'other' }],
  ])('replaces %s', (_, urgent, asked, stored) => {
    expect(takePermits(taken(200, urgent), asked, NOW).state.urgent).toMatchObject(stored);
  });

  it.each([
    ['removed once its process was given all it asked for', 'other', 1],
    ['kept while only other processes get permits', 'one', 0],
  ])('is %s', (_, process, permits) => {
    const { state } = takePermits(claimed(1), ask({ process }), NOW);
    expect(given(state, ask({ priorities: [0], process: 'third' }))).toBe(permits);
  });

  it('makes the others ask again soon, however near the next permit is', () => {
    expect(takePermits(claimed(2), ask(), NOW).grant.againMs).toBe(250);
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

  it('back delays no call for longer than a burst, whatever was claimed, and no pause for longer than ten minutes', () => {
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
    expect(given(busy, ask({ priorities: Array(40).fill(1) }), NOW + 3_600_000)).toBe(12);
  });
});
