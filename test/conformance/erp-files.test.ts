// The life of a file in the drop folder: what becomes of it, every crash between the steps of moving it, what is returned
// beside it, and two processes on one folder.
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ErpBatch, Outcome } from '../../src/erp/source.ts';
import {
  awaited,
  awaitedItems,
  clock,
  codesOf,
  drop,
  dropPlans,
  folder,
  inFolder,
  lateResults,
  open,
  outcome,
  plan,
  resultIn,
  take,
} from './drop-folder.ts';
import { csvText, drain, PLAN_START, type Row, stopOutcome } from './erp-benches.ts';

const row = (code: string, day = '2026-05-18', more: Row = {}): Row => ({
  'plan.external_code': code,
  'plan.date_time_start': `${day}T08:00`,
  'plan.date_time_end': `${day}T18:00`,
  'point.name': 'A',
  ...more,
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
        period_start: '2026-05-18T11:00:00.000Z',
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

  test('its parts are taken as equal copies too, after other files were read, and each counts once', async () => {
    drop('a.csv', csvText(Array.from({ length: 1_200 }, (_, i) => row(`P${i}`))));
    dropPlans('b.json', 'Q');
    const source = open();
    const copies = structuredClone(await drain(source, clock));
    expect(copies.map(({ name, part }) => [name, part])).toEqual([
      ['a.csv', 1],
      ['a.csv', 2],
      ['a.csv', 3],
      ['b.json', 1],
    ]);
    for (const copy of copies) {
      await source.taken(copy);
      await source.taken(structuredClone(copy));
    }
    expect(await awaited(source)).toHaveLength(1_201);
    expect(codesOf(await take(source))).toEqual([]);
  });

  test('its parts are not taken once it has turned out to have changed', async () => {
    drop('a.csv', csvText(Array.from({ length: 600 }, (_, i) => row(`P${i}`))));
    const source = open();
    const cut = await drain(source, clock, async () => utimesSync(join(folder, 'a.csv'), 1, 1));
    expect(cut).toHaveLength(1);
    for (const batch of cut) await source.taken(batch);
    expect(inFolder('pending')).toEqual([]);
    expect(await awaited(source)).toEqual([]);
  });

  test('a plan that is withdrawn by a later part of its file is awaited no more', async () => {
    const codes = Array.from({ length: 600 }, (_, i) => `P${i}`);
    drop('a.csv', csvText([...codes, 'P0'].map((code) => row(code))));
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

describe('one code on two days', () => {
  const [EIGHTEENTH, NINETEENTH] = ['2026-05-18', '2026-05-19'];
  const r7 = (startDay: string) => ({ externalCode: 'R7', startDay });

  test.each([false, true])(
    'in two files: each is told of its own day, reused codes or not (%s)',
    async (reuseCodes) => {
      drop('a.json', JSON.stringify(plan('R7', EIGHTEENTH)));
      drop('b.json', JSON.stringify(plan('R7', NINETEENTH)));
      const source = open({ reuseCodes });
      await take(source);
      expect(await awaitedItems(source)).toEqual([r7(EIGHTEENTH), r7(NINETEENTH)]);
      await source.acknowledge([outcome('R7', 'rejected', NINETEENTH)]);
      expect([inFolder(), inFolder('failed')]).toEqual([['a.json'], ['b.json', 'b.json.result.json']]);
      // Another process, and the journal alone.
      const second = open({ reuseCodes });
      expect(await awaitedItems(second)).toEqual([r7(EIGHTEENTH)]);
      await second.acknowledge([outcome('R7', 'confirmed', EIGHTEENTH)]);
      expect(inFolder('done')).toEqual(['a.json', 'a.json.result.json']);
      expect([resultIn('done/a.json').results, resultIn('failed/b.json').results]).toMatchObject([
        [{ external_code: 'R7', period_start: '2026-05-18T11:00:00.000Z', state: 'confirmed' }],
        [{ external_code: 'R7', period_start: '2026-05-19T11:00:00.000Z', state: 'rejected' }],
      ]);
      expect(lateResults()).toEqual([]);
    },
  );

  test('in one file are two items, each with its own result', async () => {
    drop('a.json', JSON.stringify([plan('R7', EIGHTEENTH), plan('R7', NINETEENTH)]));
    const source = open({ reuseCodes: true });
    await take(source);
    await source.acknowledge([outcome('R7', 'confirmed', NINETEENTH)]);
    expect(await awaitedItems(open({ reuseCodes: true }))).toEqual([r7(EIGHTEENTH)]);
    await source.acknowledge([outcome('R7', 'rejected', EIGHTEENTH)]);
    expect(resultIn('failed/a.json').results).toMatchObject([
      { period_start: '2026-05-18T11:00:00.000Z', state: 'rejected' },
      { period_start: '2026-05-19T11:00:00.000Z', state: 'confirmed' },
    ]);
  });

  test('the day of an outcome is the local one of its start, or the one that it names', async () => {
    drop('a.json', JSON.stringify(plan('R7', EIGHTEENTH)));
    drop('b.json', JSON.stringify(plan('R7', NINETEENTH)));
    drop('c.json', JSON.stringify({ ...plan('R7'), date_time_start: 'soon' }));
    const source = open();
    await take(source);
    await source.acknowledge([{ ...outcome('R7'), periodStart: '2026-05-19T02:59:00.000Z' }]);
    expect(await awaitedItems(source)).toEqual([r7(NINETEENTH), r7('')]);
    await source.acknowledge([{ ...outcome('R7'), startDay: NINETEENTH }]);
    expect(await awaitedItems(source)).toEqual([r7('')]);
    await source.acknowledge([outcome('R7', 'rejected', null)]);
    expect(await awaitedItems(source)).toEqual([]);
    expect(resultIn('failed/c.json').results).toMatchObject([{ period_start: null, state: 'rejected' }]);
  });

  test('what becomes of a day whose file has moved goes to the late results, not to another day', async () => {
    drop('a.json', JSON.stringify(plan('R7', EIGHTEENTH)));
    const source = open();
    await take(source);
    await source.acknowledge([outcome('R7', 'confirmed', '2026-05-17')]);
    expect(await awaitedItems(source)).toEqual([r7(EIGHTEENTH)]);
    expect(lateResults()).toMatchObject([
      { external_code: 'R7', period_start: '2026-05-17T11:00:00.000Z', state: 'confirmed' },
    ]);
  });

  test.each([
    ['a day', EIGHTEENTH, [NINETEENTH]],
    ['no day', 'soon', []],
  ])('a fault of %s in a later part invalidates what it may mean', async (_what, day, left) => {
    const rows = Array.from({ length: 600 }, (_, i) => row(`P${i}`));
    drop('a.csv', csvText([row('R7', EIGHTEENTH), row('R7', NINETEENTH), ...rows, row('R7', day)]));
    const source = open({ reuseCodes: true });
    await take(source);
    const items = await awaitedItems(source);
    expect(items.filter(({ externalCode }) => externalCode === 'R7')).toEqual(left.map(r7));
    await source.acknowledge([
      ...items.map(({ externalCode, startDay }) => outcome(externalCode, 'confirmed', startDay)),
      outcome('R7', 'rejected', day === 'soon' ? null : day),
    ]);
    expect(lateResults()).toEqual([]);
    const own = resultIn('failed/a.csv').results.filter(
      ({ external_code }: { external_code: string }) => external_code === 'R7',
    );
    expect(own).toMatchObject([...left.map(() => ({ state: 'confirmed' })), { state: 'rejected' }]);
  });

  test('items that could not be read have a result for each day', async () => {
    const bad = { 'point.order': 'first' };
    drop('a.csv', csvText([row('R7', EIGHTEENTH, bad), row('R7', NINETEENTH, bad)]));
    await take(open({ reuseCodes: true }));
    expect(resultIn('failed/a.csv').results).toMatchObject([
      { external_code: 'R7', state: 'rejected', reasons: ['a.csv row 2: point.order is not a whole number'] },
      { external_code: 'R7', state: 'rejected', reasons: ['a.csv row 3: point.order is not a whole number'] },
    ]);
  });
});

describe('a journal of an earlier version, which has no start days', () => {
  const { periodStart: _, ...told } = outcome('P2');
  /** As it was written: the items, their end, and an outcome. */
  async function writeOld(...lines: object[]): Promise<void> {
    const { size, mtimeMs } = statSync(join(folder, 'a.json'));
    const opened = { opened: { size, mtimeMs }, at: '2026-05-17T11:00:00.000Z' };
    mkdirSync(join(folder, 'pending'), { recursive: true });
    writeFileSync(
      join(folder, 'pending', 'a.json.journal'),
      [opened, ...lines].map((line) => `${JSON.stringify(line)}\n`).join('\n'),
    );
  }

  test('is read on: its items are awaited and finished by code alone', async () => {
    dropPlans('a.json', 'P1', 'P2');
    await writeOld({ thing: 'P1' }, { thing: 'P2' }, { whole: true }, { outcome: told });
    expect(codesOf(await take(open()))).toEqual([]);
    const source = open();
    expect(await awaitedItems(source)).toEqual([{ externalCode: 'P1', startDay: '' }]);
    await source.acknowledge([outcome('P1', 'unknown')]);
    expect(await awaited(open())).toEqual(['P1']);
    await source.acknowledge([outcome('P1')]);
    expect(resultIn('done/a.json').results).toMatchObject([
      { external_code: 'P1', period_start: '2026-05-18T11:00:00.000Z', state: 'confirmed' },
      { external_code: 'P2', period_start: null, state: 'confirmed' },
    ]);
  });

  test('is finished by an outcome without a day, as it is awaited', async () => {
    dropPlans('a.json', 'P1');
    await writeOld({ thing: 'P1' }, { whole: true });
    const source = open();
    await source.acknowledge([{ ...outcome('P1'), startDay: '' }]);
    expect(inFolder('done')).toEqual(['a.json', 'a.json.result.json']);
  });

  test('gives way to a file that holds the item of that very day', async () => {
    dropPlans('a.json', 'R7');
    await writeOld({ thing: 'R7' }, { whole: true });
    drop('b.json', JSON.stringify(plan('R7', '2026-05-19')));
    const source = open();
    await take(source);
    await source.acknowledge([outcome('R7', 'rejected', '2026-05-19')]);
    expect([inFolder(), inFolder('failed')]).toEqual([['a.json'], ['b.json', 'b.json.result.json']]);
    await source.acknowledge([outcome('R7')]);
    expect(inFolder('done')).toEqual(['a.json', 'a.json.result.json']);
  });

  test('has its faults and its place', async () => {
    dropPlans('a.json', 'P1');
    const fault = { origin: 'a.json record 2', externalCode: 'P2', reason: 'is wrong' };
    await writeOld(
      { thing: 'P2' },
      { fault },
      { whole: true },
      { move: { folder: 'failed', name: 'x.json' } },
    );
    await take(open());
    expect(inFolder('failed')).toEqual(['x.json', 'x.json.result.json']);
    expect(resultIn('failed/x.json').results).toMatchObject([{ external_code: 'P2', state: 'rejected' }]);
  });
});

describe('a crash', () => {
  const journal = () => join(folder, 'pending', 'a.json.journal');
  const finalLine = `${JSON.stringify({ outcome: { ...outcome('P1'), startDay: '2026-05-18' } })}\n`;
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
    drop('a.csv', csvText(Array.from({ length: 600 }, (_, i) => row(`P${i}`))));
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

describe('returns', () => {
  test('are one file a plan, and no code leaves the folder', async () => {
    const source = open();
    await source.returnExecutions([stopOutcome('../../evil', '1', 'E'), stopOutcome('../../evil', '2', 'D')]);
    expect(inFolder('returns')).toEqual(['%2E%2E%2F%2E%2E%2Fevil.json']);
    expect(JSON.parse(readFileSync(join(folder, 'returns', '%2E%2E%2F%2E%2E%2Fevil.json'), 'utf8'))).toEqual({
      plan_external_code: '../../evil',
      plan_period_start: PLAN_START,
      stops: ['1', '2'].map((code, i) => ({
        point_external_code: code,
        status: ['E', 'D'][i],
        executed_at: '2026-05-18T12:00:00.000Z',
        reason: null,
        pictures: ['abc.jpg'],
      })),
    });
  });

  const NEXT_DAY = '2026-05-19T11:00:00.000Z';
  const returnIn = (name: string) => JSON.parse(readFileSync(join(folder, 'returns', name), 'utf8'));

  test('of one code on two days are two files where codes are reused', async () => {
    const source = open({ reuseCodes: true });
    await source.returnExecutions([stopOutcome('R7', '1', 'E'), stopOutcome('R7', '1', 'D', NEXT_DAY)]);
    await source.returnExecutions([stopOutcome('R7', '2', 'E', '2026-05-19T02:59:00.000Z')]);
    await source.returnExecutions([stopOutcome('R7', '1', 'P', null)]);
    expect(inFolder('returns')).toEqual(['R7.2026-05-18.json', 'R7.2026-05-19.json', 'R7.json']);
    expect(returnIn('R7.2026-05-18.json').stops).toMatchObject([{ status: 'E' }, { status: 'E' }]);
    expect(returnIn('R7.2026-05-19.json')).toMatchObject({
      plan_external_code: 'R7',
      plan_period_start: NEXT_DAY,
      stops: [{ point_external_code: '1', status: 'D' }],
    });
  });

  test('of a code whose older use has left its file begin the file anew', async () => {
    const source = open();
    await source.returnExecutions([stopOutcome('R7', '1', 'E'), stopOutcome('R7', '2', 'E')]);
    await source.returnExecutions([stopOutcome('R7', '2', 'D', null)]);
    expect(returnIn('R7.json')).toMatchObject({
      plan_period_start: PLAN_START,
      stops: [{ status: 'E' }, { status: 'D' }],
    });
    await source.returnExecutions([stopOutcome('R7', '1', 'D', NEXT_DAY)]);
    expect(inFolder('returns')).toEqual(['R7.json']);
    expect(returnIn('R7.json')).toMatchObject({
      plan_period_start: NEXT_DAY,
      stops: [{ point_external_code: '1', status: 'D' }],
    });
    expect(returnIn('R7.json').stops).toHaveLength(1);
  });

  test('that an earlier version wrote, without a start, are kept', async () => {
    mkdirSync(join(folder, 'returns'));
    const { plan_external_code, stops } = { plan_external_code: 'R7', stops: [{ point_external_code: '1' }] };
    drop('returns/R7.json', JSON.stringify({ plan_external_code, stops }));
    await open().returnExecutions([stopOutcome('R7', '2', 'E')]);
    expect(returnIn('R7.json')).toMatchObject({
      plan_period_start: PLAN_START,
      stops: [...stops, { status: 'E' }],
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
