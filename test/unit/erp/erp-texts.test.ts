// Small pure functions: date-times, encodings, broken JSON, file names, content hashes, mappings, the sample.
import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../src/core/json.ts';
import { safeName } from '../../../src/erp/files/returns.ts';
import { headerIndex } from '../../../src/erp/formats/header-row.ts';
import { parseJson } from '../../../src/erp/formats/json-text.ts';
import { decodeText, type TextForm } from '../../../src/erp/formats/text-decoding.ts';
import { contentHash } from '../../../src/erp/items/canonical-form.ts';
import { itemOf, type ParsedItem } from '../../../src/erp/items/item.ts';
import { isRepeated, localDay, momentMs, zonedMoment } from '../../../src/erp/items/moments.ts';
import { samplePlans } from '../../../src/erp/items/sample-plans.ts';
import { validateItem } from '../../../src/erp/items/schemas.ts';
import { columnNameTest } from '../../../src/erp/rows/column-names.ts';
import { columnMatcher } from '../../../src/erp/rows/flat-columns.ts';
import { type Mapping, prepareMapping } from '../../../src/erp/rows/mapping.ts';
import { readRecords, readTable } from '../../../src/erp/rows/row-reader.ts';
import type { FoundHeader } from '../../../src/erp/source.ts';

describe('date-times', () => {
  test.each([
    ['2026-05-18T08:00', '2026-05-18T08:00:00-03:00'],
    ['2026-05-18 08:00:30', '2026-05-18T08:00:30-03:00'],
    ['2026-05-18T08:00:00Z', '2026-05-18T08:00:00Z'],
    ['2026-05-18T08:00:00.5-0300', '2026-05-18T08:00:00.5-03:00'],
    ['2026-05-18T08:00+01', '2026-05-18T08:00:00+01:00'],
    // Clocks went forward at midnight of this day.
    ['2018-11-04T12:00', '2018-11-04T12:00:00-02:00'],
  ])('%s is %s in São Paulo', (text, zoned) => {
    expect(zonedMoment(text, 'America/Sao_Paulo')).toBe(zoned);
    expect(momentMs(zoned)).toBeTypeOf('number');
  });

  test.each(['', '2026-05-18', '18/05/2026 08:00', '2026-02-29T08:00', '2026-05-18T25:00', '08:00', 'soon'])(
    '%j is rejected',
    (text) => expect(zonedMoment(text, 'UTC')).toBeUndefined(),
  );

  test('a time that the clocks skip is rejected with that reason; of one that they repeat the earlier is meant', () => {
    const zone = 'America/New_York';
    expect(zonedMoment('2027-03-14T02:30', zone)).toBeUndefined();
    const data = { date_time_start: '2027-03-14T02:30' };
    expect(validateItem('route_plans', { data })).toContainEqual(
      expect.stringContaining('date_time_start: is a time that the clocks'),
    );
    expect(zonedMoment('2026-11-01T01:30', zone)).toBe('2026-11-01T01:30:00-04:00');
    expect([isRepeated('2026-11-01 01:30:00', zone), isRepeated('2026-11-01 02:30:00', zone)]).toEqual([true, false]);
    expect(isRepeated('2027-03-14 02:30:00', zone)).toBe(false);
  });

  test.each(['1969-12-31T23:59:59Z', '2200-01-01T00:00:00Z', '9999-12-31T23:59:59-03:00'])(
    '%s is of an unusual year and rejected',
    (text) => expect(momentMs(text)).toBeUndefined(),
  );

  test('an instant is the one that Temporal reads, and a day that does not exist is rejected', () => {
    const two = (max: number) => fc.integer({ min: 0, max }).map((n) => String(n).padStart(2, '0'));
    const offset = fc.oneof(
      fc.constant('Z'),
      fc.tuple(fc.constantFrom('+', '-'), two(25), two(61)).map(([sign, hour, minute]) => `${sign}${hour}:${minute}`),
    );
    const parts = [fc.integer({ min: 1970, max: 2199 }), two(13), two(32), two(25), two(60), two(60)] as const;
    const fraction = fc.constantFrom('', '.5', '.123', '.123456789');
    fc.assert(
      fc.property(...parts, fraction, offset, (year, month, day, hour, minute, second, rest, zone) => {
        const text = `${year}-${month}-${day}T${hour}:${minute}:${second}${rest}${zone}`;
        expect(momentMs(text)).toBe(second === '60' ? undefined : temporalMs(text));
      }),
      { numRuns: 5_000 },
    );
  });

  function temporalMs(text: string): number | undefined {
    try {
      return Temporal.Instant.from(text).epochMilliseconds;
    } catch {
      return undefined;
    }
  }
});

describe('local days', () => {
  test.each<[unknown, string, string]>([
    ['2026-05-18T08:00:00-03:00', 'America/Sao_Paulo', '2026-05-18'],
    ['2026-05-19T02:59:59.999Z', 'America/Sao_Paulo', '2026-05-18'],
    ['2026-05-19T03:00:00.000Z', 'America/Sao_Paulo', '2026-05-19'],
    ['2026-05-18T23:30:00+09:00', 'UTC', '2026-05-18'],
    ['2026-05-18T23:30:00-09:00', 'UTC', '2026-05-19'],
    ['2026-05-18T08:00', 'UTC', ''],
    ['2026-02-30T08:00:00Z', 'UTC', ''],
    ['soon', 'UTC', ''],
    [undefined, 'UTC', ''],
  ])('%j in %s is %j', (moment, zone, day) => expect(localDay(moment, zone)).toBe(day));
});

describe('encodings', () => {
  async function decode(...chunks: Uint8Array[]): Promise<string> {
    async function* all() {
      for (const chunk of chunks) yield Buffer.from(chunk);
    }
    let text = '';
    for await (const part of decodeText(all())) text += part;
    return text;
  }
  const big = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16();

  test('UTF-8 with and without a byte order mark and UTF-16 in both byte orders are read', async () => {
    expect(await decode(Buffer.from('açúcar €'))).toBe('açúcar €');
    expect(await decode(Buffer.from('\ufeffaçúcar'))).toBe('açúcar');
    expect(await decode(Buffer.from('\ufeffaçúcar 🚚', 'utf16le'))).toBe('açúcar 🚚');
    expect(await decode(big('açúcar 🚚'))).toBe('açúcar 🚚');
  });

  test('characters can be split anywhere between chunks', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 4 }), async (text, size) => {
        const bytes = Buffer.from(`a${text}`.replaceAll('\0', ''));
        const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
          bytes.subarray(i * size, (i + 1) * size),
        );
        expect(await decode(...chunks)).toBe(bytes.toString());
      }),
    );
  });

  test.each([
    [
      'Latin-1',
      [Buffer.from('ok �\na', 'utf8'), Buffer.from('b\xe7c', 'latin1')],
      'not UTF-8 at byte 10; save as UTF-8',
    ],
    ['a character cut off at the end', [Buffer.from([0x61, 0xe2, 0x82])], 'not UTF-8 at byte 2'],
    ['UTF-16 without a mark', [Buffer.from('abc', 'utf16le')], 'UTF-16 without a byte order mark'],
    ['half of a UTF-16 unit', [Buffer.from([0xff, 0xfe, 0x61])], 'not valid UTF-16'],
  ])('%s is named', async (_name, chunks, words) => {
    await expect(decode(...chunks)).rejects.toThrow(words);
  });
});

describe('a text in an unnamed encoding of one byte', () => {
  const read = async (bytes: string, form: TextForm = { encoding: 'windows-1252', isGuess: true }) => {
    let text = '';
    // Cut everywhere: what proves the encoding may be in two chunks.
    const chunks = [...bytes].map((byte) => Buffer.from(byte, 'latin1'));
    for await (const part of decodeText(chunks, form)) text += part;
    return text;
  };

  test.each(['José', 'Célia', 'São João', 'PRAÇA', 'AÇÃO', 'Água', 'Nº 5', 'MAÇÃ', 'Jaú', 'à vista, José', 'AÇO; SÃO'])(
    'is Windows-1252: %s',
    async (text) => expect(await read(text)).toBe(text),
  );

  test.each([
    ['MERCADO S\xc7O JO\xc7O', '"SÇO" (windows-1252) or "SÃO" (ibm850)'],
    ['RUA ITA\xe9', '"ITAé" (windows-1252) or "ITAÚ" (ibm850)'],
    ['GON\x80ALVES', '"GON€ALVES" (windows-1252) or "GONÇALVES" (ibm850)'],
    ['FREGUESIA DO \xe0', '"à" (windows-1252) or "Ó" (ibm850)'],
    ['\xe9ltima', '"éltima" (windows-1252) or "Última" (ibm850)'],
    ['av\x93', '"av“" (windows-1252) or "avô" (ibm850)'],
    ['n\xa7 5', '"n§" (windows-1252) or "nº" (ibm850)'],
    ['S\xc6o', '"SÆo" (windows-1252) or "São" (ibm850)'],
    // Programs of both kinds have written into one file.
    ['José;ITA\xe9', '"ITAé" (windows-1252) or "ITAÚ" (ibm850)'],
    ['José;MANH\xc7', '"MANHÇ" (windows-1252) or "MANHÃ" (ibm850)'],
  ])('is not guessed: %j', async (bytes, words) => {
    await expect(read(bytes)).rejects.toThrow(words);
  });

  test('is read as CP850 if the feed says so', async () => {
    expect(await read('JO\xc7O GON\x80ALVES, ITA\xe9, n\xa7 5, caf\x82', { encoding: 'ibm850' })).toBe(
      'JOÃO GONÇALVES, ITAÚ, nº 5, café',
    );
  });
});

describe('broken JSON', () => {
  test.each([
    ['{"a": 1,}', '1:9'],
    ['{\n  "a": tru\n}', '2:8'],
    ['[1, 2', '1:6'],
    ['{"a" 1}', '1:6'],
    ['[1] [2]', '1:5'],
    ['{"secret": "x\ny"}', '1:12'],
    ['', '1:1'],
    ['{"a": 01}', '1:8'],
    ['[}', '1:2'],
  ])('%j is reported at %s and not quoted', (text, place) => {
    const read = () => parseJson(text);
    expect(read).toThrow(`broken JSON at ${place}`);
    expect(read).not.toThrow('secret');
  });

  test('all valid JSON is read unchanged, long integers as text', () => {
    expect(parseJson('\ufeff[12345678901234567890, 1.5]')).toEqual(['12345678901234567890', 1.5]);
    fc.assert(
      fc.property(fc.json(), (text) => {
        fc.pre(!/\d{16}/.test(text));
        expect(JSON.stringify(parseJson(text))).toBe(JSON.stringify(JSON.parse(text)));
      }),
    );
  });
});

describe('file names of codes', () => {
  test.each(['../../etc/passwd', '.', '..', '', 'a/b', 'a\\b', 'ação', '\0', 'x'.repeat(400)])(
    '%j stays in its folder',
    (code) => {
      expect(safeName(code)).toMatch(/^[A-Za-z0-9_%~-]{1,150}$/);
    },
  );

  test('different codes have different names', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 80 }),
        fc.string({ unit: 'grapheme', maxLength: 80 }),
        (a, b) => {
          expect(safeName(a) === safeName(b)).toBe(a === b);
        },
      ),
    );
  });
});

describe('the content hash', () => {
  const json = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>;
  const shuffled = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(shuffled);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries([
      ...Object.entries(value)
        .reverse()
        .map(([k, v]) => [k, shuffled(v)]),
      ['absent', null],
    ]);
  };

  test('does not depend on the order of keys, nor on null or absent values', () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.string({ minLength: 1 }).filter((k) => k !== 'absent' && k !== '__proto__'),
          json,
        ),
        (data) => {
          expect(contentHash({ data: shuffled(data) as JsonObject })).toBe(contentHash({ data }));
        },
      ),
    );
  });

  test('differs where the content or the options differ', () => {
    const data = { a: [1, 2] };
    const hashes = [
      { data },
      { data: { a: [2, 1] } },
      { data: { a: ['1', 2] } },
      { data, options: { optimize: true } },
    ];
    expect(new Set(hashes.map(contentHash)).size).toBe(hashes.length);
    expect(contentHash({ data, options: {} })).toBe(contentHash({ data }));
  });
});

describe('columns', () => {
  const mapping = prepareMapping('route_plans', {});
  const context = { kind: 'route_plans', zone: 'UTC', reuseCodes: false, mapping } as const;

  test('of a query are limited, as those of a file', async () => {
    const header = Array.from({ length: 1_001 }, (_, i) => `c${i}`);
    const parsedItems: ParsedItem[] = [];
    for await (const parsed of readTable({ header, rows: [] }, 'route_plans', context)) parsedItems.push(parsed);
    const reason = 'has more than 1000 columns; remove those that are not needed';
    expect(parsedItems).toEqual([{ readError: { origin: 'route_plans', reason } }]);
  });

  test('of a record that has content in none of them are an error of its own', () => {
    const mapped = prepareMapping('points_of_interest', { external_code: 'trip.number', title: 'customer.name' });
    const records: Json[] = [
      { trip: { number: 1 }, customer: { name: 'A' } },
      { trip: { numero: 2 }, customer: { nome: 'B' } },
      { trip: { numero: null }, customer: {} },
    ];
    const parsedItems = [
      ...readRecords(records, 'a.json', { ...context, kind: 'points_of_interest', mapping: mapped }),
    ].map((parsed) => ('item' in parsed ? parsed.item.externalCode : parsed.readError));
    expect(parsedItems).toEqual([
      '1',
      {
        origin: 'a.json record 2',
        reason: 'has content, but no value in a column that is read (trip.number, customer.name); correct the mapping',
        place: { row: 2 },
      },
    ]);
  });

  test.each<[string, Json, string]>([
    ['an unknown column', { 'plan.external_code': 'V-1', 'point.name': 'B', 'point.note': 'x' }, 'V-1'],
    ['a code that is not read', { 'plan.code': 'V-1', 'point.name': 'B' }, 'V-1 V-2'],
    ['a code that is no text', { 'plan.external_code': { toString: 'x' }, 'point.name': 'B' }, 'V-1 V-2'],
    ['no fields', null, 'V-1 V-2'],
  ])('of a plan are read completely or not at all, also with a record of %s', (_what, record, rejected) => {
    const of = (code: string) => ({ 'plan.external_code': code, 'point.name': 'A' });
    const parsedItems = [...readRecords([of('V-1'), record, of('V-2'), of('V-3')], 'a.json', context)];
    const items = parsedItems.flatMap((parsed) => ('item' in parsed ? [parsed.item.externalCode] : []));
    const errors = parsedItems.flatMap((parsed) => ('readError' in parsed ? [parsed.readError] : []));
    expect(errors.map(({ externalCode }) => externalCode).join(' ')).toBe(rejected);
    for (const error of errors) expect(error).toMatchObject({ origin: 'a.json record 2', place: { row: 2 } });
    expect(items).toEqual(['V-1', 'V-2', 'V-3'].filter((code) => !rejected.includes(code)));
  });

  test.each<[string, JsonObject, object]>([
    ['its code', { 'data.external_code': 'M-7', 'data.cpf': '52998224725' }, { externalCode: 'M-7' }],
    ['the field that stands for its code', { 'data.company_registry': 'M-7' }, { externalCode: 'M-7' }],
    ['no code, if that cannot be read itself', { 'data.external_code': '#N/D', 'data.cpf': '52998224725' }, {}],
    ['no code, if that may be misspelt', { 'data.external_cod': 'M-7', 'data.cpf': '52998224725' }, {}],
    ['its code beside an unknown name', { 'data.external_code': 'M-7', 'data.note': 1 }, { externalCode: 'M-7' }],
  ])('of an agent that cannot be read give %s', async (_what, fields, known) => {
    const agents = { ...context, kind: 'agents', mapping: prepareMapping('agents', {}) } as const;
    const cells = { 'data.name': 'A', 'data.is_deliveryman': 'talvez', ...fields };
    const [record] = readRecords([cells], 'agents', agents);
    expect(record).toMatchObject({ readError: { place: { row: 1 } } });
    const { externalCode } = record && 'readError' in record ? record.readError : {};
    expect(externalCode === undefined ? {} : { externalCode }).toEqual(known);
  });

  test('of records may differ in each, but only the first forms are reported', () => {
    const records = Array.from({ length: 300 }, (_, i) => ({ [`x.${i}`]: 1 }));
    const found: FoundHeader[] = [];
    const parsedItems = [...readRecords(records, 'a.json', { ...context, onHeader: (each) => void found.push(each) })];
    expect([parsedItems.length, found.length]).toEqual([600, 100]);
  });
});

describe('the header', () => {
  const isName = columnNameTest('route_plans', prepareMapping('route_plans', {}));
  const unknown = ['NUMROM', 'DTSAI', 'DTRET', 'NMCLI', 'LOGRAD', 'TPOPER'];
  const data = ['1', '18/11/2026', '18/11/2026', 'Loja 1', 'Rua Um', 'Entrega'];

  test.each([
    ['is not a row of data whose values are names', [unknown, data, data.with(3, 'entrega')], 0],
    ['is found under a title', [['Romaneio'], ['Viagem', 'Início', 'X'], data], 1],
  ])('%s', (_name, rows, at) => expect(headerIndex(rows, { isName })).toBe(at));
});

describe('a mapping', () => {
  const columns = (mapping: Mapping, header: string[]) =>
    columnMatcher('route_plans', prepareMapping('route_plans', mapping), { isTable: true })(header);
  const mapping: Mapping = {
    'plan.external_code': 'VIAGEM',
    'plan.date_time_start': { column: 'INICIO' },
    'plan.date_time_end': { column: 'FIM', default: '2026-05-18T18:00' },
    'point.name': 'CLIENTE',
    'point.type': { column: 'TIPO', default: 'Entrega', values: { ENT: 'Entrega', COL: 'Coleta' } },
    'options.source': { value: 'G' },
  };
  const header = ['VIAGEM', 'INICIO', 'FIM', 'CLIENTE', 'TIPO', 'OBS', 'point.latitude'];

  test('renames columns, translates values, keeps canonical names and ignores the rest', () => {
    const { issues, pick } = columns(mapping, header);
    expect(issues).toEqual([]);
    expect(
      pick({
        VIAGEM: 'P1',
        INICIO: 'x',
        FIM: ' ',
        CLIENTE: 'A',
        TIPO: 'COL',
        OBS: '?',
        'point.latitude': '1',
      }),
    ).toEqual({
      'plan.external_code': 'P1',
      'plan.date_time_start': 'x',
      'point.name': 'A',
      'point.type': 'Coleta',
      'point.latitude': '1',
    });
    expect(prepareMapping('route_plans', mapping).fill).toEqual({
      'plan.date_time_end': '2026-05-18T18:00',
      'point.type': 'Entrega',
      'options.source': 'G',
    });
  });

  test('names the missing columns', () => {
    expect(
      columns(
        mapping,
        header.map((name) => name.toLowerCase()),
      ).issues[0],
    ).toBe('the mapped column "VIAGEM" (plan.external_code) is missing (did you mean "viagem"?)');
  });

  test('is rejected where it names an unknown path or a value of the wrong kind', () => {
    expect(() => prepareMapping('route_plans', { 'point.lattitude': 'LAT' })).toThrow('did you mean "point.latitude"?');
    expect(() => prepareMapping('route_plans', { 'options.optimize': { value: 'perhaps' } })).toThrow(
      'neither true nor false',
    );
  });

  test('that is absent reports every wrong column at once', () => {
    const wrong = ['Plan.External_Code', 'plan.date_time_start', 'plan.date_time_start', 'point.name', 'nota'];
    expect(columns({}, wrong).issues).toEqual([
      'unknown column "Plan.External_Code" (did you mean "plan.external_code"?); rename it, remove it or map it',
      'unknown column "nota"; rename it, remove it or map it',
      'the column "plan.date_time_start" occurs twice in the header; keep one or rename one',
      'the column "plan.external_code" is missing',
      'the column "plan.date_time_end" is missing',
    ]);
  });
});

test('the sample is two valid plans of five stops for tomorrow', () => {
  const nowMs = Date.parse('2026-05-18T02:30:00Z');
  const { name, text } = samplePlans({ nowMs, zone: 'America/Sao_Paulo', plates: ['ABC1234'] });
  // In São Paulo it is still the 17th.
  expect(name).toBe('sample-2026-05-18.json');
  const items = (JSON.parse(text) as JsonObject[]).map((plan) =>
    itemOf(plan, name, { kind: 'route_plans', zone: 'UTC' }),
  );
  expect(items).toHaveLength(2);
  for (const read of items) {
    if ('readError' in read) throw new Error(read.readError.reason);
    expect(validateItem('route_plans', read.item)).toEqual([]);
    expect(read.item.data).toMatchObject({ vehicle_plate: 'ABC1234' });
    expect(read.item.data.route_points).toHaveLength(5);
    expect(read.item.data.date_time_start).toMatch(/^2026-05-18T.*-03:00$/);
  }
});
