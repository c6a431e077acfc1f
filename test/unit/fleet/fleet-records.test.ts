import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { checkRecord } from '../../../src/fleet/record-check.ts';
import { day, decimal, flag, id, instant, integer, list, object, text } from '../../../src/fleet/wire.ts';

const schema = z.looseObject({
  id,
  count: integer,
  ratio: decimal,
  label: text,
  on: flag,
  at: instant,
  day,
  nested: object({ id: integer }),
  items: list(z.looseObject({ id: integer })),
});
const check = (fields: object) => checkRecord(schema, { id: 1, ...fields });
const normal = (fields: object) => ({ ok: true, record: { id: 1, ...fields } });

describe('a record', () => {
  it.each([
    [{ count: '42' }, { count: 42 }],
    [{ count: ' -7 ' }, { count: -7 }],
    [{ count: '12.0' }, { count: 12 }],
    [{ count: '9223372036854775807' }, { count: '9223372036854775807' }],
    [{ count: '-9223372036854775808' }, { count: '-9223372036854775808' }],
    [{ count: '' }, { count: null }],
    [{ ratio: '-23.55' }, { ratio: -23.55 }],
    [{ ratio: '1e3' }, { ratio: 1000 }],
    [{ ratio: '' }, { ratio: null }],
    [{ label: 5 }, { label: '5' }],
    [{ label: false }, { label: 'false' }],
    [{ label: '' }, { label: '' }],
    [{ on: 1 }, { on: true }],
    [{ on: '0' }, { on: false }],
    [{ on: 'true' }, { on: true }],
    [{ at: '2025-03-12T10:00:00-03:00' }, { at: '2025-03-12T13:00:00.000Z' }],
    [{ at: '' }, { at: null }],
    [{ day: '2025-03-12T10:00:00Z' }, { day: '2025-03-12' }],
    [{ nested: { id: '5', more: 1 } }, { nested: { id: 5, more: 1 } }],
    [{ items: [{ id: '5' }] }, { items: [{ id: 5 }] }],
    [{ unknown: { deep: [1] } }, { unknown: { deep: [1] } }],
  ])('%j becomes %j', (given, expected) => {
    expect(check(given)).toEqual(normal(expected));
  });

  it('null stays null and absent stays absent', () => {
    const nothing = {
      count: null,
      ratio: null,
      label: null,
      on: null,
      at: null,
      day: null,
      nested: null,
      items: null,
    };
    expect(check(nothing)).toEqual(normal(nothing));
    expect(Object.keys((check({}) as { record: object }).record)).toEqual(['id']);
  });

  it.each([
    [
      { id: undefined, count: 'x' },
      'id: expected a whole number, got nothing; count: expected a whole number, got text',
    ],
    [{ id: '' }, 'id: expected a whole number, got an empty text'],
    [{ count: 1.5 }, 'count: expected a whole number, got a fraction'],
    [{ count: '9223372036854775808' }, 'count: expected a whole number, got text'],
    [{ count: true }, 'count: expected a whole number, got true or false'],
    [{ ratio: '1,5' }, 'ratio: expected a number, got text'],
    [{ label: {} }, 'label: expected text, got an object'],
    [{ on: 2 }, 'on: expected true or false, got a number'],
    [{ at: '2025-03-12T10:00:00' }, 'at: expected a date-time with a zone, got text'],
    [{ day: '12/03/2025' }, 'day: expected a date, got text'],
    [{ nested: 'x' }, 'nested: expected an object, got text'],
    [{ nested: { id: 'x' } }, 'nested.id: expected a whole number, got text'],
    [{ items: [{ id: 1 }, { id: 'x' }] }, 'items[1].id: expected a whole number, got text'],
  ])('%j is invalid, by path and expectation', (given, reason) => {
    expect(check(given)).toEqual({ ok: false, reason });
  });

  it.each([
    [null, 'nothing'],
    ['x', 'text'],
    [[1], 'a list'],
    [5, 'a number'],
  ])('%j is not a record', (raw, kind) => {
    expect(checkRecord(schema, raw)).toEqual({
      ok: false,
      reason: `record: expected an object, got ${kind}`,
    });
  });

  it.each([
    '{"id":1,"__proto__":{"a":1}}',
    '{"id":1,"nested":{"at":"x","__proto__":{"a":1}}}',
    '{"id":1,"on":[{"__proto__":1}]}',
  ])('with a field named __proto__ is rejected rather than lost: %s', (text) => {
    expect(checkRecord(schema, JSON.parse(text))).toEqual({
      ok: false,
      reason: '__proto__: a field of this name cannot be stored',
    });
  });

  it('never shows its values in the reason', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 4 }).map((tail) => `ZQ${tail}`),
        (secret) => {
          const result = checkRecord(schema, {
            id: secret,
            count: secret,
            at: secret,
            nested: secret,
            on: [secret],
          });
          expect(result.ok).toBe(false);
          expect((result as { reason: string }).reason).not.toContain(secret);
        },
      ),
    );
  });

  it('loses no field: undeclared fields pass unchanged', () => {
    const field = fc.string().filter((name) => name !== '__proto__' && !(name in schema.shape));
    fc.assert(
      fc.property(fc.dictionary(field, fc.jsonValue()), (extra) => {
        const given = { ...extra, id: 1 };
        expect(checkRecord(schema, given)).toEqual({ ok: true, record: given });
      }),
    );
  });

  it('is its own normal form once it is normal', () => {
    const first = check({
      count: '42',
      at: '2025-03-12T10:00:00-03:00',
      on: 1,
      label: 7,
      day: '2025-03-12 10:00',
    });
    const again = checkRecord(schema, (first as { record: object }).record);
    expect(again).toEqual(first);
  });
});
