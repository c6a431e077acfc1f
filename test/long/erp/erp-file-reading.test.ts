// Which files of a drop folder are read and in which formats, and how every kind of bad input is reported while the other
// files go on.
import { mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, truncateSync, utimesSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Mapping } from '../../../src/erp/rows/mapping.ts';
import type { FilesSettings } from '../../../src/erp/sources/files.ts';
import { openSource } from '../../../src/erp/sources.ts';
import {
  clock,
  codesOf,
  drop,
  dropPlans,
  finish,
  folder,
  inFolder,
  open,
  outcome,
  plan,
  resultIn,
  take,
  useDropFolder,
} from '../../support/erp/drop-folder.ts';
import { contextFor, drain } from '../../support/erp/erp-benches.ts';
import { workbook } from '../../support/erp/erp-workbook.ts';

useDropFolder();

describe('which files are read', () => {
  test('every JSON, CSV and XLSX file, and nothing hidden, unfinished, foreign or in a folder', async () => {
    dropPlans('b.json', 'B');
    dropPlans('A.JSON', 'A');
    for (const name of ['.hidden.json', '~$open.xlsx', 'x.json.tmp', 'x.csv.part', 'readme.txt']) drop(name, '?');
    mkdirSync(join(folder, 'sub.json'));
    drop('one.json', JSON.stringify(plan('one')));
    expect(codesOf(await take(open())).toSorted()).toEqual(['A', 'B', 'one']);
  });

  test('a file that still grows is left alone until it has stopped', async () => {
    dropPlans('grows.json', 'P1');
    const source = open();
    const reading = drain(source, { ...clock, advance: growing });
    let polls = 0;
    async function growing(ms: number) {
      if (polls++ === 0) await appendFile(join(folder, 'grows.json'), ' ');
      await clock.advance(ms);
    }
    expect(codesOf(await reading)).toEqual([]);
    expect(codesOf(await drain(source, clock))).toEqual(['P1']);
  });

  test.each([
    ['back', -86_400_000],
    ['ahead', 86_400_000],
  ])('a file is taken a fixed time after it has stopped growing, though the clock is set %s', async (_way, byMs) => {
    dropPlans('grows.json', 'P1');
    const source = open();
    let polls = 0;
    const growing = async (ms: number) => {
      if (polls++ === 0) await appendFile(join(folder, 'grows.json'), ' ');
      await clock.advance(ms);
    };
    await drain(source, { ...clock, advance: growing });
    clock.set(byMs);
    const before = clock.monotonic();
    expect(codesOf(await drain(source, clock))).toEqual(['P1']);
    expect(clock.monotonic() - before).toBe(2_000);
  });

  test('a folder that is polled is not waited for again', async () => {
    dropPlans('a.json', 'P1');
    const source = open();
    await drain(source, clock);
    await clock.advance(2_000);
    const before = clock.now();
    expect(codesOf(await drain(source, clock))).toEqual(['P1']);
    expect(clock.now()).toBe(before);
  });

  test('an older file that has to be waited for is read before a newer one', async () => {
    const dropAged = (name: string, code: string, time: number) => {
      dropPlans(name, code);
      utimesSync(join(folder, name), time, time);
    };
    const source = open();
    dropAged('b.json', 'NEW', 2_000);
    await drain(source, clock);
    dropAged('a.json', 'OLD', 1_000);
    expect(codesOf(await drain(source, clock))).toEqual(['OLD', 'NEW']);
  });

  test('a file that vanishes between the listing and the read is skipped', async () => {
    dropPlans('a.json', 'P1');
    dropPlans('b.json', 'P2');
    dropPlans('c.csv', 'P3');
    const source = open();
    const batches = await drain(source, clock, async () => {
      for (const name of ['b.json', 'c.csv']) rmSync(join(folder, name));
    });
    expect(codesOf(batches)).toEqual(['P1']);
  });
});

describe('formats', () => {
  const header = 'plan.external_code;plan.date_time_start;plan.date_time_end;point.name;point.latitude;point.longitude';
  const line = 'P1;2026-05-18 08:00;2026-05-18 18:00;"São; João";-23,55;-46,63';

  test.each([
    ['UTF-8 with semicolons', Buffer.from(`${header}\r\n${line}\r\n\r\n`)],
    ['UTF-8 with a mark', Buffer.from(`\ufeff${header}\n${line}`)],
    ['UTF-16', Buffer.from(`\ufeff${header}\n${line}`, 'utf16le')],
    ['tabs', Buffer.from(`${header}\n${line}`.replaceAll(';', '\t').replace('São\t', 'São;'))],
  ])('CSV in %s is read', async (_name, bytes) => {
    drop('a.csv', bytes);
    const [batch] = await drain(open(), clock);
    expect(batch?.readErrors).toEqual([]);
    expect(batch?.items).toMatchObject([
      {
        externalCode: 'P1',
        origin: 'a.csv row 2',
        data: {
          date_time_start: '2026-05-18T08:00:00-03:00',
          route_points: [{ name: 'São; João', latitude: -23.55, longitude: -46.63 }],
        },
      },
    ]);
  });

  test('XLSX with date cells and merged cells is read as displayed', async () => {
    const start = new Date('2026-05-18T08:00:00Z');
    const end = new Date('2026-05-18T18:30:00Z');
    const rows = [
      [
        'plan.external_code',
        'plan.date_time_start',
        'plan.date_time_end',
        'point.name',
        'point.address',
        'item.external_code',
      ],
      [4711, start, end, 'A', 'Rua Um, 1', 'i1'],
      [null, null, null, null, null, 'i2'],
      [null, null, null, 'B', 'Rua Dois, 2', null],
    ];
    drop('a.xlsx', workbook(rows, ['A2:A4', 'B2:B4', 'C2:C4', 'D2:D3', 'E2:E3']));
    const [batch] = await drain(open(), clock);
    expect(batch?.readErrors).toEqual([]);
    expect(batch?.items).toMatchObject([
      {
        externalCode: '4711',
        data: {
          date_time_start: '2026-05-18T08:00:00-03:00',
          date_time_end: '2026-05-18T18:30:00-03:00',
          route_points: [
            { name: 'A', route_point_items: [{ external_code: 'i1' }, { external_code: 'i2' }] },
            { name: 'B' },
          ],
        },
      },
    ]);
  });

  test('the other kinds are flat records, and a mapping renames', async () => {
    drop('a.csv', 'NOME,DOC,MATRICULA\nSample Agent,529.982.247-25,M1\n');
    const source = open(
      { kind: 'agents' },
      {
        name: 'NOME',
        cpf: 'DOC',
        company_registry: 'MATRICULA',
        is_deliveryman: { value: true },
      },
    );
    const [batch] = await drain(source, clock);
    expect(batch?.items).toEqual([
      {
        externalCode: 'M1',
        startDay: '',
        origin: 'a.csv row 2',
        rows: [2],
        data: { name: 'Sample Agent', cpf: '52998224725', company_registry: 'M1', is_deliveryman: true },
      },
    ]);
  });
});

describe('files as spreadsheets write them', () => {
  const mapping: Mapping = {
    'plan.external_code': 'VIAGEM',
    'plan.date_time_start': { columns: ['DATA', 'SAIDA'] },
    'plan.date_time_end': { columns: ['DATA', 'RETORNO'] },
    'point.name': 'CLIENTE',
    'item.external_code': 'NF',
    'item.value': 'VALOR',
  };
  const header = ['VIAGEM', 'DATA', 'SAIDA', 'RETORNO', 'CLIENTE', 'NF', 'VALOR'];
  const read = async (name: string, content: string | Buffer, file: Partial<FilesSettings> = {}) => {
    drop(name, content);
    const settings = { source: 'files', folder, settleMs: 2_000, keepFilesMs: 1, mapping, ...file } as const;
    return (await drain(openSource(settings, contextFor(clock)), clock)).flatMap(({ items, readErrors }) => [
      ...items.map(({ data, origin }) => ({ ...data, origin })),
      ...readErrors,
    ]);
  };
  const plan = {
    external_code: 'V1',
    date_time_start: '2026-11-18T08:00:00-03:00',
    date_time_end: '2026-11-18T18:30:00-03:00',
    route_points: [{ name: 'São João', route_point_items: [{ external_code: 'NF1', value: 1234.56 }] }],
  };
  const semicolons = (...rows: (readonly string[])[]) => rows.map((row) => row.join(';')).join('\r\n');
  const row = ['V1', '18/11/2026', '08:00', '18h30', 'São João', 'NF1', '1.234,56'];

  test('a CSV file in Windows-1252 with titles above its header and commas in them', async () => {
    const titles = [['Relatório, de viagens, e entregas'], ['']];
    const text = semicolons(...titles, header, row);
    expect(await read('a.csv', Buffer.from(text, 'latin1'))).toEqual([{ ...plan, origin: 'a.csv row 4' }]);
  });

  test('a CSV file of an MS-DOS program is asked for its encoding, and read in it', async () => {
    const bytes = Buffer.from(semicolons(header, row.with(4, 'S\xc7O JO\xc7O')), 'latin1');
    expect(await read('a.csv', bytes)).toMatchObject([
      {
        reason:
          'not UTF-8 at byte 72: may be "SÇO" (windows-1252) or "SÃO" (ibm850); save as UTF-8, or set `encoding` of the feed',
      },
    ]);
    expect(await read('a.csv', bytes, { encoding: 'ibm850' })).toMatchObject([
      { route_points: [{ name: 'SÃO JOÃO' }] },
    ]);
  });

  test('a workbook with date and time cells on the sheet that is named', async () => {
    const time = (hour: number, minute: number) => new Date(Date.UTC(1899, 11, 30, hour, minute));
    const cells = ['V1', new Date(Date.UTC(2026, 10, 18)), time(8, 0), time(18, 30), 'São João', 'NF1', 1234.56];
    const content = workbook([['Viagens'], header, cells]);
    expect(await read('a.xlsx', content, { sheet: 'Plans' })).toEqual([{ ...plan, origin: 'a.xlsx row 3' }]);
    expect(await read('a.xlsx', content, { sheet: 'Resumo' })).toMatchObject([
      { reason: 'has no sheet "Resumo", only Plans; correct `sheet` of the feed' },
    ]);
  });

  test.each(['a.xlsx', 'a.csv'])('an error of a formula in %s is neither empty nor a text', async (name) => {
    const cells = ['V1', '18/11/2026', '08:00', '18:30', '#N/A', 'NF1', '1'];
    const content = name.endsWith('.csv')
      ? semicolons(header, cells)
      : workbook([header, cells.map((cell) => (cell === '#N/A' ? { error: cell } : cell))]);
    expect(await read(name, content)).toMatchObject([
      {
        reason: expect.stringContaining('"#N/A" is an error of the spreadsheet'),
        externalCode: 'V1',
        place: { row: 2, column: 'CLIENTE', value: '#N/A' },
      },
    ]);
  });

  test('a header where the feed says, in the encoding that it names', async () => {
    const text = semicolons(['VIAGEM', 'DATA', 'CLIENTE'], ['', ''], header, row);
    expect(await read('a.csv', Buffer.from(text, 'utf16le'), { encoding: 'utf-16le', headerRow: 3 })).toMatchObject([
      plan,
    ]);
  });

  test.each([
    ['03/04/2026', '1', 'may be day/month or month/day; set `dates: dd/MM/yyyy`', 'DATA + SAIDA', '03/04/2026 08:00'],
    ['18/11/2026', '1.234', 'may be a fraction or thousands; set `decimal: comma`', 'VALOR', '1.234'],
  ])('%s and %s are not guessed: the error has row, column and value', async (date, number, words, column, value) => {
    const unclear = row.with(1, date).with(6, number);
    expect(await read('a.csv', semicolons(header, unclear))).toContainEqual(
      expect.objectContaining({ reason: expect.stringContaining(words), place: { row: 2, column, value } }),
    );
    const said = { dates: 'dd/MM/yyyy', decimal: 'comma' } as const;
    expect(await read('a.csv', semicolons(header, unclear), said)).toMatchObject([{ external_code: 'V1' }]);
  });

  test.each([
    ['a.json', '[{"TRIP": 1}, {"TRIP": 2}]', 'has none of the mapped columns (VIAGEM, DATA,'],
    ['a.csv', semicolons([...header, 'OBS'], ['', '', '', '', '', '', '', 'x']), 'has content, but no row has a value'],
  ])('%s without a value in any mapped column never ends without an error', async (name, content, words) => {
    const readings = await read(name, content);
    expect(readings[0]).toMatchObject({ reason: expect.stringContaining(words) });
    expect(readings.every((reading) => 'reason' in reading)).toBe(true);
  });
});

describe('bad input', () => {
  test('an endless line is reported at once, however long it is', async () => {
    drop('long.csv', '['.repeat(200_000));
    const [batch] = await take(open());
    expect(batch?.items).toEqual([]);
    expect(batch?.readErrors[0]?.reason).toMatch(/column|CSV/);
  });

  test('broken JSON of many megabytes is reported by its position', async () => {
    drop('large.json', `{"external_code":"${'x'.repeat(9_000_000)}`);
    const readErrors = (await take(open())).flatMap((batch) => batch.readErrors);
    expect(readErrors.map(({ reason }) => reason)).toEqual(['broken JSON at 1:18']);
  });

  test('a workbook that was written twice into one file ends the reading', async () => {
    const sheet = workbook([
      ['plan.external_code', 'plan.date_time_start', 'plan.date_time_end', 'point.name', 'point.address'],
      ['P1', '2026-05-18T08:00', '2026-05-18T18:00', 'A', 'Rua Um, 1'],
    ]);
    drop('twice.xlsx', Buffer.concat([sheet, sheet]));
    const [batch] = await take(open());
    expect((batch?.items.length ?? 0) + (batch?.readErrors.length ?? 0)).toBe(1);
  });

  const columns = 'plan.external_code,plan.date_time_start,plan.date_time_end,point.name';

  test.each<[string, string | Buffer, string]>([
    ['broken.json', '[\n  {"external_code": "P1",}\n]', 'broken JSON at 2:26'],
    ['number.json', '7', 'is not an object'],
    ['no-code.json', '{"date_time_start": "x"}', 'external_code: is missing'],
    ['empty.csv', '', 'the file is empty'],
    [
      'missing.csv',
      'plan.external_code,plan.date_time_start,point.name\nP1,x,A',
      'the column "plan.date_time_end" is missing',
    ],
    ['case.csv', `${columns.toUpperCase()}\nP1,x,y,A`, 'did you mean "plan.external_code"?'],
    ['twice.csv', `${columns},point.name\nP1,x,y,A,B`, 'occurs twice in the header'],
    ['latin.csv', Buffer.from(`${columns}\nP1,x,y,S\xc6o`, 'latin1'), 'not UTF-8 at byte'],
    ['quote.csv', `${columns}\nP1,x,y,"A`, 'a quotation mark is open or misplaced'],
    ['wide.csv', `${columns}\nP1,x,y,A,B`, 'row 2 has more cells than the header'],
    ['number.csv', `${columns},point.latitude\nP1,x,y,A,"1.234,5"`, 'point.latitude is not a number'],
    ['text.xlsx', 'not a workbook', 'is not a readable XLSX workbook'],
    ['empty.xlsx', workbook([]), 'the first sheet is empty'],
  ])('%s is reported clearly, goes to failed/, and the other files go on', async (name, content, words) => {
    drop(name, content);
    dropPlans('zzz.json', 'good');
    const source = open();
    expect(codesOf(await take(source))).toContain('good');
    await finish(source, outcome('good'));
    expect(inFolder('done')).toContain('zzz.json');
    expect(inFolder('failed')).toEqual([name, `${name}.result.json`]);
    expect(readFileSync(join(folder, 'failed', `${name}.result.json`), 'utf8')).toContain(
      JSON.stringify(words).slice(1, -1),
    );
  });

  test('a JSON file of 300 MB is rejected unread', async () => {
    drop('huge.json', '[');
    truncateSync(join(folder, 'huge.json'), 300 * 1024 * 1024);
    const source = open();
    await take(source);
    await finish(source);
    expect(resultIn('failed/huge.json').faults[0].reason).toContain('file larger than 64 MB');
  });

  const START = '2026-05-18T08:00';
  const END = '2026-05-18T18:00';
  /** Several batches, and more than one chunk of the file, come before the break. */
  const lines = Array.from({ length: 2_000 }, (_, i) => `P${i},${START},${END},A`);
  const cells = lines.map((line) => line.split(','));

  test.each<[string, string | Buffer, string]>([
    ['quote.csv', [columns, ...lines, ',,,"B'].join('\n'), 'a quotation mark is open or misplaced'],
    ['wide.csv', [columns, ...lines, `P2000,${START},${END},A,B`].join('\n'), 'row 2002 has more cells'],
    [
      'latin.csv',
      Buffer.concat([Buffer.from([columns, ...lines, ''].join('\n')), Buffer.from('P2000,S\xc6o', 'latin1')]),
      'not UTF-8 at byte',
    ],
    [
      'wide.xlsx',
      workbook([columns.split(','), ...cells, ['P2000', START, END, 'A', 'B']]),
      'row 2002 has cells outside the header',
    ],
    ['cut.json', JSON.stringify(lines.map((_, i) => plan(`P${i}`))).slice(0, -2), 'broken JSON at 1:'],
  ])('%s breaks off: it gives one read error and no item, and goes to failed/', async (name, content, words) => {
    drop(name, content);
    const source = open();
    const batches = await take(source);
    await finish(source);
    expect(batches).toMatchObject([{ part: 1, last: true, items: [], readErrors: [{ origin: name }] }]);
    expect(batches[0]?.readErrors).toHaveLength(1);
    expect(batches[0]?.readErrors[0]?.place).toEqual(words.startsWith('row 2002') ? { row: 2002 } : undefined);
    expect(inFolder('failed')).toEqual([name, `${name}.result.json`]);
    expect(resultIn(`failed/${name}`)).toMatchObject({ results: [], faults: [{ origin: name }] });
    expect(resultIn(`failed/${name}`).faults[0].reason).toContain(words);
  });

  test('a CSV file that changes during the read gives no last part, and is read again', async () => {
    drop('a.csv', [columns, ...lines].join('\n'));
    const source = open();
    const cut = await drain(source, clock, async () => utimesSync(join(folder, 'a.csv'), 1, 1));
    expect(cut.map(({ last }) => last)).toEqual([false, false, false]);
    expect(codesOf(await take(source))).toHaveLength(2_000);
  });

  test('a CSV file that breaks off only because it changes during the read gives no read error, and is read again', async () => {
    // More than the parser reads ahead.
    const text = [columns, ...lines.map((line) => line + 'B'.repeat(2_000))].join('\n');
    drop('a.csv', text);
    const source = open();
    const cut = await drain(source, clock, async () => drop('a.csv', 'x"'.repeat(text.length)));
    expect(cut.map(({ last }) => last)).not.toContain(true);
    expect(cut.flatMap(({ readErrors }) => readErrors)).toEqual([]);
    drop('a.csv', text);
    expect(codesOf(await take(source))).toHaveLength(2_000);
  });
});

describe('a CSV file that cannot be read', () => {
  const header = 'plan.external_code,plan.date_time_start,plan.date_time_end,point.name,point.address';
  const rows = 'P1,2026-05-18T08:00,2026-05-18T18:00,A,"Rua Um, 1"\n'.repeat(5_000);

  const openFiles = (): string[] =>
    readdirSync('/proc/self/fd').flatMap((fd) => {
      try {
        return [readlinkSync(`/proc/self/fd/${fd}`)].filter((path) => path.startsWith(folder));
      } catch {
        return [];
      }
    });

  test.each([
    ['a wrong header', `wrong,${header}\n${rows}`],
    ['a row that is too long', `${header}\na,b,c,d,e,f\n${rows}`],
    ['a quotation mark that stays open', `${header}\n"P1${rows}${rows}${rows}${rows}${rows}`],
  ])('is closed: %s', async (_name, text) => {
    drop('a.csv', text);
    const batches = await drain(open(), clock);
    expect(batches.flatMap(({ readErrors }) => readErrors)).toHaveLength(1);
    expect(openFiles()).toEqual([]);
  });
});
