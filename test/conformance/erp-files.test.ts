// The life of a file in the drop folder: what becomes of it, every crash between the steps of moving it, what is returned
// beside it, and two processes on one folder.
import { mkdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ErpBatch, Outcome } from '../../src/erp/source.ts';
import {
  awaited,
  clock,
  codesOf,
  drop,
  dropPlans,
  folder,
  inFolder,
  open,
  outcome,
  resultIn,
  take,
} from './drop-folder.ts';
import { csvText, drain, stopOutcome } from './erp-benches.ts';

const row = (code: string) => ({
  'plan.external_code': code,
  'plan.date_time_start': '2026-05-18T08:00',
  'plan.date_time_end': '2026-05-18T18:00',
  'point.name': 'A',
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
