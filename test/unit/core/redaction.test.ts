import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLog } from '../../../src/core/log.ts';
import { createRedactor, isCpf, redactedJson } from '../../../src/core/text/redaction.ts';

const PASSWORD = 'canary "pass\\word" ção';
const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJjYW5hcnkifQ.c2lnbmF0dXJlLWNhbmFyeQ';
const CPF = '52998224725';

describe('redaction', () => {
  it('removes known secrets, plain, JSON-escaped and URL-escaped', () => {
    const redactor = createRedactor();
    redactor.add(PASSWORD);
    for (const text of [PASSWORD, JSON.stringify({ p: PASSWORD }), `?p=${encodeURIComponent(PASSWORD)}`]) {
      expect(redactor.redact(text)).not.toContain('canary');
    }
  });

  it('removes a secret completely that begins or ends with another one, whichever was known first', () => {
    const secrets = ['canary', 'canary-feather', 'blue-canary-feather'];
    for (const known of [secrets, secrets.toReversed()]) {
      const redactor = createRedactor();
      for (const secret of known) redactor.add(secret);
      expect(secrets.map(redactor.redact)).toEqual(secrets.map(() => '[redacted]'));
    }
  });

  it('removes everything with the shape of a JWT, known or not', () => {
    expect(createRedactor().redact(`bearer ${JWT}.`)).toBe('bearer [redacted].');
  });

  it('removes a JWT wherever it begins, and nothing else', () => {
    const { redact } = createRedactor();
    const cases: [text: string, hushed: string][] = [
      [`token=${JWT}`, 'token=[redacted]'],
      [`Ref-${JWT}`, 'Ref-[redacted]'],
      [`ç${JWT}`, 'ç[redacted]'],
      // Right after a word its header, the same for all, stays; its subject and its signature do not.
      [`token${JWT}`, 'tokeneyJhbGciOiJIUzI1NiJ9.[redacted]'],
      [`a-long-name.of.something.${JWT}`, 'a-long-name.of.something.[redacted]'],
      [`${JWT}.${JWT}`, '[redacted].[redacted]'],
      [`${JWT} ${JWT}`, '[redacted] [redacted]'],
      ['eyJhbGciOi.eyJzdWIi', '[redacted]'],
      ['eyJhbGciOi.eyJzdWIi. And', '[redacted] And'],
      [`-eyJshort-${JWT}`, '-[redacted]'],
      // Within a word, too short, or without a second part: not a JWT.
      ['x_eyJhbGciOi.abc', 'x_eyJhbGciOi.abc'],
      ['eyJhbGc.abc', 'eyJhbGc.abc'],
      ['eyJhbGciOi..abc', 'eyJhbGciOi..abc'],
    ];
    expect(cases.map(([text]) => redact(text))).toEqual(cases.map(([, hushed]) => hushed));
  });

  it('removes exactly what a single expression that restarts at each beginning would', () => {
    const jwt = /\beyJ[\w-]{5,}\.[\w-]+(?:\.[\w-]*)?/g;
    const { redact } = createRedactor();
    const fragments = fc.constantFrom('eyJ', 'eyJ', 'aaaaa', 'a', '_', '-', '.', '.', ' ', 'ç', JWT);
    fc.assert(
      fc.property(fc.array(fragments, { maxLength: 30 }), (parts) => {
        const text = parts.join('');
        expect(redact(text)).toBe(text.replace(jwt, '[redacted]'));
      }),
      { numRuns: 2_000 },
    );
  });

  it('removes tax numbers by their check digits and keeps other numbers', () => {
    const { redact } = createRedactor();
    expect(redact(`cpf ${CPF} and 529.982.247-25`)).toBe('cpf [redacted] and [redacted]');
    expect(redact('id 52998224724, at 1763164800000, -23.52998224725, "52998224725x"')).toBe(
      'id 52998224724, at 1763164800000, -23.52998224725, "[redacted]x"',
    );
  });

  it('distinguishes a valid tax number from an invalid one', () => {
    expect([CPF, '529.982.247-25', '11111111111', '52998224726', '5299822472'].map(isCpf)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });

  it('leaves short secrets to the paths, so that common words stay readable', () => {
    const redactor = createRedactor();
    redactor.add('demo');
    expect(redactor.redact('the demo account')).toBe('the demo account');
  });
});

describe('redacted JSON', () => {
  it('is still JSON, whatever was removed: texts, names, and numbers that hold a CPF', () => {
    const redactor = createRedactor();
    redactor.add(PASSWORD);
    const text = redactedJson(
      { cpf: Number(CPF), at: 52998224725.5, [CPF]: [`pw ${PASSWORD}`, null, true], n: 7 },
      redactor.redact,
    );
    expect(JSON.parse(text)).toEqual({
      cpf: '[redacted]',
      at: '[redacted].5',
      '[redacted]': ['pw [redacted]', null, true],
      n: 7,
    });
    expect(redactedJson(undefined, redactor.redact)).toBe('null');
  });

  it('removes from a number what it would remove from its text', () => {
    const redactor = createRedactor();
    redactor.add('884422');
    const numbers = [-Number(CPF), 19884422, 8844.22, -23.52998224725, 52998224724, 1e21, 0];
    expect(JSON.parse(redactedJson(numbers, redactor.redact))).toEqual([
      '-[redacted]',
      '19[redacted]',
      8844.22,
      -23.52998224725,
      52998224724,
      1e21,
      0,
    ]);
  });

  it('keeps every field where redacted names are equal', () => {
    const { redact } = createRedactor();
    const fields = { [CPF]: 'a', '529.982.247-25': 'b', '[redacted] 2': 'c', '[redacted]': 'd', other: 'e' };
    expect(JSON.parse(redactedJson(fields, redact))).toEqual({
      '[redacted]': 'a',
      '[redacted] 2': 'b',
      '[redacted] 2 2': 'c',
      '[redacted] 3': 'd',
      other: 'e',
    });
  });
});

describe('the log', () => {
  it('shows neither secrets by path, nor secrets by value, nor the text of foreign errors', () => {
    const lines: string[] = [];
    const redactor = createRedactor();
    redactor.add(PASSWORD);
    const log = createLog({ level: 'trace', redactor, write: (line) => lines.push(line) });
    log.info({ password: 'pw', session: { token: 'tk', user: { cpf: '1' } } }, 'by path');
    log.info({ note: `it was ${PASSWORD}` }, `token ${JWT}`);
    log.error({ err: new Error(`insert into t values ('secret row', ${CPF})`) }, 'foreign');
    const text = lines.join('');
    for (const leak of ['"pw"', '"tk"', '"1"', 'canary', 'c2lnbmF0', 'secret row', CPF])
      expect(text).not.toContain(leak);
    expect(lines).toHaveLength(3);
  });
});
