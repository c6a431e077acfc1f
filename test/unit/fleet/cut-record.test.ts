import { expect, it } from 'vitest';
import { isCut, truncateDepth } from '../../../src/fleet/cut-record.ts';

const nested = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}1${']'.repeat(levels)}`) as unknown;

it('every part that holds a cut is marked, copies too, and nothing else is', () => {
  const point = { id: 1, notes: nested(200) };
  const other = { id: 2, notes: [1] };
  const cut = truncateDepth({ id: 9, points: [point, other] }) as { points: unknown[] };
  expect(isCut(cut)).toBe(true);
  expect(isCut({ ...cut, id: 10 })).toBe(true);
  expect(cut.points.map(isCut)).toEqual([true, false]);
  expect(cut.points[1]).toBe(other);
  expect(JSON.stringify(cut)).toMatch(
    /^\{"id":9,"points":\[\{"id":1,"notes":\[+"[^"]+"\]+\},\{"id":2,"notes":\[1\]\}\]\}$/,
  );
});

it('a value that is not too deep is returned unchanged', () => {
  for (const value of [null, 'text', nested(98), { a: nested(97) }, JSON.parse('{"__proto__":{"a":1}}')])
    expect(truncateDepth(value)).toBe(value);
});

it('a field named __proto__ stays a field', () => {
  const cut = truncateDepth({ ...(JSON.parse('{"__proto__":{"polluted":1}}') as object), a: nested(200) });
  expect(isCut(cut)).toBe(true);
  expect((cut as { polluted?: unknown }).polluted).toBeUndefined();
});
