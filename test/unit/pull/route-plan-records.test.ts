import { describe, expect, it } from 'vitest';
import { isCut, truncateDepth } from '../../../src/fleet/cut-record.ts';
import { planLoads, planParts } from '../../../src/sync/pull/resources/route-plans/records.ts';

const ranges = (...args: Parameters<typeof planParts>) =>
  planParts(...args).flatMap(({ range }) => Object.values(range));

describe('a plan split into its records', () => {
  it('marks nothing below a list that the answer did not contain', () => {
    expect(ranges([{ id: 1 }, { id: 2, route_points: null }], [])).toEqual([{ in: [] }, { in: [] }, { in: [] }]);
  });

  it('marks records below the lists that it contained, empty or not, and below plans that are gone', () => {
    const plan = {
      id: 1,
      route_points: [
        { id: 5, routes_info: [] },
        { id: 6, route_point_items: [{}] },
      ],
    };
    expect(ranges([plan], [9])).toEqual([{ in: [1] }, { in: [9] }, { in: [5] }, { in: [6] }]);
  });

  it('marks each level as cut where that level contains the cut, and no other', () => {
    let deep: unknown = 'at the bottom';
    for (let level = 0; level < 150; level++) deep = { deep };
    const cuts = (plan: object) =>
      planLoads([truncateDepth(plan)]).map(({ records }) => records.map((record) => isCut(record)));
    expect(cuts({ id: 1, odd: deep, route_points: [{ id: 5 }] })).toEqual([[true], [false], [], []]);
    expect(cuts({ id: 1, route_points: [{ id: 5, odd: deep, routes_info: [{ id: 7 }] }] })).toEqual([
      [false],
      [true],
      [false],
      [],
    ]);
    expect(cuts({ id: 1, route_points: [{ id: 5, routes_info: [{ id: 7, odd: deep }] }] })).toEqual([
      [false],
      [false],
      [true],
      [],
    ]);
  });

  it('links each level to the one above and keeps a value that should be a list but is not', () => {
    const [plans, points, executions, items] = planLoads([
      {
        id: 1,
        name: 'a',
        route_points: [{ id: 5, routes_info: [{ id: 7 }], route_point_items: [{ value: 1 }] }],
      },
      { id: 2, route_points: 'odd' },
      'not an object',
    ]);
    expect(plans?.records).toEqual([{ id: 1, name: 'a' }, { id: 2, route_points: 'odd' }, 'not an object']);
    expect(points?.records).toEqual([{ id: 5, route_plan_id: 1, plan_start: null }]);
    expect(executions?.records).toEqual([{ id: 7, route_point_id: 5 }]);
    expect(items?.records).toEqual([{ value: 1, route_point_id: 5, position: 0 }]);
  });
});
