import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../../src/core/json.ts';
import { compileTable } from '../../../src/sync/pull/records/compile-table.ts';
import { rowMapping } from '../../../src/warehouse/load/row-mapping.ts';
import {
  baseTable,
  boolean,
  instant,
  integer,
  json,
  real,
  recordColumns,
  text,
} from '../../../src/warehouse/schema/table.ts';
import { routePlan } from '../../../src/warehouse/tables/route-plan.ts';
import { routePoint } from '../../../src/warehouse/tables/route-point.ts';
import { rebuildRecord, withoutNulls } from '../../support/fuzz/rebuild.ts';

const table = baseTable({
  name: 'sample',
  meaning: 'A table of every column type.',
  key: ['id'],
  columns: {
    id: integer('Key.'),
    title: text('Text.'),
    weight: real('Real.'),
    active: boolean('Flag.'),
    made_at: instant('Instant.'),
    tags: json('A list.'),
    driver_id: integer('Repeated beside its object.', { alias: 'driver.id' }),
    driver_name: text('Nested.', { from: 'driver.name' }),
    model_maker_name: text('Nested twice.', { from: 'model.maker.name' }),
  },
});
const toRow = rowMapping(table);

function rowOf(record: JsonObject): Record<string, unknown> {
  const mapped = toRow(record);
  if (!('row' in mapped)) throw new Error(mapped.invalid);
  const names = [...recordColumns(table).map(({ name }) => name), 'extra'];
  return Object.fromEntries(names.map((name, position) => [name, mapped.row[position]]));
}

const someJson = fc.jsonValue({ maxDepth: 2, noNegativeZero: true } as never) as fc.Arbitrary<Json>;
const instants = fc
  .date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString());
const finer = instants.map((at) => at.replace('Z', '456Z'));
const orAnything = <T>(fitting: fc.Arbitrary<T>) =>
  fc.option(fc.oneof({ weight: 4, arbitrary: fitting }, someJson), { nil: null });
const records = fc
  .record(
    {
      title: orAnything(fc.string()),
      weight: orAnything(fc.double({ noNaN: true, noDefaultInfinity: true })),
      active: orAnything(fc.boolean()),
      made_at: orAnything(fc.oneof(instants, finer)),
      tags: orAnything(fc.array(fc.string())),
      driver_id: orAnything(fc.constantFrom(1, 2)),
      driver: orAnything(
        fc.record(
          {
            id: orAnything(fc.constantFrom(1, 2)),
            name: orAnything(fc.string()),
            rank: orAnything(fc.integer()),
          },
          { requiredKeys: [] },
        ),
      ),
      model: orAnything(
        fc.record({ maker: orAnything(fc.record({ name: orAnything(fc.string()) })) }, { requiredKeys: [] }),
      ),
      unknown_field: someJson,
    },
    { requiredKeys: [] },
  )
  .map((record) => ({ id: 7, ...record }) as JsonObject);

/** Which of the two places held the repeated value is not kept, so a value that both may hold is held by one. */
function saidOnce(record: JsonObject): Json | undefined {
  const { driver, ...rest } = structuredClone(record) as JsonObject & { driver?: JsonObject };
  if (typeof driver !== 'object' || driver === null || Array.isArray(driver)) return withoutNulls(record);
  if (rest.driver_id == null && isWhole(driver.id)) rest.driver_id = driver.id as Json;
  if (driver.id === rest.driver_id) delete driver.id;
  return withoutNulls({ ...rest, driver });
}

/** A number, or its digits, which is how one beyond 2^53 is kept. */
const isWhole = (value: Json | undefined): boolean =>
  Number.isInteger(value) || (typeof value === 'string' && /^-?\d{1,19}$/.test(value));

describe('the row mapping', () => {
  it('restores every record from its columns and extra', () => {
    fc.assert(
      fc.property(records, (record) => {
        const plain = JSON.parse(JSON.stringify(record)) as JsonObject;
        fc.pre(!/\\u(?:0000|d[89a-f])/.test(JSON.stringify(plain)));
        expect(saidOnce(rebuildRecord(table, rowOf(plain)))).toEqual(saidOnce(plain));
      }),
      { numRuns: 2_000 },
    );
  });

  it('keeps nothing in extra when the columns hold everything', () => {
    expect(rowOf({ id: 1, title: 'a', driver_id: 5, driver: { id: 5, name: 'n' } })).toMatchObject({
      driver_id: 5,
      driver_name: 'n',
      extra: null,
    });
  });

  it.each([
    ['after', { id: 1, driver_id: 5, driver: { id: 6, name: 'n' } }],
    ['before', { id: 1, driver: { id: 6, name: 'n' }, driver_id: 5 }],
  ])('keeps a repeated value that differs and comes %s the own one', (_where, record) => {
    expect(rowOf(record)).toMatchObject({ driver_id: 5, extra: '{"driver":{"id":6}}' });
  });

  it('fills a column from the object that repeats it', () => {
    expect(rowOf({ id: 1, driver: { id: 6, name: 'n' } })).toMatchObject({ driver_id: 6, driver_name: 'n' });
  });

  it('stores an instant to the millisecond and keeps the finer text', () => {
    expect(rowOf({ id: 1, made_at: '2026-01-02T03:04:05.678901Z' })).toMatchObject({
      made_at: '2026-01-02T03:04:05.678Z',
      extra: '{"made_at":"2026-01-02T03:04:05.678901Z"}',
    });
  });

  it('keeps integers beyond 2^53 as their digits', () => {
    expect(rowOf({ id: '9007199254740993' }).id).toBe('9007199254740993');
  });

  it.each([
    ['a NUL in a column', { id: 1, title: 'a\0b' }, 'title'],
    ['a lone surrogate in a column', { id: 1, title: '\ud800' }, 'title'],
    ['a NUL in extra', { id: 1, odd: 'a\0b' }, 'extra'],
    ['a lone surrogate in extra', { id: 1, odd: ['\udfff'] }, 'extra'],
    ['no key', { title: 'x' }, 'id'],
    ['a null key', { id: null }, 'id'],
  ])('rejects %s and names the field', (_what, record, field) => {
    expect(toRow(record as JsonObject)).toEqual({
      invalid: expect.stringMatching(new RegExp(`^${field}: `)),
    });
  });

  it.each(['a\0b', '\ud800'])('rejects %j inside a JSON column, in both directions', (text) => {
    const record = { id: 1, route_plan_id: 2, time_window: { start: text } };
    expect(rowMapping(routePoint)(record)).toEqual({ invalid: expect.stringMatching(/^time_window: /) });
    expect(compileTable(routePoint)(record)).toBeUndefined();
    expect(compileTable(routePoint)({ ...record, time_window: {} })).toBeDefined();
  });

  it('keeps a year that PostgreSQL does not know, and a text too long for an index, in extra', () => {
    const made_at = '0000-01-01T00:00:00.000Z';
    expect(rowOf({ id: 1, made_at })).toMatchObject({ made_at: null, extra: JSON.stringify({ made_at }) });
    const external_code = 'x'.repeat(501);
    const mapped = rowMapping(routePlan)({ id: 1, external_code, source: external_code });
    const names = [...recordColumns(routePlan).map(({ name }) => name), 'extra'];
    const at = (name: string) => ('row' in mapped ? mapped.row[names.indexOf(name)] : undefined);
    expect([at('external_code'), at('source')]).toEqual([null, external_code]);
    expect(at('extra')).toBe(JSON.stringify({ external_code }));
  });

  it('keeps text that only resembles an escaped NUL', () => {
    expect(rowOf({ id: 1, odd: 'a\\u0000b' }).extra).toBe('{"odd":"a\\\\u0000b"}');
  });

  it('keeps a field named __proto__ as a field', () => {
    const row = rowOf(JSON.parse('{"id":1,"__proto__":{"polluted":true}}'));
    expect(row.extra).toBe('{"__proto__":{"polluted":true}}');
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});
