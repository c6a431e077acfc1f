// Issues of zod in plain words: one line each, by path, without any value.
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { withRules } from '../../../src/core/field-rules.ts';
import { issueTexts, parseWithMessages } from '../../../src/core/text/zod-words.ts';
import { duration } from '../../../src/core/time/duration-option.ts';

const SECRET = 'sesame';

const schema = z.strictObject({
  name: z.string().min(1).optional(),
  port: z.int().max(9).optional(),
  ratio: z.number().optional(),
  flag: z.boolean().optional(),
  mode: z.enum(['fast', 'slow']).optional(),
  wait: duration.optional(),
  own: z.string('is not the word').optional(),
  points: z
    .array(z.strictObject({ code: z.string() }))
    .min(1)
    .optional(),
  either: z.union([z.string(), z.strictObject({ column: z.string() })]).optional(),
  any: z.record(z.string(), z.number()).optional(),
});

function textsOf(type: z.ZodType, given: unknown): string[] {
  const result = parseWithMessages(type, given);
  return result.success ? [] : issueTexts(result.error.issues, type, given, 'request');
}

test.each<[unknown, string[]]>([
  [SECRET, ['request: expected an object, got text']],
  [[SECRET], ['request: expected an object, got a list']],
  [undefined, ['request: is required']],
  [{ name: '' }, ['name: must not be empty']],
  [{ name: null }, ['name: expected text, got nothing']],
  [{ port: 1.5 }, ['port: expected a whole number, got a fraction']],
  [{ port: 10 }, ['port: must be at most 9']],
  [{ ratio: SECRET, flag: 1 }, ['ratio: expected a number, got text', 'flag: expected true or false, got a number']],
  [{ mode: SECRET }, ['mode: is not one of fast, slow']],
  [{ wait: 60 }, ['wait: expected a duration, got a number']],
  [{ wait: SECRET }, ['wait: is not a duration']],
  [{ own: 7 }, ['own: is not the word']],
  [{ points: [] }, ['points: must have at least 1 entries']],
  [{ points: [{ code: 'a' }, {}] }, ['points[1].code: is required']],
  [{ points: [{ code: 'a', cod: SECRET }] }, ['points[0].cod: is not a known field (did you mean "code"?)']],
  [{ nam: SECRET, zebra: SECRET }, ['nam: is not a known field (did you mean "name"?)', 'zebra: is not a known field']],
  [{ either: 7 }, ['either: expected text or an object, got a number']],
  [
    { either: { colum: SECRET } },
    ['either.column: is required', 'either.colum: is not a known field (did you mean "column"?)'],
  ],
  [{ any: { a: SECRET } }, ['any.a: expected a number, got text']],
  [{ [`${SECRET}:${SECRET}`]: 1, ção: 1 }, ['?: is not a known field', 'ção: is not a known field']],
  [JSON.parse('{"__proto__":{"name":"x"}}'), ['__proto__: is not a known field']],
])('%j', (given, texts) => {
  expect(textsOf(schema, given)).toEqual(texts);
});

describe('a rule over several fields', () => {
  const ruled = withRules(z.strictObject({ a: z.number(), b: z.number() }), ({ a, b }) =>
    a === b ? [{ path: ['b'], message: 'is the same as a' }] : [],
  );

  test.each<[unknown, string[]]>([
    [{ a: 1, b: 2 }, []],
    [{ a: 1, b: 1 }, ['b: is the same as a']],
    [{ a: 'x', b: 'x' }, ['a: expected a number, got text', 'b: expected a number, got text', 'b: is the same as a']],
    [{ a: 1, b: 1, other: 1 }, ['other: is not a known field', 'b: is the same as a']],
    [7, ['request: expected an object, got a number']],
  ])('is checked with the fields: %j', (given, texts) => {
    expect(textsOf(ruled, given)).toEqual(texts);
  });
});
