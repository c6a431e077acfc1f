// What the ERP is notified of for a stop, by the last notification and the known state.
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import type { StopOutcome } from '../../../src/erp/source.ts';
import { changeOf } from '../../../src/sync/returns/changes.ts';
import {
  countUncoded,
  outcomeHash,
  outcomesOf,
  rowsOfPlan,
  rowsOfPoint,
} from '../../../src/sync/returns/stop-outcome.ts';
import type { StopRow } from '../../../src/warehouse/outbox/returns.ts';

const [EARLY, LATE] = ['2025-03-13T10:00:00.000Z', '2025-03-13T12:00:00.000Z'];

const stop = (
  status: string,
  executedAt: string | null = null,
  pictures: string[] = [],
  reason: string | null = null,
): StopOutcome => ({
  planExternalCode: 'P1',
  planPeriodStart: '2025-03-13T08:00:00.000Z',
  pointExternalCode: 'A',
  status,
  executedAt,
  reason,
  pictures,
});

const pending = stop('P');

describe('changeOf', () => {
  it.each<[string, StopOutcome | undefined, StopOutcome, StopOutcome | undefined]>([
    ['a stop that has always been pending', undefined, pending, undefined],
    ['a first outcome', undefined, stop('E', EARLY), stop('E', EARLY)],
    ['a first outcome without a time', undefined, stop('E'), stop('E')],
    ['the same outcome', stop('E', EARLY, ['a']), stop('E', EARLY, ['a']), undefined],
    ['the same outcome without a time', stop('E'), stop('E'), undefined],
    ['a time that becomes known', stop('E'), stop('E', EARLY), stop('E', EARLY)],
    ['another time', stop('E', EARLY), stop('E', LATE), stop('E', LATE)],
    ['another status', stop('E', EARLY), stop('D', EARLY), stop('D', EARLY)],
    ['another picture', stop('E', EARLY, ['a']), stop('E', EARLY, ['b']), stop('E', EARLY, ['b'])],
    ['a picture less', stop('E', EARLY, ['a']), stop('E', EARLY), stop('E', EARLY)],
    ['another reason', stop('D', EARLY, [], 'x'), stop('D', EARLY, [], 'y'), stop('D', EARLY, [], 'y')],
    ['a time that is lost', stop('E', EARLY, ['a']), stop('E', null, ['a']), undefined],
    [
      'a time that is lost with another picture',
      stop('E', EARLY, ['a']),
      stop('E', null, ['b']),
      stop('E', EARLY, ['b']),
    ],
    ['a time that is lost with another status', stop('E', EARLY), stop('M'), stop('M', EARLY)],
    ['an execution that is lost', stop('D', EARLY, ['a'], 'x'), stop('D'), undefined],
    ['an execution that is lost with another status', stop('D', EARLY, ['a'], 'x'), stop('E'), stop('E', EARLY)],
    ['an outcome that is taken back', stop('E', EARLY, ['a']), pending, pending],
    ['an outcome without a time that is taken back', stop('E'), pending, pending],
    ['a stop that is still pending again', pending, pending, undefined],
    ['an outcome after that', pending, stop('E', LATE), stop('E', LATE)],
    ['an outcome without a time after that', pending, stop('E'), stop('E')],
  ])('%s', (_, before, now, notified) => {
    const row = before && {
      status: before.status,
      executed_at: before.executedAt,
      outcome_hash: outcomeHash(before),
    };
    expect(changeOf(row, now)).toEqual(notified);
  });
});

describe('outcomeHash', () => {
  it('equals the digest that earlier versions stored, which had no period', () => {
    const text = `{"planExternalCode":"P1","pointExternalCode":"A","status":"E","executedAt":"${EARLY}","reason":"x","pictures":["a"]}`;
    const digest = createHash('sha256').update(text).digest('hex');
    expect(outcomeHash(stop('E', EARLY, ['a'], 'x'))).toBe(digest);
  });
});

const row = (route_point_id: number, change: Partial<StopRow>): StopRow => ({
  route_point_id,
  external_code: 'A',
  status: 'E',
  return_date: null,
  pictures: null,
  signature_img: null,
  hodometer_picture: null,
  route_return_reason_name: null,
  route_executed_reason_name: null,
  ...change,
});
const plan = { external_code: 'P1', period_start: '2025-03-13T08:00:00.000Z' };

describe('outcomesOf', () => {
  it.each<[string, StopRow[], StopOutcome[]]>([
    ['no rows', [], []],
    ['the last row of a stop', [row(1, {}), row(1, { return_date: EARLY })], [stop('E', EARLY)]],
    [
      'a pending stop without what is left of its execution',
      [row(1, { status: 'P', return_date: EARLY, pictures: 'a', route_return_reason_name: 'x' })],
      [pending],
    ],
    ['no stop without a status', [row(1, { status: null }), row(2, { external_code: 'B', status: '' })], []],
    ['no stop without a code', [row(1, { external_code: null }), row(2, { external_code: '' })], []],
    [
      'of two stops with one code the one with an outcome',
      [row(1, { status: 'R', return_date: EARLY }), row(2, { status: 'P', return_date: LATE })],
      [stop('R', EARLY)],
    ],
    [
      'the pictures that have a name, and the reason of a return before that of an execution',
      [
        row(1, {
          pictures: 'a',
          signature_img: '',
          hodometer_picture: 'c',
          route_return_reason_name: 'x',
          route_executed_reason_name: 'y',
        }),
      ],
      [stop('E', null, ['a', 'c'], 'x')],
    ],
  ])('%s', (_, rows, outcomes) => {
    expect(outcomesOf(plan, rows)).toEqual(outcomes);
  });

  it('gives the same outcome for a record of the service', () => {
    const executions: JsonObject[] = [
      {
        id: 2,
        return_date: '2025-03-13T09:00:00-03:00',
        pictures: 'b',
        route_executed_reason: { name: 'y' },
      },
      { id: 3, return_date: null, pictures: 'c' },
      { id: 1, return_date: '2025-03-13T10:00:00Z', pictures: 'a' },
    ];
    const points: JsonObject[] = [
      { id: 1, external_code: 'A', status: 'E', routes_info: executions },
      { id: 2, external_code: 77, status: 'P' },
      { id: 3, external_code: 'C' },
      { id: 4, status: 'E' },
    ];
    const rows = rowsOfPlan({ id: 7, route_points: points });
    expect(rows).toEqual(points.flatMap(rowsOfPoint));
    expect(outcomesOf(plan, rows)).toEqual([{ ...pending, pointExternalCode: '77' }, stop('E', LATE, ['b'], 'y')]);
    expect(countUncoded(rows)).toBe(1);
    expect(rowsOfPlan({ id: 7 })).toEqual([]);
  });
});

describe('countUncoded', () => {
  it('counts each stop with an outcome once', () => {
    const uncoded = { external_code: null };
    expect(
      countUncoded([
        row(1, uncoded),
        row(1, { ...uncoded, return_date: EARLY }),
        row(2, { external_code: '' }),
        row(3, { ...uncoded, status: 'P' }),
        row(4, { ...uncoded, status: null }),
        row(5, {}),
      ]),
    ).toBe(2);
  });
});
