// The decision of a draw, apart from where it is stored.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Draw, divideLanes, drawFrom, newRate, type RateState } from '../../src/core/shared-rate.ts';

const ask = (id: string, rest: Partial<Draw> = {}): Draw => ({
  id,
  limits: { concurrency: 4, perMinute: 300 },
  waiting: 10,
  inFlight: 0,
  priority: 0,
  inHand: 0,
  turnover: 0,
  pauseMs: 0,
  ...rest,
});

const NOW = 1_800_000_000_000;
const heldOf = ({ shares }: RateState): number[] => Object.values(shares).map(({ held }) => held);
const sum = (all: Iterable<number>): number => [...all].reduce((a, b) => a + b, 0);

describe('a draw from the shared rate', () => {
  it('never divides more lanes than there are, and none is left while somebody wants it', () => {
    const wants = fc.dictionary(fc.string({ minLength: 1 }), fc.nat({ max: 70 }), { maxKeys: 12 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 64 }), wants, fc.nat(), (total, wanted, turn) => {
        const parts = divideLanes(total, new Map(Object.entries(wanted)), turn);
        expect(sum(parts.values())).toBe(Math.min(total, sum(Object.values(wanted))));
        for (const [name, part] of parts) expect(part).toBeLessThanOrEqual(wanted[name] ?? 0);
      }),
    );
  });

  it('gives every one of too many processes its turn', () => {
    const wants = new Map(['a', 'b', 'c', 'd', 'e'].map((name) => [name, 3]));
    const served = new Set<string>();
    for (let turn = 0; turn < 5; turn++)
      for (const [name, part] of divideLanes(2, wants, turn)) if (part > 0) served.add(name);
    expect(served.size).toBe(5);
  });

  it('never lets the processes hold more lanes than there are, whatever they ask for and when', () => {
    const step = fc.record({
      id: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
      waiting: fc.nat({ max: 8 }),
      busy: fc.nat({ max: 8 }),
      passMs: fc.nat({ max: 6_000 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let state = newRate;
        let now = NOW;
        for (const { id, waiting, busy, passMs } of steps) {
          now += passMs;
          // Nobody has more calls under way than it was allowed; who was silent for too long has lost its lanes.
          const share = state.shares[id];
          const allowed = share === undefined || now - share.seenMs > 20_000 ? 0 : share.held;
          const drawn = drawFrom(state, ask(id, { waiting, inFlight: Math.min(busy, allowed) }), now);
          state = drawn.state;
          expect(sum(heldOf(state))).toBeLessThanOrEqual(4);
        }
      }),
    );
  });

  it('lets a newcomer wait until another has given a lane back', () => {
    const first = drawFrom(newRate, ask('a'), NOW);
    expect(first.grant.lanes).toBe(4);
    const early = drawFrom(first.state, ask('b'), NOW + 10);
    expect(early.grant).toMatchObject({ lanes: 0, waitsMs: [] });
    const less = drawFrom(early.state, ask('a', { inFlight: 1 }), NOW + 20);
    expect(less.grant.lanes).toBe(2);
    expect(drawFrom(less.state, ask('b'), NOW + 30).grant.lanes).toBe(2);
  });

  it('frees the lanes of a process that died, and not before', () => {
    const { state } = drawFrom(newRate, ask('a', { inFlight: 0 }), NOW);
    expect(drawFrom(state, ask('b'), NOW + 20_000).grant.lanes).toBe(0);
    expect(drawFrom(state, ask('b'), NOW + 20_001).grant.lanes).toBe(4);
  });

  it('gives whoever wants nothing no share, and its lanes to the others', () => {
    const { state } = drawFrom(newRate, ask('a'), NOW);
    const gone = drawFrom(state, ask('a', { waiting: 0 }), NOW + 10);
    expect(gone.state.shares).toEqual({});
    expect(drawFrom(gone.state, ask('b'), NOW + 20).grant.lanes).toBe(4);
  });

  it('gives nobody a permit while the service wants to be left alone', () => {
    const { state } = drawFrom(newRate, ask('a', { pauseMs: 30_000 }), NOW);
    expect(drawFrom(state, ask('b'), NOW + 29_999).grant).toMatchObject({ waitsMs: [], pausedMs: 1 });
    const shorter = drawFrom(state, ask('a', { pauseMs: 1_000 }), NOW + 10).state;
    expect(drawFrom(shorter, ask('a'), NOW + 29_000).grant.waitsMs).toEqual([]);
    expect(drawFrom(shorter, ask('a'), NOW + 30_000).grant.waitsMs.length).toBeGreaterThan(0);
  });

  describe('while another waits for a permit', () => {
    const limits = { concurrency: 8, perMinute: 300 };
    const urgent = ask('b', { limits, waiting: 1 });
    const old = ask('a', { limits, waiting: 3, priority: -1 });
    // All instants that are near are taken, so the second goes away empty.
    const busy = drawFrom(newRate, ask('a', { limits, waiting: 4, priority: -1 }), NOW).state;
    const { state, grant } = drawFrom(busy, urgent, NOW + 1);
    const dueAt = NOW + 1 + grant.againMs;

    it('lets the more urgent call go first, until that has its permit or its process is not heard of', () => {
      expect(grant).toMatchObject({ lanes: 1, waitsMs: [] });
      expect(drawFrom(state, old, dueAt + 100).grant.waitsMs).toEqual([]);
      const met = drawFrom(state, urgent, dueAt + 100);
      expect(met.grant.waitsMs).toHaveLength(1);
      expect(drawFrom(met.state, old, dueAt + 240).grant.waitsMs).not.toEqual([]);
      expect(drawFrom(state, old, dueAt + 251).grant.waitsMs).not.toEqual([]);
    });

    it('lets the process go first that was given nothing for longest, whoever is nearer to the database', () => {
      const equal = { ...old, priority: 0 };
      expect(drawFrom(state, equal, dueAt + 100).grant.waitsMs).toEqual([]);
      const met = drawFrom(state, urgent, dueAt + 100);
      expect(drawFrom(met.state, equal, dueAt + 240).grant.waitsMs).not.toEqual([]);
      expect(drawFrom(state, { ...old, priority: 1 }, dueAt + 100).grant.waitsMs).not.toEqual([]);
    });
  });

  it('keeps to the lowest limits while processes are configured differently', () => {
    const { state } = drawFrom(newRate, ask('a', { limits: { concurrency: 1, perMinute: 60 } }), NOW);
    const { grant } = drawFrom(state, ask('b', { limits: { concurrency: 9, perMinute: 6_000 } }), NOW + 1);
    expect(grant.lanes).toBe(0);
    const later = drawFrom(state, ask('b', { limits: { concurrency: 9, perMinute: 6_000 } }), NOW + 21_000);
    expect(later.grant.lanes).toBe(9);
  });

  it('gives permits for the next moments only, each in its place', () => {
    const { grant, state } = drawFrom(
      newRate,
      ask('a', { limits: { concurrency: 64, perMinute: 600 } }),
      NOW,
    );
    expect(grant.waitsMs.map(Math.round)).toEqual([-500, -395, -290, -185, -80, 25, 130, 235]);
    const more = drawFrom(state, ask('a', { inHand: 3 }), NOW + 60).grant;
    expect(more.waitsMs.map(Math.round)).toEqual([280]);
  });

  it('is neither stopped nor opened by a clock that was set', () => {
    const { state } = drawFrom(newRate, ask('a'), NOW);
    const back = drawFrom(state, ask('a', { inFlight: 1 }), NOW - 3_600_000);
    expect(back.grant.againMs).toBeLessThanOrEqual(214);
    const seen = drawFrom(state, ask('b'), NOW - 3_600_000);
    expect(drawFrom(seen.state, ask('b'), NOW - 3_600_000 + 20_001).grant.lanes).toBe(4);
    const forth = drawFrom(state, ask('a'), NOW + 3_600_000);
    expect(forth.grant.waitsMs.length).toBeLessThanOrEqual(4);
  });
});
