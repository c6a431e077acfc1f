// Flat rows are grouped into plans: the examples of the documentation, the empty cells of merged ranges, and the round
// trip of any plan through its rows.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { readCell } from '../../../src/erp/rows/cell-values.ts';
import { createPlanFold, type Folded } from '../../../src/erp/rows/flat-rows.ts';

type Cells = Record<string, unknown>;

const ZONE = 'America/Sao_Paulo';

function fold(rows: readonly Cells[], fill: JsonObject = {}, reuseCodes = false): Folded[] {
  const folding = createPlanFold(fill, { zone: ZONE, reuseCodes });
  const folded = rows.flatMap((cells, i) => folding.push({ origin: `row ${i + 2}`, row: i + 2, cells }));
  return [...folded, ...folding.end()];
}

const plans = (folded: readonly Folded[]) => folded.flatMap((one) => ('plan' in one ? [one.plan] : []));
/** Without their places. */
const readErrors = (folded: readonly Folded[]) =>
  folded.flatMap((one) => {
    if (!('readError' in one)) return [];
    const { place: _, ...readError } = one.readError;
    return [readError];
  });

describe('grouping', () => {
  test('consecutive rows of one plan become its points, rows of one point its items', () => {
    const folded = fold([
      {
        'plan.external_code': 'P1',
        'plan.vehicle_plate': 'ABC1234',
        'point.name': 'A',
        'item.external_code': 'i1',
      },
      { 'plan.external_code': 'P1', 'point.name': 'A', 'item.external_code': 'i2', 'item.quantity': '2' },
      { 'plan.external_code': 'P1', 'point.name': 'B', 'options.optimize': 'não' },
      { 'plan.external_code': 'P2', 'point.name': 'C', 'point.time_window.start': '2026-05-18T08:00' },
    ]);
    expect(folded).toEqual([
      {
        origin: 'row 2',
        rows: [2, 4],
        options: { optimize: false },
        plan: {
          external_code: 'P1',
          vehicle_plate: 'ABC1234',
          route_points: [
            { name: 'A', route_point_items: [{ external_code: 'i1' }, { external_code: 'i2', quantity: 2 }] },
            { name: 'B' },
          ],
        },
      },
      {
        origin: 'row 5',
        rows: [5],
        options: {},
        plan: {
          external_code: 'P2',
          route_points: [{ name: 'C', time_window: { start: '2026-05-18T08:00' } }],
        },
      },
    ]);
  });

  test('a row without a plan belongs to the plan above, one without a point to the point above', () => {
    const [plan] = plans(
      fold([
        { 'plan.external_code': 'P1', 'point.name': 'A', 'item.external_code': 'i1' },
        { 'item.external_code': 'i2' },
        {},
        { 'point.name': 'B' },
      ]),
    );
    expect(plan?.route_points).toEqual([
      { name: 'A', route_point_items: [{ external_code: 'i1' }, { external_code: 'i2' }] },
      { name: 'B' },
    ]);
  });

  test('a repeated point without items stays a separate point, which the validation reports', () => {
    const row = { 'plan.external_code': 'P1', 'point.name': 'A', 'point.external_code': 'x' };
    expect(plans(fold([row, row]))[0]?.route_points).toHaveLength(2);
  });

  test('entities are collected once each', () => {
    const of = (plate: string) => ({
      'plan.external_code': 'P1',
      'point.name': plate,
      'entity.vehicle_plate': plate,
      'entity.document_number': '52998224725',
    });
    expect(plans(fold([of('AAA1111'), of('AAA1111'), of('BBB2B22')]))[0]?.entity).toEqual([
      { vehicle_plate: 'AAA1111', document_number: '52998224725' },
      { vehicle_plate: 'BBB2B22', document_number: '52998224725' },
    ]);
  });

  test('constants and defaults fill every plan, point and item, and never make an empty row look full', () => {
    const fill = { 'plan.vehicle_plate': 'ABC1234', 'point.type': 'Entrega', 'options.source': 'G' };
    const [folded] = fold(
      [
        { 'plan.external_code': 'P1', 'point.name': 'A', 'point.type': 'Coleta', 'item.external_code': 'i1' },
        { 'item.external_code': 'i2' },
        { 'point.name': 'B' },
      ],
      fill,
    );
    expect(folded).toMatchObject({
      options: { source: 'G' },
      plan: { vehicle_plate: 'ABC1234', route_points: [{ type: 'Coleta' }, { name: 'B', type: 'Entrega' }] },
    });
  });
});

describe('rows that cannot be grouped', () => {
  test('a cell that cannot be read rejects its whole plan, by row and column, and no other', () => {
    const folded = fold([
      { 'plan.external_code': 'P1', 'point.name': 'A', 'point.latitude': '1.234,5' },
      { 'plan.external_code': 'P1', 'point.name': 'B', 'point.order': '1.5' },
      { 'plan.external_code': 'P2', 'point.name': 'C' },
    ]);
    expect(readErrors(folded)).toEqual([
      {
        origin: 'row 2',
        externalCode: 'P1',
        reason: 'point.latitude is not a number; write it as -23.55 or 1234.56',
      },
      { origin: 'row 3', externalCode: 'P1', reason: 'point.order is not a whole number' },
    ]);
    expect(plans(folded)).toHaveLength(1);
  });

  test('a row with plan fields but no code rejects the plan it may belong to', () => {
    const folded = fold([
      { 'plan.external_code': 'P1', 'point.name': 'A' },
      { 'plan.vehicle_plate': 'ABC1234', 'point.name': 'B' },
    ]);
    expect(readErrors(folded)).toEqual([
      { origin: 'row 3', externalCode: 'P1', reason: 'plan.external_code is empty' },
    ]);
    expect(plans(folded)).toEqual([]);
  });

  test('plans whose codes a spreadsheet has shortened are not taken for one plan', () => {
    const row = { 'plan.external_code': '1,23457E+11', 'plan.vehicle_plate': 'ABC1234' };
    const folded = fold([
      { ...row, 'point.name': 'A' },
      { ...row, 'point.name': 'B' },
    ]);
    expect(plans(folded)).toEqual([]);
    const reason = expect.stringContaining('plan.external_code has lost digits');
    expect(readErrors(folded)).toEqual([
      { origin: 'row 2', reason },
      { origin: 'row 3', reason },
    ]);
  });

  test.each<[string, Cells]>([
    ['cannot be read', { 'plan.external_code': '#N/D', 'point.name': 'B' }],
    ['is empty beside a start', { 'plan.date_time_start': '2026-05-18T08:00', 'point.name': 'B' }],
    ['is empty beside a start that cannot be read', { 'plan.date_time_start': '#N/D', 'point.name': 'B' }],
  ])('a row whose code %s rejects the plans above and below it, and no other', (_what, unread) => {
    const of = (code: string) => ({ 'plan.external_code': code, 'point.name': 'A' });
    const rows = [
      of('P1'),
      of('P2'),
      unread,
      { 'point.name': 'C' },
      of('P3'),
      of('P4'),
      of('P4'),
      unread,
      of('P4'),
      of('P5'),
    ];
    const folded = fold([unread, ...rows, unread]);
    expect(plans(folded)).toEqual([]);
    expect(readErrors(folded).map(({ origin, externalCode }) => [origin, externalCode])).toEqual([
      ['row 2', undefined],
      ['row 2', 'P1'],
      ['row 5', 'P2'],
      ['row 5', 'P3'],
      ['row 10', 'P4'],
      ['row 13', 'P5'],
    ]);
    expect(plans(fold(rows)).map(({ external_code }) => external_code)).toEqual(['P1', 'P5']);
  });

  test.each([
    ['P\0', 'contains a NUL'],
    ['P\ud800', 'contains a NUL'],
    ['P'.repeat(501), 'is longer than 500 characters'],
  ])('a code that no database can store or index is not read, and no read error is known by it', (code, reason) => {
    const errors = readErrors(fold([{ 'plan.external_code': code, 'point.name': 'A', 'point.order': '1.5' }]));
    expect(errors).toEqual([{ origin: 'row 2', reason: expect.stringContaining(`plan.external_code ${reason}`) }]);
  });

  test('a first row without a plan is a read error of its own', () => {
    expect(readErrors(fold([{ 'point.name': 'A' }]))).toEqual([
      { origin: 'row 2', reason: 'plan.external_code is empty' },
    ]);
  });

  test('rows that disagree about their plan reject it', () => {
    const folded = fold([
      { 'plan.external_code': 'P1', 'plan.vehicle_plate': 'AAA1111', 'point.name': 'A' },
      { 'plan.external_code': 'P1', 'plan.vehicle_plate': 'BBB2B22', 'point.name': 'B' },
    ]);
    expect(readErrors(folded).map(({ reason }) => reason)).toEqual([
      "plan.vehicle_plate differs from the plan's rows above",
    ]);
  });
});

describe('a plan of many rows that cannot be read', () => {
  const bad = { 'plan.external_code': 'P1', 'point.latitude': 'x' };

  test.each<[string, Cells]>([
    ['cells', bad],
    ['codes', { 'plan.vehicle_plate': 'ABC1234' }],
  ])('keeps the first errors of its %s', (_what, row) => {
    const found = readErrors(fold([bad, ...Array.from({ length: 300 }, () => row)]));
    expect(found).toHaveLength(100);
    expect(found.at(-1)).toMatchObject({ externalCode: 'P1', origin: 'row 101' });
  });
});

test('a plan of many short rows is too large', () => {
  const rows = [{ 'plan.external_code': 'P1' }, ...Array.from({ length: 22_000 }, () => ({ 'point.name': 'x' }))];
  expect(fold(rows)).toMatchObject([{ readError: { externalCode: 'P1', reason: 'is larger than 4 MB; split it' } }]);
});

describe('a code that is reused', () => {
  const row = (start: string | undefined, point: string, code = 'R7'): Cells => ({
    'plan.external_code': code,
    ...(start !== undefined && { 'plan.date_time_start': start }),
    'point.name': point,
  });
  const stopsOf = (folded: readonly Folded[]) =>
    plans(folded).map(({ date_time_start, route_points }) => [
      date_time_start,
      (route_points as JsonObject[]).map(({ name }) => name),
    ]);
  const [EIGHTEENTH, NINETEENTH] = ['2026-05-18T08:00', '2026-05-19T08:00'];

  test('begins a new plan with a row of another local day, however its start is written', () => {
    const rows = [
      row(EIGHTEENTH, 'A'),
      { 'point.name': 'B' },
      row(undefined, 'C'),
      // Midnight in São Paulo.
      row('2026-05-19T03:00:00Z', 'D'),
      row('2026-05-19 00:00', 'E'),
      row(EIGHTEENTH, 'F', 'R8'),
    ];
    const same = rows.filter((_, i) => i !== 4);
    expect(stopsOf(fold(same, {}, true))).toEqual([
      [EIGHTEENTH, ['A', 'B', 'C']],
      ['2026-05-19T03:00:00Z', ['D']],
      [EIGHTEENTH, ['F']],
    ]);
    expect(readErrors(fold(rows, {}, true))).toEqual([
      {
        origin: 'row 6',
        externalCode: 'R7',
        startDay: '2026-05-19',
        reason: "plan.date_time_start differs from the plan's rows above",
      },
    ]);
  });

  test('is one plan with rows that disagree where codes are not reused', () => {
    const folded = fold([row(EIGHTEENTH, 'A'), row(NINETEENTH, 'B')]);
    expect(plans(folded)).toEqual([]);
    expect(readErrors(folded)).toEqual([
      {
        origin: 'row 3',
        externalCode: 'R7',
        reason: "plan.date_time_start differs from the plan's rows above",
      },
    ]);
  });

  test('rejects the current plan where another start of the same day comes', () => {
    const folded = fold([row(EIGHTEENTH, 'A'), row('2026-05-18T14:00', 'B')], {}, true);
    expect(plans(folded)).toEqual([]);
    expect(readErrors(folded)).toMatchObject([{ externalCode: 'R7', startDay: '2026-05-18' }]);
  });

  // An error without a day rejects the plan below too, once all rows are read.
  test.each<[string, Cells, object[], object[]]>([
    ['a start that cannot be read', row('soon', 'B'), [[NINETEENTH, ['C']]], []],
    [
      'no code but a start of its own',
      { 'plan.date_time_start': NINETEENTH, 'point.name': 'B' },
      [],
      [{ startDay: '2026-05-19' }],
    ],
  ])('names no day where a row has %s: the row may belong to any of its plans', (_what, unclear, below, ofBelow) => {
    const folded = fold([row(EIGHTEENTH, 'A'), unclear, row(NINETEENTH, 'C')], {}, true);
    const unread = { origin: 'row 3', externalCode: 'R7', reason: expect.any(String) };
    expect(stopsOf(folded)).toEqual(below);
    expect(readErrors(folded)).toEqual([unread, ...ofBelow.map((day) => ({ ...unread, ...day }))]);
  });
});

describe('cells', () => {
  test.each([
    ['number', '-23.55', -23.55],
    ['latitude', '-23,55', -23.55],
    ['number', 7, 7],
    ['integer', '3', 3],
    ['boolean', 'SIM', true],
    ['boolean', 'não', false],
    ['boolean', '0', false],
    ['text', 12345, '12345'],
    ['document', 1234567890, '01234567890'],
    ['document', '529.982.247-25', '52998224725'],
    ['plates', 'AAA1111| BBB2B22', ['AAA1111', 'BBB2B22']],
  ] as const)('%s reads %j as %j', (type, cell, value) => {
    expect(readCell(type, cell)).toEqual({ value });
  });

  test.each([
    ['number', '1,2,3'],
    ['latitude', '1.234,5'],
    ['number', 'NaN'],
    ['integer', '3.5'],
    ['boolean', 'talvez'],
    ['text', { a: 1 }],
  ] as const)('%s rejects %j without naming it', (type, cell) => {
    const read = readCell(type, cell);
    expect(read).toHaveProperty('issue');
    expect(JSON.stringify(read)).not.toContain(String(cell));
  });
});

describe('the round trip', () => {
  // What a spreadsheet shows where a column is too narrow is rejected: see the tests of cell values.
  const tooNarrow = /^(?:#{2,}|-?\d(?:[,.]\d+)?E\+\d\d+)$/i;
  const code = fc
    .string({ minLength: 1, maxLength: 8, unit: 'grapheme-ascii' })
    .filter((text) => text.trim() === text && !tooNarrow.test(text));
  const item = fc.record(
    { external_code: code, quantity: fc.double({ noNaN: true, min: -1e15, max: 1e15 }), description: code },
    { requiredKeys: ['external_code'] },
  );
  const point = fc.record(
    {
      name: code,
      order: fc.integer(),
      latitude: fc.double({ min: -90, max: 90, noNaN: true }),
      disable_picture: fc.boolean(),
      route_point_items: fc.array(item, { minLength: 1, maxLength: 3 }),
    },
    { requiredKeys: ['name'] },
  );
  const plan = fc
    .record({ vehicle_plate: code, route_points: fc.array(point, { minLength: 1, maxLength: 5 }) })
    .map((one) => ({
      ...one,
      route_points: one.route_points.map((p, i) => ({ ...p, external_code: `p${i}` })),
    }));
  const anyPlans = fc
    .array(plan, { maxLength: 4 })
    .map((all) => all.map((one, i) => ({ external_code: `plan ${i}`, ...one })));

  const prefixed = (prefix: string, fields: object): Cells =>
    Object.fromEntries(Object.entries(fields).map(([name, value]) => [`${prefix}.${name}`, value]));

  function rowsOf({ route_points, ...fields }: JsonObject, asText: boolean): Cells[] {
    const rows = (route_points as JsonObject[]).flatMap(({ route_point_items: items, ...own }) =>
      ((items as JsonObject[] | undefined) ?? [{}]).map((one) => ({
        ...prefixed('plan', fields),
        ...prefixed('point', own),
        ...prefixed('item', one),
      })),
    );
    const text = (row: Cells) => Object.fromEntries(Object.entries(row).map(([name, cell]) => [name, String(cell)]));
    return asText ? rows.map(text) : rows;
  }

  test('any plans are restored from their rows, typed or as text', () => {
    fc.assert(
      fc.property(anyPlans, fc.boolean(), (all, asText) => {
        const rows = all.flatMap((one) => rowsOf(one as JsonObject, asText));
        const back = plans(fold(rows));
        // Text has no negative zero.
        expect(JSON.stringify(back.map(sorted))).toBe(JSON.stringify(all.map((one) => sorted(one as JsonObject))));
      }),
    );
  });

  function sorted(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(sorted);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, part]) => [name, sorted(part)]),
    );
  }
});
