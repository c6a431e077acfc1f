import { describe, expect, it } from 'vitest';
import { mergeByTitle } from '../../../src/sync/pull/resources/daily-summaries/merge.ts';

const merge = (answers: unknown[][], { ambiguous = [] as string[], isPart = false } = {}) =>
  mergeByTitle({ answers, isAmbiguous: (title) => ambiguous.includes(title), isPart });

describe('rows of one driver from several answers', () => {
  it('are added up, with the highest speed and the mean by time', () => {
    const rows = [
      {
        title: 'Ana',
        count: 2,
        total_time_in_moviment: 300,
        speed_max: 80,
        speed_average: 40,
        other: 'kept',
      },
      {
        title: 'Ana',
        count: '3',
        total_time_in_moviment: 100,
        speed_max: 95,
        speed_average: 80,
        other: 'kept',
      },
    ];
    expect(merge([[rows[0]], [rows[1], { title: 'Bia', count: 1 }]])).toEqual({
      records: [
        {
          title: 'Ana',
          count: 5,
          total_time_in_moviment: 400,
          speed_max: 95,
          speed_average: 50,
          other: 'kept',
        },
        { title: 'Bia', count: 1 },
      ],
      rejected: [],
    });
  });

  it('contain no rounding noise', () => {
    const { records } = merge([[{ title: 'Ana', total_distance: 0.1 }], [{ title: 'Ana', total_distance: 0.2 }]]);
    expect(records).toEqual([{ title: 'Ana', total_distance: 0.3 }]);
  });

  it('are rejected where one answer has the title twice, or several drivers have it', () => {
    const two = [{ title: 'Ana' }, { title: 'Ana' }];
    expect(merge([two, [{ title: 'Ana' }]])).toMatchObject({ records: [], rejected: { length: 3 } });
    expect(merge([[two[0]], [two[1]]], { ambiguous: ['Ana'] })).toMatchObject({
      records: [],
      rejected: { length: 2 },
    });
    // One row in one answer of the only slice is loaded unchanged.
    expect(merge([[two[0]]], { ambiguous: ['Ana'] }).records).toEqual([two[0]]);
    expect(merge([[two[0]]], { ambiguous: ['Ana'], isPart: true }).rejected).toHaveLength(1);
  });

  it('follow the rule of a single row: a value that is not a decimal there is not one here', () => {
    const odd = [true, [3], '0x10', {}, '1,5', 'Infinity'];
    for (const count of odd) {
      const rows = [
        { title: 'Ana', count: 1 },
        { title: 'Ana', count },
      ];
      const { records, rejected } = merge(rows.map((row) => [row]));
      expect({ count, records }).toEqual({ count, records: [] });
      expect(rejected.map(({ record }) => record)).toEqual(rows);
    }
    const empty = [[{ title: 'Ana', count: 1 }], [{ title: 'Ana', count: '' }], [{ title: 'Ana', count: ' 2.50 ' }]];
    expect(merge(empty).records).toEqual([{ title: 'Ana', count: 3.5 }]);
  });

  it('keep a field that is not a figure once where all agree, otherwise for each part', () => {
    const rows = [
      { title: 'Ana', count: 1, team: { id: 4, name: 'North' }, bonus: 10, note: 'first' },
      { title: 'Ana', count: 2, team: { name: 'North', id: 4 }, bonus: 20 },
    ];
    expect(merge(rows.map((row) => [row])).records).toEqual([
      {
        title: 'Ana',
        count: 3,
        team: { id: 4, name: 'North' },
        parts: [{ bonus: 10, note: 'first' }, { bonus: 20 }],
      },
    ]);
    const own = [
      { title: 'Ana', parts: 'of the service', bonus: 1 },
      { title: 'Ana', bonus: 2 },
    ];
    expect(merge(own.map((row) => [row])).records).toEqual([
      { title: 'Ana', parts: [{ parts: 'of the service', bonus: 1 }, { bonus: 2 }] },
    ]);
  });

  it('are rejected where the mean speed cannot be weighted, or a sum is beyond any number', () => {
    const mean = (...rows: object[]) => merge(rows.map((row) => [{ title: 'Ana', ...row }])).records;
    const weighed = { speed_average: 40, total_time_in_moviment: 10 };
    expect(mean(weighed, { speed_average: 60 })).toEqual([]);
    expect(
      mean({ speed_average: 40, total_time_in_moviment: 0 }, { speed_average: 60, total_time_in_moviment: 0 }),
    ).toEqual([]);
    expect(mean(weighed, { speed_average: 40 })).toEqual([{ title: 'Ana', ...weighed }]);
    expect(mean(weighed, { count: 1 })).toEqual([{ title: 'Ana', count: 1, ...weighed }]);
    expect(mean({ total_distance: 1e308 }, { total_distance: 1e308 })).toEqual([]);
  });

  it('are rejected, never lost, where they cannot be added up', () => {
    const rows = [{ title: 'Ana', count: 1 }, { title: 'Ana', count: 'many' }, null, { count: 3 }, { count: 4 }];
    const { records, rejected } = merge(rows.map((row) => [row]));
    expect(records).toEqual([]);
    expect(rejected.map(({ record }) => record)).toEqual(rows);
  });
});
