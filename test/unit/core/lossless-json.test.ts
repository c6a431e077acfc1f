import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseLossless } from '../../../src/core/text/lossless-json.ts';
import { documentOf } from '../../../src/fleet/answer.ts';
import { TransportFault } from '../../../src/fleet/transport/transport-fault.ts';

describe('JSON of the service', () => {
  it('keeps every integer: safe ones as numbers, others as their digits', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (integer) => {
        const kept = parseLossless(`{"data":[{"id": ${integer}}]}`) as { data: { id: number | string }[] };
        const safe = Number.isSafeInteger(Number(integer));
        expect(kept.data[0]?.id).toBe(safe ? Number(integer) : integer.toString());
      }),
    );
    expect(parseLossless('12345678901234567890')).toBe('12345678901234567890');
    expect(parseLossless('[9007199254740993]')).toEqual(['9007199254740993']);
  });

  it('keeps a number beyond any double as written', () => {
    expect(parseLossless('{"a":[1e400,-1e400,1e-400,1e20]}')).toEqual({ a: ['1e400', '-1e400', 0, 1e20] });
  });

  it('equals JSON.parse for everything else', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        fc.pre(!/\d{16}/.test(text));
        expect(parseLossless(text)).toEqual(JSON.parse(text));
      }),
    );
    expect(parseLossless('{"nfe":"35250312345678901234567890123456789012345678","x":1.5e3}')).toEqual({
      nfe: '35250312345678901234567890123456789012345678',
      x: 1500,
    });
    expect(parseLossless('\uFEFF{"a":1}')).toEqual({ a: 1 });
  });

  it.each([
    ['broken', '{"secret":'],
    ['deep', '['.repeat(200_000) + ']'.repeat(200_000)],
    ['deep with a long integer', `${'['.repeat(200_000)}1234567890123456789${']'.repeat(200_000)}`],
  ])('a text that is %s gives one plain error without its content', (_what, text) => {
    const failure = thrownBy(() => documentOf({ status: 200, headers: {}, body: Buffer.from(text) }));
    expect(failure).toBeInstanceOf(TransportFault);
    expect(failure.message).not.toContain('secret');
    expect(failure.cause).toBeUndefined();
  });

  it('pollutes no prototype', () => {
    parseLossless('{"__proto__":{"polluted":true},"a":{"__proto__":{"polluted":1234567890123456789}}}');
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});

function thrownBy(action: () => unknown): Error {
  try {
    action();
  } catch (error) {
    return error as Error;
  }
  throw new Error('Nothing was thrown');
}
