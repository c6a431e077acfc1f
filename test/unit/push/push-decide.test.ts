// State × listing: what a read-back of the service says about an entry, as a table of pure cases.
import { describe, expect, it } from 'vitest';
import { localDay } from '../../../src/erp/items/moments.ts';
import { type Decision, decide, doubtOf, indexed, matchesOf } from '../../../src/sync/push/decide.ts';
import type { RemoteRecord } from '../../../src/sync/push/kind.ts';
import { remoteRecords } from '../../../src/sync/push/kinds/answers.ts';
import { overlaps, windowsOf } from '../../../src/sync/push/windows.ts';
import type { OutboxEntry, OutboxState } from '../../../src/warehouse/outbox/entry.ts';
import { AT, entryIn, minutesAfter } from '../../support/push/outbox-samples.ts';

const SETTLE_MS = 120_000;
const kind = { isSame: () => true, noun: 'plan', periodOf: () => undefined };
const record = (id: number, change: Partial<RemoteRecord> = {}): RemoteRecord => ({
  id,
  key: 'P1',
  status: 'P',
  record: {},
  period: { start: '2025-03-13T11:00:00.000Z', end: '2025-03-13T21:00:00.000Z' },
  ...change,
});

const ask = (
  entry: OutboxEntry,
  matches: readonly RemoteRecord[] | undefined,
  { doubt, listedAt = AT }: { doubt?: string; listedAt?: string } = {},
): Decision => decide({ entry, matches, data: {}, kind, settleMs: SETTLE_MS, listedAt, at: AT, doubt });

describe('an entry that the listing shows', () => {
  it.each<OutboxState>(['ready', 'unknown', 'confirmed', 'rejected'])('is found in state %s', (state) => {
    expect(ask(entryIn(state), [record(7)])).toEqual({
      is: 'found',
      record: record(7),
      others: [],
      isSame: true,
    });
  });

  it('more than once is the one with the lowest identifier, and the others are named', () => {
    expect(ask(entryIn('unknown'), [record(9), record(7), record(8)])).toMatchObject({
      record: { id: 7 },
      others: [8, 9],
    });
    expect(ask(entryIn('confirmed', { remote_id: 8 }), [record(9), record(7), record(8)])).toMatchObject({
      record: { id: 8 },
      others: [7, 9],
    });
  });

  it('is compared with its content, where that is kept', () => {
    const differing = { ...kind, isSame: () => false };
    const question = {
      matches: [record(7)],
      kind: differing,
      settleMs: 0,
      listedAt: AT,
      at: AT,
      doubt: undefined,
    };
    expect(decide({ ...question, entry: entryIn('ready'), data: {} })).toMatchObject({ isSame: false });
    expect(decide({ ...question, entry: entryIn('ready'), data: undefined })).toMatchObject({ isSame: true });
  });

  it('with a period that cannot be read is neither matched nor sent', () => {
    for (const state of ['ready', 'unknown'] as const)
      expect(ask(entryIn(state), undefined)).toMatchObject({ is: 'inconclusive' });
  });
});

describe('an entry that the listing does not show', () => {
  const since = (minutes: number, unclear_sends: number) =>
    entryIn('unknown', { absent_since: minutesAfter(-minutes), unclear_sends });

  it.each<[string, OutboxEntry, Decision['is'], string | undefined]>([
    ['was never sent', entryIn('ready'), 'clear', undefined],
    ['was never sent, by a listing that proves nothing', entryIn('ready'), 'clear', 'blank'],
    ['was not accepted', entryIn('ready', { sent_hash: 'one' }), 'clear', undefined],
    [
      'was not accepted, by a listing that proves nothing',
      entryIn('ready', { sent_hash: 'one' }),
      'inconclusive',
      'blank',
    ],
    ['is unknown, for the first time', entryIn('unknown'), 'too-early', undefined],
    ['is unknown, by a listing that proves nothing', since(60, 1), 'inconclusive', 'blank'],
    ['is unknown for less than twice the settling time', since(3.9, 1), 'too-early', undefined],
    ['is unknown for twice the settling time', since(4, 1), 'absent', undefined],
    ['is unknown after a second unclear send, for less than four times', since(7.9, 2), 'too-early', undefined],
    ['is unknown after a second unclear send, for four times', since(8, 2), 'absent', undefined],
    ['is unknown since a later instant: a clock was set back', since(-60, 1), 'too-early', undefined],
    ['was shown before', entryIn('confirmed', { confirmed_at: minutesAfter(-60) }), 'nothing', undefined],
    [
      'was accepted a moment ago',
      entryIn('confirmed', { seen_at: null, confirmed_at: minutesAfter(-1) }),
      'nothing',
      undefined,
    ],
    [
      'was accepted a settling time ago',
      entryIn('confirmed', { seen_at: null, confirmed_at: minutesAfter(-2) }),
      'never-shown',
      undefined,
    ],
    [
      'was accepted a settling time ago, by a listing that proves nothing',
      entryIn('confirmed', { seen_at: null, confirmed_at: minutesAfter(-2) }),
      'never-shown',
      'blank',
    ],
    [
      'was accepted before the clock was set back a long way',
      entryIn('confirmed', { seen_at: null, confirmed_at: minutesAfter(2) }),
      'never-shown',
      undefined,
    ],
    [
      'was accepted before the clock was set back a little',
      entryIn('confirmed', { seen_at: null, confirmed_at: minutesAfter(1) }),
      'nothing',
      undefined,
    ],
    ['was rejected', entryIn('rejected', { sent_hash: 'one' }), 'nothing', undefined],
    [
      'was rejected, and accepted before',
      entryIn('rejected', { sent_hash: 'one', confirmed_at: minutesAfter(-60) }),
      'nothing',
      undefined,
    ],
  ])('and that %s', (_, entry, is, doubt) => {
    expect(ask(entry, [], doubt === undefined ? {} : { doubt }).is).toBe(is);
  });

  it('waits from the first listing that did not show it', () => {
    expect(ask(entryIn('unknown'), [])).toEqual({ is: 'too-early', since: AT });
    expect(ask(since(1, 1), [])).toEqual({ is: 'too-early', since: minutesAfter(-1) });
    expect(ask(since(-60, 1), [])).toEqual({ is: 'too-early', since: AT });
  });
});

describe('a record of the service', () => {
  const none = () => false;
  const always = () => true;
  const match = (
    entry: OutboxEntry,
    records: RemoteRecord[],
    isDated = true,
    isTaken: (id: number) => boolean = none,
  ) => matchesOf(entry, indexed(records), isDated ? kind : {}, isTaken, always)?.map(({ id }) => id);
  const on = (day: string) => ({
    period: { start: `2025-03-${day}T11:00:00.000Z`, end: `2025-03-${day}T21:00:00.000Z` },
  });

  it('matches by key and overlapping period, never by its code alone', () => {
    expect(match(entryIn('ready'), [record(7)])).toEqual([7]);
    expect(match(entryIn('ready'), [record(7, on('12'))])).toEqual([]);
    expect(match(entryIn('ready'), [record(7, { key: 'P2' })])).toEqual([]);
    expect(match(entryIn('ready', { period_start: null, period_end: null }), [record(7)])).toEqual([]);
  });

  it('without a readable period is an alarm beside a match, and blocks the entry where it stands alone', () => {
    const unreadable = record(9);
    delete unreadable.period;
    expect(match(entryIn('ready'), [record(7), unreadable])).toEqual([7, 9]);
    expect(match(entryIn('ready'), [unreadable])).toBeUndefined();
    expect(match(entryIn('confirmed', { remote_id: 9 }), [unreadable])).toEqual([9]);
  });

  it('is the entry whose identifier it has, wherever its period lies', () => {
    expect(match(entryIn('confirmed'), [record(7, on('20'))])).toEqual([7]);
  });

  it('that belongs to another entry does not match this one', () => {
    expect(match(entryIn('ready'), [record(7), record(8)], true, (id) => id === 7)).toEqual([8]);
  });

  it('of a kind without a period matches by identifier once that is known, otherwise by key', () => {
    const anywhere = { key: 'P1' };
    expect(match(entryIn('ready'), [record(9, anywhere)], false)).toEqual([9]);
    expect(match(entryIn('confirmed'), [record(9, anywhere)], false)).toEqual([]);
    expect(match(entryIn('confirmed'), [record(7, { key: 'renamed' })], false)).toEqual([7]);
    // A person has kept another copy than the one that the entry names.
    const twice = entryIn('confirmed', { remote_id: 7, attention: 'found_twice' });
    expect(match(twice, [record(8)], false)).toEqual([8]);
  });

  it('is of the same local day where codes are reused', () => {
    const overnight = { start: '2025-03-13T02:00:00.000Z', end: '2025-03-13T12:00:00.000Z' };
    const isOfDay = ({ start }: { start: string }) => localDay(start, 'America/Sao_Paulo') === '2025-03-13';
    const records = indexed([record(7, { period: overnight })]);
    expect(matchesOf(entryIn('ready'), records, kind, none, isOfDay)).toEqual([]);
  });
});

describe('a listing proves absence', () => {
  const listing = (count: number) =>
    indexed(Array.from({ length: count }, (_, i) => record(i + 1, { key: `K${i + 1}` })));
  const known = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, i) => ({ remote_id: from + i, remote_key: `K${from + i}` }));

  it.each<[string, number, ReturnType<typeof known>, boolean]>([
    ['shows a record, and nothing is known', 1, [], true],
    ['shows nothing, and nothing is known', 0, [], false],
    ['shows all that is known', 3, known(1, 3), true],
    ['shows none of what is known', 3, known(4, 6), false],
    ['shows nothing at all of what is known', 0, known(1, 3), false],
    ['lacks one of two', 1, known(1, 2), true],
    ['lacks two of ten', 8, known(1, 10), false],
    ['lacks five of a hundred and four', 99, known(1, 104), true],
    ['lacks six of a hundred and five', 99, known(1, 105), false],
    ['shows a thousand of twelve hundred', 1_000, known(1, 1_200), false],
    ['shows all of a thousand, which may be where it is cut off', 1_000, known(1, 1_000), false],
    ['shows one more than a round number', 1_001, known(1, 1_001), true],
  ])('or not, where it %s', (_, count, expected, isProof) => {
    expect(doubtOf(listing(count), expected, undefined) === undefined).toBe(isProof);
  });

  it('of one list alone, where the service has several', () => {
    const drivers = indexed([record(1, { list: 'drivers' })]);
    expect(doubtOf(drivers, [], 'drivers')).toBeUndefined();
    expect(doubtOf(drivers, [], 'agents')).toBeDefined();
    expect(doubtOf(drivers, [], undefined)).toBeUndefined();
    const both = indexed([record(1, { list: 'drivers' }), record(2, { list: 'agents' })]);
    expect(doubtOf(both, [], 'agents')).toBeUndefined();
    expect(doubtOf(drivers, [{ remote_id: 1, remote_key: 'K1' }], 'agents')).toBeDefined();
  });

  it('by identifier, or by key where that is not known', () => {
    expect(doubtOf(listing(1), [{ remote_id: 1, remote_key: 'renamed' }], undefined)).toBeUndefined();
    expect(doubtOf(listing(1), [{ remote_id: null, remote_key: 'K1' }], undefined)).toBeUndefined();
    expect(doubtOf(listing(1), [{ remote_id: null, remote_key: 'K2' }], undefined)).toBeDefined();
  });
});

describe('an answer with a record', () => {
  const keyOf = ({ code }: { code?: unknown }) => (typeof code === 'string' ? code : undefined);

  it.each<[unknown, number]>([
    [7, 7],
    ['120', 120],
    [0, 0],
  ])('of the identifier %j is a listing', (id, number) => {
    expect(remoteRecords([{ id, code: 'P1', status: 'P' }], keyOf)).toMatchObject([
      { id: number, key: 'P1', status: 'P' },
    ]);
  });

  it.each([undefined, null, '', 'x', '7x', ' 7', '1.5', 1.5, true, [7], '9007199254740993'])(
    'of the identifier %j is not a listing',
    (id) => {
      const bad = expect.objectContaining({ code: 'bad_answer' });
      expect(() =>
        remoteRecords(
          [
            { id: 1, code: 'P0' },
            { id, code: 'P1' },
          ],
          keyOf,
        ),
      ).toThrow(bad);
    },
  );
});

describe('the windows of read-backs', () => {
  const of = (start: string, end: string) => ({
    period_start: `2025-03-${start}:00.000Z`,
    period_end: `2025-03-${end}:00.000Z`,
  });
  const searches = (entries: Parameters<typeof windowsOf>[0]) =>
    windowsOf(entries).map(({ search, entries: own }) => [
      search?.start.slice(5, 10),
      search?.end.slice(5, 10),
      own.length,
    ]);

  it('cover the plans of a day with one listing, a day wider on both sides', () => {
    const plans = Array.from({ length: 1_000 }, (_, i) =>
      of(`13T${String(6 + (i % 6)).padStart(2, '0')}:00`, '13T20:00'),
    );
    expect(searches(plans)).toEqual([['03-12', '03-14', 1_000]]);
  });

  it('are one for a kind without periods, and none where nothing is due', () => {
    const [first, second] = [of('13T06:00', '13T20:00'), { period_start: null, period_end: null }];
    expect(windowsOf([first, second], false)).toEqual([{ search: undefined, entries: [first, second] }]);
    expect(windowsOf([], false)).toEqual([]);
    expect(windowsOf([])).toEqual([]);
  });

  it('join periods that lie within a day of each other, in any order', () => {
    const [early, late] = [of('10T08:00', '10T20:00'), of('11T20:00', '11T22:00')];
    expect(searches([late, early])).toEqual([['03-09', '03-12', 2]]);
    expect(searches([early, of('11T20:01', '11T22:00')])).toEqual([
      ['03-09', '03-11', 1],
      ['03-10', '03-12', 1],
    ]);
  });

  it('reach to the end of the longest, though a shorter one comes last', () => {
    expect(searches([of('10T00:00', '13T00:00'), of('10T08:00', '10T20:00')])).toEqual([['03-09', '03-14', 2]]);
  });

  it('span three days more than their longest period, where that is longer than three', () => {
    const weeks = [of('01T00:00', '08T00:00'), of('03T23:00', '04T23:00'), of('04T00:00', '11T00:00')];
    expect(searches(weeks)).toEqual([
      ['03-02', '03-05', 1],
      ['02-28', '03-12', 2],
    ]);
    expect(searches([of('01T00:00', '08T00:00'), of('04T00:01', '11T00:01')])).toHaveLength(2);
    expect(searches([of('01T00:00', '08T00:00'), of('02T00:00', '06T00:00'), of('03T00:00', '11T00:00')])).toEqual([
      ['02-28', '03-12', 3],
    ]);
    expect(searches([of('01T00:00', '11T00:00'), of('05T00:00', '09T00:00')])).toEqual([['02-28', '03-12', 2]]);
    expect(searches([of('01T00:00', '04T00:00'), of('04T00:00', '05T00:00')])).toHaveLength(2);
  });

  it('span three days at most', () => {
    const days = ['10', '11', '12', '13', '14'].map((day) => of(`${day}T08:00`, `${day}T20:00`));
    expect(searches(days)).toEqual([
      ['03-09', '03-13', 3],
      ['03-12', '03-15', 2],
    ]);
  });

  it('are few for a thousand weeks that begin at any hour', () => {
    const weeks = Array.from({ length: 1_000 }, (_, i) => {
      const start = Date.parse('2025-03-01T00:00:00.000Z') + i * 3_600_000;
      return {
        period_start: new Date(start).toISOString(),
        period_end: new Date(start + 7 * 86_400_000).toISOString(),
      };
    });
    expect(windowsOf(weeks).length).toBeLessThan(20);
    expect(windowsOf(weeks).flatMap(({ entries }) => entries)).toHaveLength(1_000);
  });

  it('of long periods come last, and omit entries without a period', () => {
    const dated = of('01T00:00', '08T00:00');
    const halves = [
      { ...dated, period_start: null },
      { ...dated, period_end: null },
    ];
    expect(searches([dated, of('02T08:00', '02T20:00'), ...halves])).toEqual([
      ['03-01', '03-03', 1],
      ['02-28', '03-09', 1],
    ]);
  });
});

describe('two periods', () => {
  const [early, late] = ['2025-03-13T11:00:00.000Z', '2025-03-13T21:00:00.000Z'];
  const later = { start: late, end: '2025-03-14T11:00:00.000Z' };

  it('overlap where one ends as the other begins, and not where there is time between', () => {
    expect(overlaps({ start: early, end: late }, later)).toBe(true);
    expect(overlaps(later, { start: early, end: late })).toBe(true);
    expect(overlaps({ start: early, end: early }, later)).toBe(false);
    expect(overlaps(later, { start: early, end: early })).toBe(false);
  });
});
