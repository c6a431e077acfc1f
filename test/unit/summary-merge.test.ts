import { describe, expect, it } from 'vitest';
import { mergeByTitle } from '../../src/sync/pull/summary-merge.ts';

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
      { title: 'Ana', count: '3', total_time_in_moviment: 100, speed_max: 95, speed_average: 80 },
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
      refused: [],
    });
  });

  it('leave no noise of decimals behind', () => {
    const { records } = merge([
      [{ title: 'Ana', total_distance: 0.1 }],
      [{ title: 'Ana', total_distance: 0.2 }],
    ]);
    expect(records).toEqual([{ title: 'Ana', total_distance: 0.3 }]);
  });

  it('are refused where one answer has two of the title, or several drivers are known by it', () => {
    const two = [{ title: 'Ana' }, { title: 'Ana' }];
    expect(merge([two, [{ title: 'Ana' }]])).toMatchObject({ records: [], refused: { length: 3 } });
    expect(merge([[two[0]], [two[1]]], { ambiguous: ['Ana'] })).toMatchObject({
      records: [],
      refused: { length: 2 },
    });
    // One row in one answer of the only slice is loaded as it came.
    expect(merge([[two[0]]], { ambiguous: ['Ana'] }).records).toEqual([two[0]]);
    expect(merge([[two[0]]], { ambiguous: ['Ana'], isPart: true }).refused).toHaveLength(1);
  });

  it('are refused, never lost, where they cannot be added up', () => {
    const rows = [
      { title: 'Ana', count: 1 },
      { title: 'Ana', count: 'many' },
      null,
      { count: 3 },
      { count: 4 },
    ];
    const { records, refused } = merge(rows.map((row) => [row]));
    expect(records).toEqual([]);
    expect(refused.map(({ record }) => record)).toEqual(rows);
  });
});
