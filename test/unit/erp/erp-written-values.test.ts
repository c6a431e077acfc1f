// Dates and numbers as people and ERPs write them, and names of columns.
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { FEED_KINDS } from '../../../src/erp/feed-kinds.ts';
import { reasonIn } from '../../../src/erp/files/result-words.ts';
import { xlsxTable } from '../../../src/erp/formats/xlsx-table.ts';
import { DATA_FIELDS, FLAT_COLUMNS } from '../../../src/erp/items/fields.ts';
import { validateItem } from '../../../src/erp/items/schemas.ts';
import { readCell } from '../../../src/erp/rows/cell-values.ts';
import { labelledPaths, labelOf, suggestedPath } from '../../../src/erp/rows/column-names.ts';
import { columnMatcher } from '../../../src/erp/rows/flat-columns.ts';
import { prepareMapping } from '../../../src/erp/rows/mapping.ts';
import type { TableRow } from '../../../src/erp/rows/row-reader.ts';
import { type Cell, workbook, workbookOf } from '../../support/erp/erp-workbook.ts';

describe('a date-time', () => {
  test.each([
    ['18/11/2026 08:00', undefined, '2026-11-18T08:00:00'],
    ['18.11.2026 8:05:30', undefined, '2026-11-18T08:05:30'],
    ['05/05/2026 8h', undefined, '2026-05-05T08:00:00'],
    ['20261118 0800', undefined, '2026-11-18T08:00:00'],
    ['20261118080030', undefined, '2026-11-18T08:00:30'],
    ['2026-11-18T00:00:00 08:00:00', undefined, '2026-11-18T08:00:00'],
    ['2026-11-18T00:00', undefined, '2026-11-18T00:00'],
    ['2026-11-18 00:00:00 0800', undefined, '2026-11-18T08:00:00'],
    ['2026-11-18 00:00:00.000000 08:00', undefined, '2026-11-18T08:00:00'],
    ['2026-11-18T00:00:00.000 08:00:00.000', undefined, '2026-11-18T08:00:00'],
    ['18/11/2026 00:00:00 08:00', undefined, '2026-11-18T08:00:00'],
    ['03/04/2026 00:00 8h30', 'dd/MM/yyyy', '2026-04-03T08:30:00'],
    ['2026-11-18 00:00:00 00:00', undefined, '2026-11-18T00:00:00'],
    // Two times of day.
    ['2026-11-18 06:00:00 0800', undefined, '2026-11-18 06:00:00 0800'],
    ['03/04/2026 08:00', 'dd/MM/yyyy', '2026-04-03T08:00:00'],
    ['03/04/2026 08:00', 'MM/dd/yyyy', '2026-03-04T08:00:00'],
    ['3/4/26 800', 'dd/MM/yy', '2026-04-03T08:00:00'],
    ['18112026 08:00', 'ddMMyyyy', '2026-11-18T08:00:00'],
    ['181126 08:00', 'ddMMyy', '2026-11-18T08:00:00'],
    ['2026-04-03 08:00', 'dd/MM/yyyy', '2026-04-03 08:00'],
    ['soon', undefined, 'soon'],
  ])('%s with the form %s is %s', (text, dates, value) => {
    expect(readCell('moment', text, { dates })).toEqual({ value });
  });

  test.each([
    ['03/04/2026 08:00', undefined, 'set `dates: dd/MM/yyyy` or `dates: MM/dd/yyyy`'],
    ['11/18/2026 08:00', undefined, 'set `dates: MM/dd/yyyy`'],
    ['18/11/26 08:00', undefined, 'set `dates: dd/MM/yy`'],
    ['20261118', undefined, 'has no time of day'],
    ['18/11/2026', 'dd/MM/yyyy', 'has no time of day'],
    ['18/11/2026 08:00', 'dd/MM/yy', 'does not have the form dd/MM/yy'],
  ])('%s with the form %s is asked for', (text, dates, words) => {
    const read = readCell('moment', text, { dates });
    expect(read).toEqual({ issue: expect.stringContaining(words) });
    expect(read).toEqual({ issue: expect.stringContaining(`"${text}"`) });
  });
});

describe('a number', () => {
  test.each([
    ['number', '1.234,56', undefined, 1234.56],
    ['number', '1,234.56', undefined, 1234.56],
    ['number', '1.234.567', undefined, 1234567],
    ['number', '0,125', undefined, 0.125],
    ['number', '12,5', 'point', 12.5],
    ['number', '1.234', 'comma', 1234],
    ['number', '1,234', 'comma', 1.234],
    ['number', '1.234', 'point', 1.234],
    ['number', '1,234', 'point', 1234],
    ['count', '1.234', 'comma', 1234],
    ['latitude', '-23.550', 'comma', -23.55],
    ['latitude', '-23,550', undefined, -23.55],
  ] as const)('%s %s with decimal %s is %d', (type, text, decimal, value) => {
    expect(readCell(type, text, { decimal })).toEqual({ value });
  });

  test.each([
    ['number', '1.234'],
    ['number', '1,234'],
    ['count', '1,234'],
  ] as const)('%s %s without a decimal mark is asked for', (type, text) => {
    expect(readCell(type, text)).toEqual({ issue: expect.stringContaining(`"${text}" may be`) });
  });
});

test.each(['#N/D', '#REF!', '#VALOR!', '#DIV/0!', '#nome?', '#NÚM!', '#NULO!', 'Err:502', ' ######## '])(
  'the text %s of a spreadsheet is an error in every type of column',
  (text) => {
    for (const type of ['text', 'plate', 'plates', 'document', 'address', 'number', 'moment', 'boolean'] as const)
      expect(readCell(type, text)).toEqual({ issue: expect.stringContaining('is an error of the spreadsheet') });
  },
);

test.each([
  ['text', '1,23457E+11'],
  ['text', '1.5e+12'],
  ['text', '1E+11'],
  ['document', '5,29982E+10'],
] as const)('the %s %s has lost digits and is not read', (type, text) => {
  expect(readCell(type, text)).toEqual({ issue: expect.stringContaining('has lost digits') });
});

test.each(['46344.33', '46344,3333', '46344 08:00', '2026-11-18T00:00:00 0.3333'])(
  'the date-time %s is a number of days, and is asked for as a date',
  (text) => {
    expect(readCell('moment', text)).toEqual({ issue: expect.stringContaining('format the column as a date') });
  },
);

describe('a cell of a workbook', () => {
  const midnight = new Date('2026-05-18T00:00:00Z');
  const morning = new Date('2026-05-18T08:00:00Z');
  const noTime = { issue: expect.stringContaining('"2026-05-18" has no time of day') };
  const noResult = { issue: expect.stringContaining('is a formula that was saved without its result') };

  test.each<[string, Cell, object]>([
    ['that shows a date alone', { date: midnight, format: 'date' }, noTime],
    ['that shows a date alone in a format of its own', { date: midnight, format: 'own date' }, noTime],
    ['that shows midnight', midnight, { value: '2026-05-18T00:00:00' }],
    [
      'that shows midnight in a format of its own',
      { date: midnight, format: 'own date-time' },
      { value: '2026-05-18T00:00:00' },
    ],
    ['that shows a date and has a time', { date: morning, format: 'date' }, { value: '2026-05-18T08:00:00' }],
    ['with a formula without a result', { formula: 'A1+1' }, noResult],
    ['with a formula whose result was left empty', { formula: 'A1+1', result: '' }, noResult],
  ])('%s', async (_what, cell, reading) => {
    const { rows } = await xlsxTable(
      workbook([
        ['A', 'B'],
        [cell, 46160],
      ]),
    );
    const [row] = [...(rows as Iterable<TableRow>)];
    expect(readCell('moment', row?.cells.A)).toEqual(reading);
    expect(row?.cells.B).toBe(46160);
  });

  test('that another program wrote: with prefixes, days from 1904, and every number with a fraction', async () => {
    const text = (ref: string) => `<x:c r="${ref}" t="str"><x:v>${ref}</x:v></x:c>`;
    const number = (ref: string, style: number, days: number) =>
      `<x:c r="${ref}" s="${style}"><x:v>${days}.0</x:v></x:c>`;
    const rows = [
      `<row r="1">${text('A1')}${text('B1')}${text('C1')}</row>`,
      `<row r="2">${number('A2', 1, 44_698)}${number('B2', 2, 46_160)}<x:c r="C2"><x:f>A1+1</x:f></x:c></row>`,
    ];
    const day = '<numFmt numFmtId="164" formatCode="dd/mm/yyyy"/>';
    const bytes = workbookOf(`<sheetData>${rows.join('')}</sheetData>`, {
      properties: '<workbookPr date1904="1"/>',
      styles: `<numFmts><numFmt numFmtId="164" formatCode="0.00"/></numFmts><cellXfs><xf/><xf numFmtId="14"/><xf numFmtId="164"/></cellXfs><dxfs><dxf>${day}</dxf></dxfs>`,
    });
    const [row] = [...((await xlsxTable(bytes)).rows as Iterable<TableRow>)];
    expect(readCell('moment', row?.cells.A1)).toEqual(noTime);
    expect(row?.cells.B1).toBe(46_160);
    expect(readCell('moment', row?.cells.C1)).toEqual(noResult);
  });

  test('with a formula without a result is no cell outside the header', async () => {
    const none: Cell = { formula: 'A1+1' };
    const tableOf = (...cells: Cell[]) => xlsxTable(workbook([['A'], cells]));
    expect([...((await tableOf(1, null, none)).rows as Iterable<TableRow>)]).toMatchObject([{ cells: { A: 1 } }]);
    await expect(tableOf(1, none, 2)).rejects.toThrow('row 2 has cells outside the header');
  });

  test('with a formula whose result is an empty text is empty', async () => {
    const { rows } = await xlsxTable(
      workbook([
        ['A', 'B'],
        [{ formula: '""', type: 'str', result: '' }, 1],
      ]),
    );
    expect([...(rows as Iterable<TableRow>)]).toMatchObject([{ cells: { A: null, B: 1 } }]);
  });
});

test.each([['2026-11-18 00:00:00'], ['2026-11-18T00:00:00.000000'], ['2026-11-18 00:00']])(
  'a date with midnight, %s, has no time of day where the joined column of times is empty',
  (date) => {
    const mapping = prepareMapping('route_plans', { 'plan.date_time_start': { columns: ['DATA', 'HORA'] } });
    const { pick } = columnMatcher('route_plans', mapping, { isTable: false })(['DATA', 'HORA']);
    expect(pick({ DATA: date, HORA: null })).toEqual({ 'plan.date_time_start': '2026-11-18' });
    expect(readCell('moment', pick({ DATA: date, HORA: '08:00' })['plan.date_time_start'])).toEqual({
      value: '2026-11-18T08:00:00',
    });
  },
);

test('an error in one of the joined columns is the error of all', () => {
  const mapping = prepareMapping('route_plans', { 'point.address': { columns: ['RUA', 'NUM'] } });
  const { pick } = columnMatcher('route_plans', mapping, { isTable: false })(['RUA', 'NUM']);
  expect(pick({ RUA: 'Rua Um', NUM: '#REF!' })).toEqual({ 'point.address': '#REF!' });
});

test.each([
  ['route_points[0].latitude: outside -90..90', 'route_points[0].latitude: fora de -90 a 90'],
  ["plan.date_time_start differs from the plan's rows above", 'plan.date_time_start é diferente das linhas acima'],
  ['unknown column "X"; rename it, remove it or map it', 'coluna desconhecida "X"; renomeie, remova ou mapeie'],
  ['point rejected: Endereço inválido (line 3)', 'parada rejeitada: Endereço inválido (line 3)'],
  ['point rejected: S7: Address not found', 'parada rejeitada: S7: Address not found'],
  ['No vehicle has this plate (XXX0X00)', 'Nenhum veículo tem esta placa (XXX0X00)'],
])('%s in Portuguese is %s', (reason, portuguese) => {
  expect(reasonIn('pt', reason)).toBe(portuguese);
  expect(reasonIn('en', reason)).toBe(reason);
});

describe('in Portuguese', () => {
  const FOLDER = resolve(import.meta.dirname, '../../../src/erp');
  const SOURCES = ['formats/*.ts', 'rows/{cell-values,written-values,flat-columns,flat-rows,row-reader}.ts']
    .concat('items/{field-schemas,schemas,item}.ts', 'files/drop-f*.ts', 'batches.ts')
    .flatMap((pattern) => globSync(pattern, { cwd: FOLDER }));
  /** Texts of which a reason is put together, and other texts. */
  const PARTS = ["the plan's rows", "the point's rows", 'the rows', 'first sheet', 'once for each start day'];
  const OTHER = /^[A-Z][a-z]|or end$|^: may be|^"7" \(|^; if the ERP|^sheet |^7 (?:row|record) 7$/;
  /** Words of both languages. */
  const SHARED = ['as', 'no', 'use', 'byte', 'bytes'];
  const SAMPLES: Record<string, string> = {
    where: 'file',
    rows: "the plan's rows",
    meant: '',
    sheetName: 'sheet "X"',
    placeOf: '1:2',
  };
  const written = SOURCES.flatMap((file) => {
    const code = readFileSync(join(FOLDER, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|(?:^|\s)\/\/ .*$/gm, '');
    return [...code.matchAll(/"([^"\n]*)"|'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`/g)].map(([, a, b, c]) =>
      (a ?? b ?? c ?? '')
        .replaceAll('\\`', '`')
        .replace(/\$\{((?:[^{}]|\{[^{}]*\})*)\}/g, (_, value: string) => SAMPLES[value.replace(/\W.*/s, '')] ?? '7'),
    );
  });
  const reasons = written.filter((text) => /[a-z]{2,} \S/.test(text) && !OTHER.test(text) && !PARTS.includes(text));
  const whole = [
    'the first sheet is empty; its first row must name the columns',
    'row 3 of the sheet "Resumo" is empty; correct `header_row` of the feed',
    'has no sheet 2, only Plans, Resumo; correct `sheet` of the feed',
    'not UTF-8 at byte 7: may be "SÇO" (windows-1252) or "SÃO" (ibm850); save as UTF-8, or set `encoding` of the feed',
    'a quotation mark is open or misplaced near line 3 (CSV_QUOTE_NOT_CLOSED); no item of the file was read',
    'external_code or company_registry or cpf: is missing',
    'the mapped column "VIAGEM" (plan.external_code) is missing (did you mean "viagem"?)',
    'unknown column "X" (did you mean "point.name"?); rename it, remove it or map it',
    "plan.date_time_start differs from the plan's rows above",
    'could not be read',
  ];
  /** Without what is quoted, and without names of fields and formats. */
  const wordsOf = (text: string) =>
    text.replace(/"[^"]*"|`[^`]*`|\S*[_.]\S*|\w+:/g, '').match(/(?<![\p{L}\d-])\p{Ll}{2,}(?![\p{L}\d-])/gu) ?? [];

  test('no word of a reason stays English', () => {
    expect(reasons.length).toBeGreaterThan(60);
    const wrong: object[] = [];
    for (const reason of [...reasons, ...whole]) {
      const english = new Set(wordsOf(reason));
      const left = wordsOf(reasonIn('pt', reason)).filter((word) => english.has(word) && !SHARED.includes(word));
      wrong.push(...(left.length > 0 ? [{ reason, left }] : []));
    }
    expect(wrong).toEqual([]);
  });

  test('a reason is not translated in part', () => {
    const reason = 'plan.external_code is empty, and the moon is not';
    expect(reasonIn('pt', reason)).toBe(reason);
  });
});

test.each(FEED_KINDS)('every rule of %s is translated', (kind) => {
  const wrong = Object.fromEntries(Object.keys(DATA_FIELDS[kind].types).map((name) => [name, {}]));
  const reasons = [{}, wrong].flatMap((data) => validateItem(kind, { data: data as JsonObject }));
  expect(reasons.length).toBeGreaterThan(3);
  for (const reason of reasons) expect(reasonIn('pt', reason)).not.toBe(reason);
});

describe('the name of a column', () => {
  test.each(FEED_KINDS)('%s: every field has a label of its own', (kind) => {
    const pathOf = labelledPaths(kind);
    for (const path of Object.keys(FLAT_COLUMNS[kind].types)) {
      expect(labelOf(kind, path)).not.toBe(path);
      expect(pathOf(labelOf(kind, path).toUpperCase())).toBe(path);
    }
  });

  test.each([
    ['NUM_VIAGEM', 'plan.external_code'],
    ['Dt. Saída', 'plan.date_time_start'],
    ['DT_INI', 'plan.date_time_start'],
    ['JANELA_INI', 'point.time_window.start'],
    ['JANELA_FIM', 'point.time_window.end'],
    ['HORA_INI', 'point.time_window.start'],
    ['ENDERECO_', 'point.address'],
    ['latitudee', 'point.latitude'],
    ['nota', undefined],
  ])('%s suggests %s', (column, path) => expect(suggestedPath('route_plans', column)).toBe(path));
});
