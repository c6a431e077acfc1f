// Which slices a verification counts as final, and that its random order prefers final days.
import { describe, expect, it } from 'vitest';
import { currentDrift, driftAboveLimit } from '../../../src/status/health/status-document.ts';
import { isFinal, isInReach, shuffled } from '../../../src/sync/verify/sample.ts';
import { notCompared } from '../../../src/warehouse/control/verification.ts';

const DAY_MS = 86_400_000;
const day = (beginAt: string, endAt: string) => ({ beginAt: `2026-03-${beginAt}`, endAt: `2026-03-${endAt}` });
const [ONE, OTHER] = ['vehicle 1', 'vehicle 2'];

describe('a slice is final', () => {
  it.each([
    ['if it lies further behind the coverage than a run looks back', [day('01', '09')], [day('01', '20')], true],
    ['to the last instant of that', [day('05', '06')], [day('01', '09')], true],
    ['not if a run looks back into it', [day('05', '06')], [day('01', '08')], false],
    ['not if its begin is not covered', [day('01', '06')], [day('02', '20')], false],
    ['not if a hole lies in it', [day('04', '06')], [day('01', '05'), day('05', '20')], false],
    ['not if one of its scopes was not read', [day('04', '06')], undefined, false],
    ['not if it covers nothing', [], [day('01', '20')], false],
  ])('%s', (_, periods, second, expected) => {
    const coverage = new Map([[ONE, [day('01', '20')]], ...(second === undefined ? [] : [[OTHER, second] as const])]);
    const covers = periods.map((period) => ({ scopes: [ONE, OTHER], ...period }));
    expect(isFinal(covers, { coverage, lookbackMs: 3 * DAY_MS })).toBe(expected);
  });
});

it.each([
  ['in the coverage of one of its scopes', '04', true],
  ['at the begin of all coverage', '02', true],
  ['before all coverage, which no run will read', '01', false],
])('a slice that begins %s is in reach or not', (_, begin, expected) => {
  const coverage = new Map([[ONE, [day('02', '03'), day('05', '20')]]]);
  expect(isInReach([{ scopes: [ONE, OTHER], ...day(begin, '06') }], coverage)).toBe(expected);
});

describe('of an unrepaired period of two vehicles', () => {
  const period = { scopes: [ONE, OTHER], ...day('05', '07') };
  const left = (scope: string, begin: string, end: string) => ({ scopes: [scope], ...day(begin, end) });
  it.each([
    ['both', [period], []],
    ['one', [left(ONE, '05', '07')], [left(OTHER, '05', '07')]],
    ['both in turn', [left(ONE, '05', '07'), left(OTHER, '05', '07')], []],
    ['a longer period', [{ ...period, ...day('01', '20') }], []],
    ['the first half', [left(ONE, '04', '06')], [left(OTHER, '05', '07'), left(ONE, '06', '07')]],
    [
      'all in parts',
      [
        { ...period, ...day('06', '07') },
        { ...period, ...day('05', '06') },
      ],
      [],
    ],
    ['the day before', [{ ...period, ...day('04', '05') }], [period]],
    ['a third vehicle', [left('vehicle 3', '05', '07')], [period]],
  ])('what is left once a later run has compared %s', (_, compared, expected) => {
    expect(notCompared([period], compared)).toEqual(expected);
  });
});

it('a preferred item comes first more often than another', () => {
  let seed = 1;
  const random = (): number => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  const firsts = Array.from(
    { length: 1_000 },
    () => shuffled(['other', 'final'], random, (each) => each === 'final')[0],
  );
  const share = firsts.filter((each) => each === 'final').length / firsts.length;
  expect(share).toBeCloseTo(0.8, 1);
  expect(shuffled([1, 2, 3], random).sort()).toEqual([1, 2, 3]);
});

const drift = (table: string, drifted: number, verified_at = '2026-03-31T05:15:00.000Z') => ({
  table,
  verified_at,
  compared: 1_000,
  drifted,
  drift_ratio: drifted / 1_000,
});

it('an alert names the tables above the limit of the configuration, and no others', () => {
  const above = (enabled: boolean) => {
    const config = { jobs: { 'verify-warehouse': { enabled, options: { drift_limit: 0.002 } } } } as never;
    return driftAboveLimit([drift('event', 2), drift('checklist', 3)], config).map(({ table }) => table);
  };
  expect(above(true)).toEqual(['checklist']);
  expect(above(false)).toEqual([]);
});

it('drift of a table that no enabled job pulls, or of a month ago, no longer counts', () => {
  const jobs = ['event', 'checklist', 'vehicle'].map((name) => ({ name: `pull-${name}`, tables: [{ name }] })) as never;
  const config = {
    jobs: { 'pull-event': { enabled: true }, 'pull-checklist': { enabled: false }, 'pull-vehicle': { enabled: true } },
  } as never;
  const found = [drift('event', 2), drift('checklist', 3), drift('vehicle', 4, '2026-02-28T05:15:00.000Z')];
  const nowMs = Date.parse('2026-03-31T12:00:00.000Z');
  expect(currentDrift(found, { jobs, config, nowMs }).map(({ table }) => table)).toEqual(['event']);
});
