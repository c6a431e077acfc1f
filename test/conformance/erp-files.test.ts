// The drop folder: when a file is read, what becomes of it, every crash between the steps of moving it, and every
// kind of bad input told in clear words while the others go on.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createManualClock, type ManualClock } from '../../src/core/manual-clock.ts';
import type { Mapping } from '../../src/erp/mapping.ts';
import type { ErpBatch, ErpSource, FeedKind, Outcome } from '../../src/erp/source.ts';
import { openSource } from '../../src/erp/sources.ts';
import { contextFor, csvText, drain, NOW, stopOutcome, temporaryFolder } from './erp-benches.ts';
import { workbook } from './erp-workbook.ts';

let folder: string;
let clock: ManualClock;

beforeEach(() => {
  folder = temporaryFolder();
  clock = createManualClock(NOW);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = (kind: FeedKind = 'route_plans', mapping: Mapping = {}): ErpSource =>
  openSource({ source: 'files', folder, settleMs: 2_000, mapping }, contextFor(clock, kind));

const drop = (name: string, content: string | Buffer): void => writeFileSync(join(folder, name), content);
const plan = (code: string) => ({
  external_code: code,
  date_time_start: '2026-05-18T08:00',
  date_time_end: '2026-05-18T18:00',
  route_points: [{ name: 'A', address: 'Rua Um, 1' }],
});
const dropPlans = (name: string, ...codes: string[]): void => drop(name, JSON.stringify(codes.map(plan)));

const take = (source: ErpSource): Promise<ErpBatch[]> => drain(source, clock, (batch) => source.taken(batch));
const codesOf = (batches: readonly ErpBatch[]): string[] =>
  batches.flatMap(({ things }) => things.map(({ externalCode }) => externalCode));
const outcome = (externalCode: string, state: Outcome['state'] = 'confirmed'): Outcome => ({
  externalCode,
  state,
  remoteId: state === 'confirmed' ? 7 : null,
  message: null,
});
const inFolder = (place = ''): string[] => {
  const path = join(folder, place);
  return existsSync(path)
    ? readdirSync(path)
        .filter((name) => name.includes('.'))
        .sort()
    : [];
};
const resultIn = (path: string) => JSON.parse(readFileSync(join(folder, `${path}.result.json`), 'utf8'));
async function awaited(source: ErpSource): Promise<string[]> {
  const codes: string[] = [];
  for await (const page of source.awaited()) codes.push(...page);
  return codes;
}

describe('which files are read', () => {
  test('every JSON, CSV and XLSX file, and nothing hidden, unfinished, foreign or in a folder', async () => {
    dropPlans('b.json', 'B');
    dropPlans('A.JSON', 'A');
    for (const name of ['.hidden.json', '~$open.xlsx', 'x.json.tmp', 'x.csv.part', 'readme.txt'])
      drop(name, '?');
    mkdirSync(join(folder, 'sub.json'));
    drop('one.json', JSON.stringify(plan('one')));
    expect(codesOf(await take(open()))).toEqual(['A', 'B', 'one']);
  });

  test('a file that still grows is left alone until it has stopped', async () => {
    dropPlans('grows.json', 'P1');
    const source = open();
    const reading = drain(source, { ...clock, advance: growing });
    let looks = 0;
    async function growing(ms: number) {
      if (looks++ === 0) await appendFile(join(folder, 'grows.json'), ' ');
      await clock.advance(ms);
    }
    expect(codesOf(await reading)).toEqual([]);
    expect(codesOf(await drain(source, clock))).toEqual(['P1']);
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

  test('a file that vanishes between the look and the reading is passed over', async () => {
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

describe('what becomes of a file', () => {
  test('it stays until every thing is final, then goes to done/ with its result', async () => {
    dropPlans('a.json', 'P1', 'P2');
    const source = open();
    await take(source);
    await source.acknowledge([outcome('P1'), outcome('P2', 'unknown')]);
    expect(inFolder()).toEqual(['a.json']);
    expect(codesOf(await take(source))).toEqual([]);
    expect(await awaited(source)).toEqual(['P2']);
    await source.acknowledge([outcome('P2')]);
    expect(inFolder()).toEqual([]);
    expect(inFolder('pending')).toEqual([]);
    expect(inFolder('done')).toEqual(['a.json', 'a.json.result.json']);
    expect(resultIn('done/a.json')).toEqual({
      file: 'a.json',
      read_at: '2026-05-17T12:00:02.000Z',
      finished_at: '2026-05-17T12:00:02.000Z',
      results: ['P1', 'P2'].map((code) => ({
        external_code: code,
        state: 'confirmed',
        remote_id: 7,
        message: null,
        reasons: [],
      })),
      faults: [],
    });
  });

  test.each(['rejected', 'cancelled'] as const)('one thing %s puts it into failed/', async (state) => {
    dropPlans('a.json', 'P1', 'P2');
    const source = open();
    await take(source);
    await source.acknowledge([outcome('P1'), outcome('P2', state)]);
    expect(inFolder('failed')).toEqual(['a.json', 'a.json.result.json']);
  });

  test('a name that is taken gets a number', async () => {
    for (const code of ['P1', 'P2', 'P3']) {
      dropPlans('a.json', code);
      const source = open();
      await take(source);
      await source.acknowledge([outcome(code)]);
    }
    expect(inFolder('done').filter((name) => !name.includes('result'))).toEqual([
      'a-2.json',
      'a-3.json',
      'a.json',
    ]);
    expect(resultIn('done/a-3.json').results[0].external_code).toBe('P3');
  });

  test('a batch that is taken twice counts once', async () => {
    drop('bad.json', '{');
    const source = open();
    const [batch] = await take(source);
    await source.taken(batch as ErpBatch);
    expect(inFolder('failed')).toEqual(['bad.json', 'bad.json.result.json']);
    expect(inFolder('pending')).toEqual([]);
  });

  test('a plan that is withdrawn by a later part of its file is awaited no more', async () => {
    const row = (code: string) => ({
      'plan.external_code': code,
      'plan.date_time_start': '2026-05-18T08:00',
      'plan.date_time_end': '2026-05-18T18:00',
      'point.name': 'A',
    });
    const codes = Array.from({ length: 600 }, (_, i) => `P${i}`);
    drop('a.csv', csvText([...codes, 'P0'].map(row)));
    const source = open();
    await take(source);
    const rest = codes.slice(1);
    expect(await awaited(source)).toEqual(rest);
    await source.acknowledge(rest.map((code) => outcome(code)));
    expect(inFolder('failed')).toEqual(['a.csv', 'a.csv.result.json']);
    expect(resultIn('failed/a.csv').results.at(-1)).toMatchObject({ external_code: 'P0', state: 'rejected' });
  });

  test('a plan in two files is told in both', async () => {
    dropPlans('a.json', 'P1');
    dropPlans('b.json', 'P1', 'P2');
    const source = open();
    await take(source);
    await source.acknowledge([outcome('P1')]);
    expect(inFolder()).toEqual(['b.json']);
    await source.acknowledge([outcome('P2')]);
    expect(inFolder()).toEqual([]);
  });

  test('one that is replaced while in work is read as new, and the newer one is never moved unread', async () => {
    dropPlans('a.json', 'P1');
    const source = open();
    await take(source);
    dropPlans('a.json', 'P1', 'P2');
    await source.acknowledge([outcome('P1')]);
    expect(inFolder()).toEqual(['a.json']);
    expect(codesOf(await take(source))).toEqual(['P1', 'P2']);
    expect(await awaited(source)).toEqual(['P1', 'P2']);
    await source.acknowledge([outcome('P1'), outcome('P2')]);
    expect(inFolder('done').filter((name) => !name.includes('result'))).toEqual(['a-2.json']);
  });

  test('one that nothing could be read of goes to failed/ as soon as it is taken, an empty list to done/', async () => {
    drop('bad.json', '{"a":');
    drop('empty.json', '[]');
    await take(open());
    expect(inFolder('failed')).toEqual(['bad.json', 'bad.json.result.json']);
    expect(inFolder('done')).toEqual(['empty.json', 'empty.json.result.json']);
    expect(resultIn('failed/bad.json').faults).toEqual([
      { origin: 'bad.json', reason: 'broken JSON at 1:6' },
    ]);
  });
});

describe('a crash', () => {
  const journal = () => join(folder, 'pending', 'a.json.journal');
  const finalLine = `${JSON.stringify({ outcome: outcome('P1') })}\n`;
  const moveLine = `${JSON.stringify({ move: { folder: 'done', name: 'a.json' } })}\n`;
  const laidAside = () => {
    mkdirSync(join(folder, 'done'), { recursive: true });
    writeFileSync(join(folder, 'done', 'a.json.result.json'), '{}');
  };
  const moved = () => renameSync(join(folder, 'a.json'), join(folder, 'done', 'a.json'));

  const CUTS: [string, () => Promise<void>][] = [
    ['after the outcome was stored', () => appendFile(journal(), finalLine)],
    ['after the place was chosen', () => appendFile(journal(), finalLine + moveLine)],
    [
      'after the result was written',
      async () => {
        await appendFile(journal(), finalLine + moveLine);
        laidAside();
      },
    ],
    [
      'after the file was moved',
      async () => {
        await appendFile(journal(), finalLine + moveLine);
        laidAside();
        moved();
      },
    ],
  ];

  test.each(CUTS)('%s is made good by the next start', async (_name, cut) => {
    dropPlans('a.json', 'P1');
    await take(open());
    await cut();
    expect(codesOf(await take(open()))).toEqual([]);
    expect(inFolder()).toEqual([]);
    expect(inFolder('pending')).toEqual([]);
    expect(inFolder('done')).toEqual(['a.json', 'a.json.result.json']);
    expect(resultIn('done/a.json').results).toMatchObject([{ external_code: 'P1', state: 'confirmed' }]);
  });

  test('after the move leaves a new file of the same name to be read, however alike it is', async () => {
    dropPlans('a.json', 'P1');
    utimesSync(join(folder, 'a.json'), 1_000, 1_000);
    await take(open());
    await CUTS[3]?.[1]();
    dropPlans('a.json', 'P2');
    utimesSync(join(folder, 'a.json'), 1_000, 1_000);
    expect(codesOf(await take(open()))).toEqual(['P2']);
    expect(inFolder()).toEqual(['a.json']);
  });

  test('before the result can be stored leaves the file where it is', async () => {
    dropPlans('a.json', 'P1');
    await take(open());
    await appendFile(journal(), finalLine + moveLine);
    mkdirSync(join(folder, 'done', 'a.json.result.json', 'in the way'), { recursive: true });
    await expect(take(open())).rejects.toMatchObject({ code: 'erp_folder_unusable' });
    expect(inFolder()).toEqual(['a.json']);
    rmSync(join(folder, 'done', 'a.json.result.json'), { recursive: true });
    await take(open());
    expect(inFolder('done')).toEqual(['a.json', 'a.json.result.json']);
  });

  test('in the middle of a line is as if the line had not been written', async () => {
    dropPlans('a.json', 'P1', 'P2', 'P3');
    await take(open());
    await appendFile(journal(), finalLine + finalLine.replace('P1', 'P2').slice(0, 20));
    const source = open();
    expect(await awaited(source)).toEqual(['P2', 'P3']);
    await source.acknowledge([outcome('P2')]);
    expect(await awaited(open())).toEqual(['P3']);
  });

  test('between the parts of a file reads it again from its start', async () => {
    const rows = Array.from({ length: 600 }, (_, i) => ({
      'plan.external_code': `P${i}`,
      'plan.date_time_start': '2026-05-18T08:00',
      'plan.date_time_end': '2026-05-18T18:00',
      'point.name': 'A',
    }));
    drop('a.csv', csvText(rows));
    const first = open();
    await drain(first, clock, async (batch) => {
      if (batch.part === 1) await first.taken(batch);
    });
    const second = open();
    const batches = await take(second);
    expect(codesOf(batches)).toHaveLength(600);
    expect(await awaited(second)).toHaveLength(600);
    await second.acknowledge(codesOf(batches).map((code) => outcome(code)));
    expect(inFolder('done')).toEqual(['a.csv', 'a.csv.result.json']);
  });
});

describe('formats', () => {
  const header =
    'plan.external_code;plan.date_time_start;plan.date_time_end;point.name;point.latitude;point.longitude';
  const line = 'P1;2026-05-18 08:00;2026-05-18 18:00;"São; João";-23,55;-46,63';

  test.each([
    ['UTF-8 with semicolons', Buffer.from(`${header}\r\n${line}\r\n\r\n`)],
    ['UTF-8 with a mark', Buffer.from(`\ufeff${header}\n${line}`)],
    ['UTF-16', Buffer.from(`\ufeff${header}\n${line}`, 'utf16le')],
    ['tabs', Buffer.from(`${header}\n${line}`.replaceAll(';', '\t').replace('São\t', 'São;'))],
  ])('CSV in %s is read', async (_name, bytes) => {
    drop('a.csv', bytes);
    const [batch] = await drain(open(), clock);
    expect(batch?.faults).toEqual([]);
    expect(batch?.things).toMatchObject([
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

  test('XLSX with date cells and merged cells is read as it looks', async () => {
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
    expect(batch?.faults).toEqual([]);
    expect(batch?.things).toMatchObject([
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
    const source = open('agents', {
      name: 'NOME',
      cpf: 'DOC',
      company_registry: 'MATRICULA',
      is_deliveryman: { value: true },
    });
    const [batch] = await drain(source, clock);
    expect(batch?.things).toEqual([
      {
        externalCode: 'M1',
        origin: 'a.csv row 2',
        data: { name: 'Sample Agent', cpf: '52998224725', company_registry: 'M1', is_deliveryman: true },
      },
    ]);
  });
});

describe('bad input', () => {
  test('a line without end is told at once, however long it is', async () => {
    drop('long.csv', '['.repeat(200_000));
    const [batch] = await take(open());
    expect(batch?.things).toEqual([]);
    expect(batch?.faults[0]?.reason).toMatch(/column|CSV/);
  });

  test('a broken text of many megabytes is told by its place', async () => {
    drop('large.json', `{"external_code":"${'x'.repeat(9_000_000)}`);
    const faults = (await take(open())).flatMap((batch) => batch.faults);
    expect(faults.map(({ reason }) => reason)).toEqual(['broken JSON at 1:18']);
  });

  test('a workbook that was written twice into one file ends the reading', async () => {
    const sheet = workbook([
      ['plan.external_code', 'plan.date_time_start', 'plan.date_time_end', 'point.name', 'point.address'],
      ['P1', '2026-05-18T08:00', '2026-05-18T18:00', 'A', 'Rua Um, 1'],
    ]);
    drop('twice.xlsx', Buffer.concat([sheet, sheet]));
    const [batch] = await take(open());
    expect((batch?.things.length ?? 0) + (batch?.faults.length ?? 0)).toBe(1);
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
    ['twice.csv', `${columns},point.name\nP1,x,y,A,B`, 'stands in the header twice'],
    ['latin.csv', Buffer.from(`${columns}\nP1,x,y,S\xe3o`, 'latin1'), 'not UTF-8 at byte'],
    ['quote.csv', `${columns}\nP1,x,y,"A`, 'a quotation mark is open or misplaced'],
    ['wide.csv', `${columns}\nP1,x,y,A,B`, 'row 2 has more cells than the header'],
    ['number.csv', `${columns},point.latitude\nP1,x,y,A,"1.234,5"`, 'point.latitude is not a number'],
    ['text.xlsx', 'not a workbook', 'is not an XLSX workbook that can be read'],
    ['empty.xlsx', workbook([]), 'the first sheet is empty'],
  ])('%s is told clearly, goes to failed/, and the others go on', async (name, content, words) => {
    drop(name, content);
    dropPlans('zzz.json', 'good');
    const source = open();
    expect(codesOf(await take(source))).toContain('good');
    await source.acknowledge([outcome('good')]);
    expect(inFolder('done')).toContain('zzz.json');
    expect(inFolder('failed')).toEqual([name, `${name}.result.json`]);
    expect(readFileSync(join(folder, 'failed', `${name}.result.json`), 'utf8')).toContain(
      JSON.stringify(words).slice(1, -1),
    );
  });

  test('a JSON file of 300 MB is refused unread', async () => {
    drop('huge.json', '[');
    truncateSync(join(folder, 'huge.json'), 300 * 1024 * 1024);
    await take(open());
    expect(resultIn('failed/huge.json').faults[0].reason).toContain('file larger than 64 MB');
  });

  test('a CSV file that breaks off names the plan it breaks off in, and keeps those before', async () => {
    drop(
      'a.csv',
      `${columns}\nP1,2026-05-18T08:00,2026-05-18T18:00,A\nP2,2026-05-18T08:00,2026-05-18T18:00,B\n,,,"C`,
    );
    const source = open();
    expect(codesOf(await take(source))).toEqual(['P1']);
    await source.acknowledge([outcome('P1')]);
    expect(resultIn('failed/a.csv')).toMatchObject({
      results: [
        { external_code: 'P1', state: 'confirmed' },
        {
          external_code: 'P2',
          state: 'rejected',
          reasons: ['a.csv row 3: its rows could not be read to the end'],
        },
      ],
      faults: [{ origin: 'a.csv' }],
    });
  });

  test('a CSV file that changes while it is read gives nothing of its end, and is read again', async () => {
    const lines = Array.from({ length: 600 }, (_, i) => `P${i},2026-05-18T08:00,2026-05-18T18:00,A`);
    drop('a.csv', [columns, ...lines].join('\n'));
    const source = open();
    const cut = await drain(source, clock, async () => utimesSync(join(folder, 'a.csv'), 1, 1));
    expect(cut.map(({ last }) => last)).toEqual([false]);
    expect(codesOf(await take(source))).toHaveLength(600);
  });
});

describe('returns', () => {
  test('are one file a plan, and no code leaves the folder', async () => {
    const source = open();
    await source.returnExecutions([stopOutcome('../../evil', '1', 'E'), stopOutcome('../../evil', '2', 'D')]);
    expect(inFolder('returns')).toEqual(['%2E%2E%2F%2E%2E%2Fevil.json']);
    expect(JSON.parse(readFileSync(join(folder, 'returns', '%2E%2E%2F%2E%2E%2Fevil.json'), 'utf8'))).toEqual({
      plan_external_code: '../../evil',
      stops: ['1', '2'].map((code, i) => ({
        point_external_code: code,
        status: ['E', 'D'][i],
        executed_at: '2026-05-18T12:00:00.000Z',
        reason: null,
        pictures: ['abc.jpg'],
      })),
    });
  });

  test('told at the same time are all kept', async () => {
    const source = open();
    const points = Array.from({ length: 8 }, (_, i) => `${i}`);
    await Promise.all(points.map((point) => source.returnExecutions([stopOutcome('P1', point, 'E')])));
    expect(JSON.parse(readFileSync(join(folder, 'returns', 'P1.json'), 'utf8')).stops).toHaveLength(8);
  });

  test('that somebody else has written over are not guessed at', async () => {
    mkdirSync(join(folder, 'returns'));
    drop('returns/P1.json', 'scribble');
    await expect(open().returnExecutions([stopOutcome('P1', '1', 'E')])).rejects.toThrow('P1.json');
  });
});

describe('two processes on one folder', () => {
  const final = (code: string, state: Outcome['state'], revision: number): Outcome => ({
    ...outcome(code, state),
    revision,
  });

  test('make one result: what the other has finished is not finished again', async () => {
    dropPlans('a.json', 'P1', 'P2');
    const [daemon, command] = [open(), open()];
    await take(daemon);
    expect(await awaited(command)).toEqual(['P1', 'P2']);
    await command.acknowledge([final('P1', 'confirmed', 5), final('P2', 'confirmed', 5)]);
    await daemon.acknowledge([final('P1', 'rejected', 4), final('P2', 'confirmed', 5)]);
    expect(await awaited(daemon)).toEqual([]);
    expect([inFolder('done'), inFolder('failed'), inFolder('pending')]).toEqual([
      ['a.json', 'a.json.result.json'],
      [],
      [],
    ]);
    expect(resultIn('done/a.json').results.map(({ state }: { state: string }) => state)).toEqual([
      'confirmed',
      'confirmed',
    ]);
  });

  test('make a result of what each was told last, not of what was written last', async () => {
    dropPlans('a.json', 'P1', 'P2');
    const [daemon, command] = [open(), open()];
    await take(daemon);
    await awaited(command);
    await command.acknowledge([final('P1', 'confirmed', 5)]);
    await daemon.acknowledge([final('P1', 'rejected', 4)]);
    await daemon.acknowledge([final('P2', 'confirmed', 3)]);
    expect(resultIn('done/a.json').results).toMatchObject([
      { external_code: 'P1', state: 'confirmed' },
      { external_code: 'P2', state: 'confirmed' },
    ]);
  });

  test('finish a file once, also at the same moment', async () => {
    for (let round = 0; round < 20; round++) {
      const name = `r${round}.json`;
      dropPlans(name, 'P1', 'P2');
      const [daemon, command] = [open(), open()];
      await take(daemon);
      await awaited(command);
      const both = [final('P1', 'confirmed', 5), final('P2', 'confirmed', 5)];
      await Promise.all([daemon.acknowledge(both), command.acknowledge(both)]);
      expect(inFolder('done').filter((each) => each.startsWith(`r${round}`))).toEqual([
        name,
        `${name}.result.json`,
      ]);
      expect(inFolder('pending')).toEqual([]);
    }
  });
});
