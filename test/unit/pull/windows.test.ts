import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  aheadOption,
  equalParts,
  halvedWindow,
  untilRead,
  windowOptions,
} from '../../../src/sync/pull/plan/window-slices.ts';
import {
  cutSpan,
  halves,
  intervalOf,
  joined,
  type Span,
  searchPeriod,
  spansToRead,
  without,
} from '../../../src/sync/pull/plan/windows.ts';
import { EVER, UNTIL_READ } from '../../../src/warehouse/control/coverage.ts';

const HOUR = 3_600_000;
const NOW = Date.parse('2026-03-01T12:00:00Z');
const covered = (...spans: [number, number][]) =>
  spans.map(([begin, end]) => intervalOf({ begin: NOW + begin * HOUR, end: NOW + end * HOUR }));
const hours = (spans: readonly Span[]) => spans.map(({ begin, end }) => [(begin - NOW) / HOUR, (end - NOW) / HOUR]);
const spans = fc
  .tuple(fc.integer({ min: 0, max: 50 }), fc.integer({ min: 0, max: 20 }))
  .map(([begin, length]) => ({ begin, end: begin + length }));
const covers = (all: readonly Span[], at: number) => all.some(({ begin, end }) => begin <= at && at < end);

describe('the spans to read', () => {
  const reach = { now: NOW, since: 48 * HOUR, lookback: 6 * HOUR };

  it('are everything since the beginning in the first run', () => {
    expect(hours(spansToRead({ ...reach, covered: [] }))).toEqual([[-48, 0]]);
  });

  it('are the lookback before the last read and the time since, later', () => {
    expect(hours(spansToRead({ ...reach, covered: covered([-48, -1]) }))).toEqual([[-7, 0]]);
  });

  it('include the gap of an outage longer than the lookback', () => {
    expect(hours(spansToRead({ ...reach, covered: covered([-48, -20]) }))).toEqual([[-26, 0]]);
  });

  it('include all of an outage that was longer than a first run reads', () => {
    expect(hours(spansToRead({ ...reach, covered: covered([-200, -100]) }))).toEqual([[-106, 0]]);
  });

  it('reach as far back as the lookback, once that has been read', () => {
    expect(hours(spansToRead({ ...reach, lookback: 60 * HOUR, covered: covered([-90, -1]) }))).toEqual([[-61, 0]]);
    expect(hours(spansToRead({ ...reach, lookback: 60 * HOUR, covered: [] }))).toEqual([[-48, 0]]);
  });

  it('include a hole that is older than a first run reads', () => {
    expect(hours(spansToRead({ ...reach, covered: covered([-500, -300], [-290, -1]) }))).toEqual([
      [-306, -290],
      [-7, 0],
    ]);
  });

  it('ignore ranges that are covered ahead of now', () => {
    expect(hours(spansToRead({ ...reach, covered: covered([-100, 50]) }))).toEqual([[-6, 0]]);
  });

  it('include holes in the covered ranges', () => {
    expect(hours(spansToRead({ ...reach, covered: covered([-48, -40], [-30, -1]) }))).toEqual([
      [-46, -30],
      [-7, 0],
    ]);
  });

  it('hold back the edge and reach ahead', () => {
    expect(hours(spansToRead({ ...reach, holdBack: HOUR, ahead: 3 * HOUR, covered: covered([-49, -1]) }))).toEqual([
      [-7, 2],
    ]);
  });

  it('are the requested range, without its covered parts', () => {
    const [period] = covered([-100, -90]);
    expect(hours(spansToRead({ ...reach, period, covered: [] }))).toEqual([[-100, -90]]);
    expect(hours(spansToRead({ ...reach, period, covered: covered([-200, -95]) }))).toEqual([[-95, -90]]);
  });
});

it('by default a job reads 30 days back, and again and ahead as far as it declares itself', () => {
  expect(windowOptions('6h').parse({})).toEqual({ since: 720 * HOUR, lookback: 6 * HOUR });
  expect(windowOptions('6h').parse({ since: '1h', lookback: '2h' })).toEqual({ since: HOUR, lookback: 2 * HOUR });
  expect(aheadOption('3h').parse(undefined)).toBe(3 * HOUR);
});

describe('span arithmetic', () => {
  it('subtracts exactly the others', () => {
    fc.assert(
      fc.property(spans, fc.array(spans), fc.integer({ min: 0, max: 70 }), (span, others, at) => {
        const left = without(span, others);
        expect(covers(left, at)).toBe(covers([span], at) && !covers(others, at));
        if (others.length > 0) expect(left.every(({ begin, end }) => begin < end)).toBe(true);
      }),
    );
  });

  it('joins without gaining or losing an instant, and leaves a gap between any two', () => {
    fc.assert(
      fc.property(fc.array(spans), fc.integer({ min: 0, max: 70 }), (all, at) => {
        const result = joined(all);
        expect(covers(result, at)).toBe(covers(all, at));
        for (const [index, { begin, end }] of result.entries()) {
          expect(begin).toBeGreaterThan(result[index - 1]?.end ?? -1);
          expect(end).toBeGreaterThan(begin);
        }
      }),
    );
  });

  it('splits on a fixed grid, without a gap', () => {
    expect(cutSpan({ begin: 5, end: 25 }, 10)).toEqual([
      { begin: 5, end: 10 },
      { begin: 10, end: 20 },
      { begin: 20, end: 25 },
    ]);
  });

  it('halves down to the minimum length and no further', () => {
    expect(halves({ begin: 0, end: 10 }, 5)).toEqual([
      { begin: 0, end: 5 },
      { begin: 5, end: 10 },
    ]);
    expect(halves({ begin: 0, end: 9 }, 5)).toBeUndefined();
  });
});

it('a search begins a millisecond early, because it may omit its first instant', () => {
  const period = { beginAt: '2026-03-01T11:59:59.999Z', endAt: '2026-03-01T13:00:00.000Z' };
  expect(searchPeriod({ begin: NOW, end: NOW + HOUR })).toEqual(period);
});

describe('a window', () => {
  const MINUTE = 60_000;
  const at = (minutes: number): string => new Date(NOW + minutes * MINUTE).toISOString();
  const window = (begin: number, end: number) => ({ beginAt: at(begin), endAt: at(end) });

  it('is split into the fewest equal chunks that are not too long, none shorter than a minute', () => {
    expect(equalParts({ begin: 0, end: 5 * MINUTE }, 2 * MINUTE)).toEqual([
      { begin: 0, end: 100_000 },
      { begin: 100_000, end: 200_000 },
      { begin: 200_000, end: 300_000 },
    ]);
    expect(equalParts({ begin: 7, end: 7 + 4 * MINUTE }, 2 * MINUTE)).toEqual([
      { begin: 7, end: 7 + 2 * MINUTE },
      { begin: 7 + 2 * MINUTE, end: 7 + 4 * MINUTE },
    ]);
    expect(equalParts({ begin: 0, end: 2 * MINUTE }, 1)).toHaveLength(2);
    expect(equalParts({ begin: 5, end: 5 }, MINUTE)).toEqual([]);
  });

  it('is halved down to minutes', () => {
    expect(halvedWindow(window(0, 2))).toEqual([window(0, 1), window(1, 2)]);
    expect(halvedWindow(window(0, 1.5))).toBeUndefined();
  });

  it('covers the part of it that has passed at the moment of the read', () => {
    expect(untilRead([{ scopes: ['all'], ...window(0, 2) }], at(3))).toEqual([{ scopes: ['all'], ...window(0, 2) }]);
    expect(untilRead([{ scopes: ['all'], ...window(0, 2) }], at(1))).toEqual([{ scopes: ['all'], ...window(0, 1) }]);
    expect(untilRead([{ scopes: ['all'], ...window(0, 2) }], at(0))).toEqual([]);
    const always = { scopes: ['all'], beginAt: EVER, endAt: UNTIL_READ };
    expect(untilRead([always], at(1))).toEqual([{ ...always, endAt: at(1) }]);
  });
});
