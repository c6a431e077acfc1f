// The life of a file in the drop folder: where it goes, what its result says, every crash between the steps of moving it,
// how long it is kept, and which returns are written beside it.
import { mkdirSync, readFileSync, rmSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Skippable } from '../../../src/core/errors.ts';
import { checkErp } from '../../../src/erp/check.ts';
import { removeExpired } from '../../../src/erp/files/finish.ts';
import type { ErpSource, TakenFile } from '../../../src/erp/source.ts';
import {
  clock,
  codesOf,
  drop,
  dropPlans,
  everythingIn,
  finish,
  folder,
  inFolder,
  lateResults,
  open,
  outcome,
  plan,
  resultIn,
  take,
  taken,
  useDropFolder,
} from '../../support/erp/drop-folder.ts';
import { contextFor, csvText, PLAN_START, type Row, stopOutcome } from '../../support/erp/erp-benches.ts';

useDropFolder();

const row = (code: string, day = '2026-05-18', more: Row = {}): Row => ({
  'plan.external_code': code,
  'plan.date_time_start': `${day}T08:00`,
  'plan.date_time_end': `${day}T18:00`,
  'point.name': 'A',
  ...more,
});

const takenFile = (name: string): TakenFile => {
  const file = taken.get(name);
  if (file === undefined) throw new Error(`${name} was not taken`);
  return file;
};
const contentOf = (source: ErpSource, name: string) => source.files?.contentOf(takenFile(name));
const results = (path: string) =>
  resultIn(path).results.map((one: Record<string, unknown>) => [one.external_code, one.period_start, one.state]);
/** Files without their results. */
const filesIn = (place: string) => inFolder(place).filter((name) => !name.endsWith('.result.json'));

describe('a dropped file', () => {
  test('stays until every item is final, then goes to done/ with its result', async () => {
    dropPlans('a.json', 'P1', 'P2');
    const source = open();
    await take(source);
    await finish(source, outcome('P1'));
    expect(inFolder()).toEqual(['a.json']);
    expect(codesOf(await take(source))).toEqual([]);
    await finish(source, outcome('P1'), outcome('P2'));
    expect(inFolder()).toEqual([]);
    expect(inFolder('done')).toEqual(['a.json', 'a.json.result.json']);
    expect(resultIn('done/a.json')).toEqual({
      file: 'a.json',
      read_at: '2026-05-17T12:00:02.000Z',
      finished_at: '2026-05-17T12:00:02.000Z',
      totals: { items: 2, confirmed: 2, partial: 0, rejected: 0, cancelled: 0 },
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

  test.each(['rejected', 'cancelled'] as const)('goes to failed/ where one item is %s', async (state) => {
    dropPlans('a.json', 'P1', 'P2');
    const source = open();
    await take(source);
    await finish(source, outcome('P1'), outcome('P2', state));
    expect(inFolder('failed')).toEqual(['a.json', 'a.json.result.json']);
  });

  test('whose name is taken gets the time of its read, even where only a result is left', async () => {
    for (const code of ['P1', 'P2', 'P3']) {
      dropPlans('a.json', code);
      const source = open();
      await take(source);
      await finish(source, outcome(code));
      if (code === 'P1') rmSync(join(folder, 'done', 'a.json'));
    }
    expect(filesIn('done')).toEqual(['a-20260517T120004000Z.json', 'a-20260517T120006000Z.json']);
    expect(results('done/a.json')).toMatchObject([['P1', PLAN_START, 'confirmed']]);
    expect(results('done/a-20260517T120006000Z.json')).toMatchObject([['P3', PLAN_START, 'confirmed']]);
  });

  test('does not replace a finished file that is called like its table', async () => {
    const source = open();
    for (const [name, code] of [
      ['a.csv.result.csv', 'P1'],
      ['a.csv', 'P2'],
    ] as const) {
      drop(name, csvText([row(code)]));
      await take(source);
      await finish(source, outcome(code));
    }
    expect(readFileSync(join(folder, 'done/a.csv.result.csv'), 'utf8')).toBe(csvText([row('P1')]));
    expect(results('done/a-20260517T120004000Z.csv')).toEqual([['P2', PLAN_START, 'confirmed']]);
  });

  test('replaces a table whose result and file the ERP has taken away', async () => {
    mkdirSync(join(folder, 'done'));
    drop('done/a.csv.result.csv', 'old');
    drop('a.csv', csvText([row('P1')]));
    const source = open();
    await take(source);
    await finish(source, outcome('P1'));
    expect(everythingIn('done')).toEqual(['a.csv', 'a.csv.result.csv', 'a.csv.result.json']);
    expect(readFileSync(join(folder, 'done/a.csv.result.csv'), 'utf8')).toContain('P1');
  });

  test('is finished beside the result of an earlier one, however large that is', async () => {
    mkdirSync(join(folder, 'done'));
    drop('done/a.json.result.json', '{\n  "file": "a.json",\n  "read_at": "2026-05-16T12:00:00.000Z",\n');
    // More than a string can hold.
    truncateSync(join(folder, 'done/a.json.result.json'), 600 * 1024 * 1024);
    dropPlans('a.json', 'P1');
    const source = open();
    await take(source);
    await finish(source, outcome('P1'));
    expect(filesIn('done')).toEqual(['a-20260517T120002000Z.json']);
  });

  test('is read once more by another process, to know its items', async () => {
    const bad = { 'point.order': 'first' };
    drop('a.csv', csvText([row('P1'), row('P2', '2026-05-19'), row('P3', '2026-05-18', bad)]));
    const first = open();
    await take(first);
    const content = await contentOf(first, 'a.csv');
    expect(content).toMatchObject({
      items: [
        { externalCode: 'P1', startDay: '2026-05-18' },
        { externalCode: 'P2', startDay: '2026-05-19' },
      ],
      readErrors: [{ externalCode: 'P3' }],
    });
    expect(await contentOf(open(), 'a.csv')).toEqual(content);
  });

  test('is not read again to know its items while the process lives', async () => {
    dropPlans('a.json', 'P1');
    const source = open();
    await take(source);
    const { mtimeMs } = takenFile('a.json');
    drop('a.json', readFileSync(join(folder, 'a.json'), 'utf8').replace('P1', 'P2'));
    utimesSync(join(folder, 'a.json'), mtimeMs / 1_000, mtimeMs / 1_000);
    taken.set('a.json', { ...takenFile('a.json'), mtimeMs });
    expect(await contentOf(source, 'a.json')).toMatchObject({ items: [{ externalCode: 'P1' }] });
  });

  test('with a name that leaves no room for its result is a file that cannot be read, and stays in place', async () => {
    const names = ['a', 'b'].map((letter) => `${letter}${'ç'.repeat(99)}.csv`);
    for (const name of names) drop(name, '');
    dropPlans('a.json', 'P1');
    const source = open();
    const issues = names.map((origin) => ({
      origin,
      reason: expect.stringContaining('has a name of more than 200 bytes'),
    }));
    expect((await take(source)).flatMap(({ readErrors }) => readErrors)).toEqual(issues);
    await finish(source, outcome('P1'));
    expect([inFolder(), filesIn('done')]).toEqual([names, ['a.json']]);
    // doctor warns.
    const checked = source.check();
    await expect(checked).rejects.toThrow(Skippable);
    for (const name of names) await expect(checked).rejects.toThrow(`${name} has a name of more than 200 bytes`);
    const settings = { source: 'files', folder, settleMs: 0, keepFilesMs: 0, mapping: {} } as const;
    expect(await checkErp({ settings, context: contextFor(clock) })).toMatchObject({ issues });
  });

  test('with a name that is not UTF-8 is a file that cannot be read, and stays in place', async () => {
    writeFileSync(Buffer.concat([Buffer.from(join(folder, 'opera')), Buffer.from('ção.csv', 'latin1')]), '');
    dropPlans('a.json', 'P1');
    const source = open();
    const readErrors = (await take(source)).flatMap((batch) => batch.readErrors);
    expect(readErrors).toEqual([
      { origin: 'opera\ufffd\ufffdo.csv', reason: 'has a name that is not UTF-8; rename it without accents' },
    ]);
    await finish(source, outcome('P1'));
    expect([inFolder(), filesIn('done')]).toEqual([['opera\ufffd\ufffdo.csv'], ['a.json']]);
    await expect(source.check()).rejects.toThrow('has a name that is not UTF-8');
  });

  test('with no readable item goes to failed/, an empty list to done/', async () => {
    drop('bad.json', '{"a":');
    drop('empty.json', '[]');
    const source = open();
    await take(source);
    await finish(source);
    expect(inFolder('failed')).toEqual(['bad.json', 'bad.json.result.json']);
    expect(inFolder('done')).toEqual(['empty.json', 'empty.json.result.json']);
    expect(resultIn('failed/bad.json').faults).toEqual([{ origin: 'bad.json', reason: 'broken JSON at 1:6' }]);
  });

  test('has a table for people: a line for each reason, with the cell, and no formula', async () => {
    const good = row('P1', '2026-05-18', { 'point.latitude': '-99', 'point.longitude': '1', 'point.order': '1' });
    const bad = row('=P2', '2026-05-18', { 'point.latitude': '1', 'point.longitude': '1', 'point.order': 'x' });
    drop('a.csv', csvText([good, bad]));
    const source = open();
    await take(source);
    const reasons = ['route_points[0].latitude: outside -90..90'];
    await finish(source, { ...outcome('P1', 'rejected'), reasons, origin: 'a.csv row 2' });
    expect(readFileSync(join(folder, 'failed/a.csv.result.csv'), 'utf8').split('\r\n')).toEqual([
      '\ufefflinha;código;situação;motivo;coluna;valor',
      "2;P1;rejeitado;route_points[0].latitude: fora de -90 a 90;point.latitude;'-99",
      "3;'=P2;rejeitado;point.order não é um número inteiro;point.order;x",
      '',
    ]);
  });

  test('has a table with the row of each item, and of the stop that a reason of the service names', async () => {
    const stop = (code: string, name: string, stopCode: string) =>
      row(code, '2026-05-18', { 'point.name': name, 'point.external_code': stopCode, 'point.address': 'Rua Um, 1' });
    const stops = [stop('P1', 'A', 'S1'), stop('P1', 'B', 'S2'), stop('P1', 'C', ''), stop('P1', 'C, D', '')];
    drop('a.csv', csvText([...stops, stop('P2', 'A', 'S1'), stop('P3', 'A', 'S2'), stop('P4', 'A', 'S1')]));
    const source = open();
    await take(source);
    const reasons = [
      'point not assigned: S2',
      'point not at the service: C, D',
      'point rejected: out of range (line 4, name C, D)',
      'point rejected: external_code S2, message none',
      'point rejected: out of range (name C)',
      'point rejected: line 9',
      'point rejected: name: is required (line 0)',
    ];
    await finish(
      source,
      { ...outcome('P1'), isPartial: true, reasons, origin: 'a.csv row 2' },
      { ...outcome('P2', 'rejected'), reasons: ['No vehicle has this plate'], origin: 'b.csv row 9' },
      outcome('P3'),
      { ...outcome('P4', 'cancelled'), message: 'Cancelled by a person' },
    );
    const lines = readFileSync(join(folder, 'failed/a.csv.result.csv'), 'utf8').split('\r\n').slice(1, -1);
    expect(lines.map((line) => line.split(';').slice(0, 2).join(' '))).toEqual([
      ...[3, 5, 5, 3, 4, 2, 2].map((number) => `${number} P1`),
      ...['6 P2', '6 P2', '7 P3', '8 P4'],
    ]);
  });

  test('has a table with the cell of each day of a code', async () => {
    const days = ['2026-05-18', '2026-05-19'];
    const far = { 'point.latitude': '-99', 'point.longitude': '1' };
    drop('a.csv', csvText(days.map((day) => row('R7', day, far))));
    const source = open({ reuseCodes: true });
    await take(source);
    const reasons = ['route_points[0].latitude: outside -90..90'];
    await finish(source, ...days.map((day) => ({ ...outcome('R7', 'rejected', day), reasons })));
    const lines = readFileSync(join(folder, 'failed/a.csv.result.csv'), 'utf8').split('\r\n').slice(1, -1);
    expect(lines.map((line) => line.split(';')[0])).toEqual(['2', '3']);
  });

  test('with unreadable items has a result for each day, and waits for nothing', async () => {
    const bad = { 'point.order': 'first' };
    drop('a.csv', csvText([row('R7', '2026-05-18', bad), row('R7', '2026-05-19', bad)]));
    const source = open({ reuseCodes: true });
    await take(source);
    await finish(source);
    expect(resultIn('failed/a.csv').results).toMatchObject([
      { external_code: 'R7', state: 'rejected', reasons: ['a.csv row 2: point.order is not a whole number'] },
      { external_code: 'R7', state: 'rejected', reasons: ['a.csv row 3: point.order is not a whole number'] },
    ]);
  });

  test.each([
    ['a day', '2026-05-18', ['2026-05-19']],
    ['no day', 'soon', []],
  ])('with a read error of %s in a later part invalidates the items it may mean', async (_what, day, left) => {
    const rows = Array.from({ length: 600 }, (_, i) => row(`P${i}`));
    const r7 = ['2026-05-18', '2026-05-19', ...rows, day];
    drop('a.csv', csvText(r7.map((each) => (typeof each === 'string' ? row('R7', each) : each))));
    const source = open({ reuseCodes: true });
    await take(source);
    const content = await contentOf(source, 'a.csv');
    if (content === undefined) throw new Error('the file is gone');
    expect(content.items).toHaveLength(600 + left.length);
    const own = content.items.filter(({ externalCode }) => externalCode === 'R7');
    expect(own.map(({ startDay }) => startDay)).toEqual(left);
  });

  test('with two days of one code has two items, each with its own result', async () => {
    drop('a.json', JSON.stringify([plan('R7', '2026-05-18'), plan('R7', '2026-05-19')]));
    const source = open({ reuseCodes: true });
    await take(source);
    await finish(source, outcome('R7', 'confirmed', '2026-05-19'));
    expect(inFolder()).toEqual(['a.json']);
    await finish(source, outcome('R7', 'confirmed', '2026-05-19'), outcome('R7', 'rejected', '2026-05-18'));
    expect(results('failed/a.json')).toEqual([
      ['R7', '2026-05-18T11:00:00.000Z', 'rejected'],
      ['R7', '2026-05-19T11:00:00.000Z', 'confirmed'],
    ]);
  });

  test('that is replaced before the move is never moved unread', async () => {
    dropPlans('a.json', 'P1');
    const source = open();
    await take(source);
    const content = await contentOf(source, 'a.json');
    if (content === undefined) throw new Error('the file is gone');
    const file = takenFile('a.json');
    dropPlans('a.json', 'P1', 'P2');
    await source.files?.finish(file, content, [outcome('P1')]);
    expect([inFolder(), inFolder('done')]).toEqual([['a.json'], ['a.json.result.json']]);
    expect(codesOf(await take(source))).toEqual(['P1', 'P2']);
    await finish(source, outcome('P1'), outcome('P2'));
    expect(filesIn('done')).toEqual(['a-20260517T120004000Z.json']);
  });

  test('that is replaced at the moment of the move goes back', async () => {
    dropPlans('a.json', 'P1');
    const source = open();
    await take(source);
    const { rename } = promises;
    onTestFinished(() => {
      promises.rename = rename;
      syncBuiltinESMExports();
    });
    promises.rename = async (from, to) => {
      if (from === join(folder, 'a.json')) dropPlans('a.json', 'P1', 'P2');
      await rename(from, to);
    };
    syncBuiltinESMExports();
    await finish(source, outcome('P1'));
    expect([inFolder(), inFolder('done')]).toEqual([['a.json'], ['a.json.result.json']]);
    expect(codesOf(await take(source))).toEqual(['P1', 'P2']);
  });

  test.each<[string, () => void]>([
    ['replaced', () => dropPlans('a.json', 'P1', 'P2')],
    ['removed', () => rmSync(join(folder, 'a.json'))],
  ])('that is %s while it waits is gone for another process', async (_what, change) => {
    dropPlans('a.json', 'P1');
    await take(open());
    change();
    expect(await contentOf(open(), 'a.json')).toBeUndefined();
  });

  test('that another mapping reads differently is gone', async () => {
    drop('a.csv', csvText([row('P1')]));
    await take(open());
    expect(await contentOf(open(), 'a.csv')).toMatchObject({ items: [{}] });
    expect(await contentOf(open({}, { 'plan.external_code': 'CODE' }), 'a.csv')).toBeUndefined();
  });
});

describe('a crash', () => {
  const FINISHED = ['a.json', 'a.json.result.csv', 'a.json.result.json'];
  const written = async (): Promise<void> => {
    // The file cannot be moved: this is the state that a crash before the move leaves.
    const source = open();
    const content = await contentOf(source, 'a.json');
    if (content === undefined) throw new Error('the file is gone');
    const file = takenFile('a.json');
    await source.files?.finish({ ...file, mtimeMs: 0 }, content, [outcome('P1')]);
    expect(inFolder()).toEqual(['a.json']);
  };

  test.each<[string, () => Promise<void>]>([
    ['before the result is written', async () => {}],
    ['before the file is moved', written],
  ])('%s is repaired by the next process, at the same place', async (_when, cut) => {
    mkdirSync(join(folder, 'done'));
    drop('done/a.json', 'an earlier one');
    dropPlans('a.json', 'P1');
    await take(open());
    await cut();
    await clock.advance(60_000);
    const next = open();
    expect(codesOf(await take(next))).toEqual([]);
    await finish(next, outcome('P1'));
    expect([...taken.keys(), ...inFolder()]).toEqual([]);
    const name = 'a-20260517T120002000Z.json';
    expect(inFolder('done')).toEqual([name, `${name}.result.json`, 'a.json']);
    expect(resultIn(`done/${name}`)).toMatchObject({
      read_at: '2026-05-17T12:00:02.000Z',
      finished_at: '2026-05-17T12:01:04.000Z',
      results: [{ external_code: 'P1', state: 'confirmed' }],
    });
  });

  test('before the file is moved, and a change of its items since, leave one result, in the right folder', async () => {
    dropPlans('a.json', 'P1');
    await take(open());
    await written();
    await finish(open(), outcome('P1', 'rejected'));
    expect([everythingIn('failed'), everythingIn('done')]).toEqual([FINISHED, []]);
    expect(results('failed/a.json')).toEqual([['P1', PLAN_START, 'rejected']]);
  });

  test('between result and table, and a change of its items since, leave one of each, in the right folder', async () => {
    dropPlans('a.json', 'P1');
    await take(open());
    const { rename } = promises;
    const restore = () => {
      promises.rename = rename;
      syncBuiltinESMExports();
    };
    onTestFinished(restore);
    promises.rename = async (from, to) => {
      if (String(to).endsWith('.result.csv')) throw new Error('cut');
      await rename(from, to);
    };
    syncBuiltinESMExports();
    await expect(finish(open(), outcome('P1'))).rejects.toThrow();
    restore();
    expect(everythingIn('done')).toEqual(['a.json.result.json']);
    await finish(open(), outcome('P1', 'rejected'));
    expect([everythingIn('failed'), everythingIn('done')]).toEqual([FINISHED, []]);
  });

  test('is not assumed where the result of an earlier file was taken away, with or without the file', async () => {
    for (const place of ['done', 'failed']) {
      mkdirSync(join(folder, place));
      drop(`${place}/a.json.result.csv`, 'an earlier one');
    }
    drop('done/a.json', 'an earlier one');
    utimesSync(join(folder, 'failed/a.json.result.csv'), 1, 1);
    dropPlans('a.json', 'P1');
    const source = open();
    await take(source);
    await finish(source, outcome('P1'));
    for (const place of ['done', 'failed'])
      expect(readFileSync(join(folder, place, 'a.json.result.csv'), 'utf8')).toBe('an earlier one');
  });

  test('after the file was moved leaves it finished, and a new file of its name is read', async () => {
    dropPlans('a.json', 'P1');
    await take(open());
    const file = takenFile('a.json');
    await finish(open(), outcome('P1'));
    expect(await open().files?.contentOf(file)).toBeUndefined();
    taken.set('a.json', file);
    dropPlans('a.json', 'P2', 'P3');
    expect(codesOf(await take(open()))).toEqual(['P2', 'P3']);
  });

  test('and a folder that is in the way leave the file in its place', async () => {
    dropPlans('a.json', 'P1');
    const source = open();
    await take(source);
    mkdirSync(join(folder, 'done', 'a.json.result.json', 'in the way'), { recursive: true });
    await expect(finish(source, outcome('P1'))).rejects.toMatchObject({ code: 'erp_folder_unusable' });
    expect(inFolder()).toEqual(['a.json']);
    rmSync(join(folder, 'done', 'a.json.result.json'), { recursive: true });
    await finish(source, outcome('P1'));
    expect(inFolder('done')).toEqual(['a.json', 'a.json.result.json']);
  });
});

describe('finished files', () => {
  const HOUR = 3_600_000;
  function dropAged(path: string, ageMs: number): void {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    drop(path, '[]');
    const seconds = (clock.now() - ageMs) / 1_000;
    utimesSync(join(folder, path), seconds, seconds);
  }
  /** A finished file whose result has this age. */
  function finished(path: string, ageMs: number): void {
    dropAged(path, 3 * HOUR);
    for (const end of ['.result.csv', '.result.json']) dropAged(path + end, ageMs);
  }

  test('are removed with their results after their retention time', async () => {
    finished('done/old.json', 3 * HOUR);
    finished('failed/old.csv', 3 * HOUR);
    finished('done/new.json', HOUR);
    finished('done/new.result.csv', HOUR);
    const kept = everythingIn('done').filter((name) => !name.startsWith('old.'));
    // A crash left these.
    dropAged('done/cut-long-ago.json.result.csv', 3 * HOUR);
    dropAged('done/cut-now.json.result.csv', HOUR);
    await open({}, {}, 2 * HOUR).files?.removeExpired();
    expect(everythingIn('failed')).toEqual([]);
    expect(everythingIn('done')).toEqual(['cut-now.json.result.csv', ...kept]);
  });

  test('whose result the ERP has removed are kept as long, from their move', async () => {
    dropAged('failed/a.csv', 3 * HOUR);
    mkdirSync(join(folder, 'failed', 'a.person'));
    const { ctimeMs } = statSync(join(folder, 'failed/a.csv'));
    await removeExpired(folder, ctimeMs);
    expect(everythingIn('failed')).toEqual(['a.csv', 'a.person']);
    await removeExpired(folder, ctimeMs + 1);
    expect(everythingIn('failed')).toEqual(['a.person']);
  });

  test('are checked once an hour', async () => {
    const source = open({}, {}, 2 * HOUR);
    await source.files?.removeExpired();
    finished('done/a.json', 3 * HOUR);
    await clock.advance(HOUR - 1);
    await source.files?.removeExpired();
    expect(inFolder('done')).toEqual(['a.json', 'a.json.result.json']);
    await clock.advance(1);
    await source.files?.removeExpired();
    expect(inFolder('done')).toEqual([]);
  });

  test('of an unfinished write are removed too, once they are as old', async () => {
    const draft = (age: number) => `.a.json.${String(age).padStart(8, '0')}.tmp`;
    const old = (clock.now() - 3 * HOUR) / 1_000;
    for (const place of ['done', 'failed', 'returns']) {
      mkdirSync(join(folder, place));
      for (const name of [draft(1), '.own.tmp', 'P1.json']) {
        drop(`${place}/${name}`, '');
        utimesSync(join(folder, place, name), old, old);
      }
      drop(`${place}/${draft(2)}`, '');
      utimesSync(join(folder, place, draft(2)), clock.now() / 1_000, clock.now() / 1_000);
    }
    await open({}, {}, 2 * HOUR).files?.removeExpired();
    for (const place of ['done', 'failed', 'returns'])
      expect(inFolder(place)).toEqual([draft(2), '.own.tmp', 'P1.json']);
  });
});

test('an outcome without a file is a late result, on a line of its own', async () => {
  const source = open();
  await source.acknowledge([outcome('P1'), outcome('P2', 'rejected')]);
  await source.acknowledge([outcome('P1', 'cancelled')]);
  expect(lateResults()).toMatchObject([
    {
      told_at: '2026-05-17T12:00:00.000Z',
      external_code: 'P1',
      period_start: PLAN_START,
      state: 'confirmed',
    },
    { external_code: 'P2', state: 'rejected' },
    { external_code: 'P1', state: 'cancelled' },
  ]);
});

describe('returns', () => {
  test('are one file for each plan, and no code leads out of the folder', async () => {
    const source = open();
    await source.returnExecutions?.([stopOutcome('../../evil', '1', 'E'), stopOutcome('../../evil', '2', 'D')]);
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
    await source.returnExecutions?.([stopOutcome('R7', '1', 'E'), stopOutcome('R7', '1', 'D', NEXT_DAY)]);
    await source.returnExecutions?.([stopOutcome('R7', '2', 'E', '2026-05-19T02:59:00.000Z')]);
    await source.returnExecutions?.([stopOutcome('R7', '1', 'P', null)]);
    expect(inFolder('returns')).toEqual(['R7.2026-05-18.json', 'R7.2026-05-19.json', 'R7.json']);
    expect(returnIn('R7.2026-05-18.json').stops).toMatchObject([{ status: 'E' }, { status: 'E' }]);
    expect(returnIn('R7.2026-05-19.json')).toMatchObject({
      plan_external_code: 'R7',
      plan_period_start: NEXT_DAY,
      stops: [{ point_external_code: '1', status: 'D' }],
    });
  });

  test('of a code whose older use has left its file start the file again', async () => {
    const source = open();
    await source.returnExecutions?.([stopOutcome('R7', '1', 'E'), stopOutcome('R7', '2', 'E')]);
    await source.returnExecutions?.([stopOutcome('R7', '2', 'D', null)]);
    expect(returnIn('R7.json')).toMatchObject({
      plan_period_start: PLAN_START,
      stops: [{ status: 'E' }, { status: 'D' }],
    });
    await source.returnExecutions?.([stopOutcome('R7', '1', 'D', NEXT_DAY)]);
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
    await open().returnExecutions?.([stopOutcome('R7', '2', 'E')]);
    expect(returnIn('R7.json')).toMatchObject({
      plan_period_start: PLAN_START,
      stops: [...stops, { status: 'E' }],
    });
  });

  test('written at the same time are all kept', async () => {
    const source = open();
    const points = Array.from({ length: 8 }, (_, i) => `${i}`);
    await Promise.all(points.map((point) => source.returnExecutions?.([stopOutcome('P1', point, 'E')])));
    expect(JSON.parse(readFileSync(join(folder, 'returns', 'P1.json'), 'utf8')).stops).toHaveLength(8);
  });

  test('that another program has overwritten are an error', async () => {
    mkdirSync(join(folder, 'returns'));
    drop('returns/P1.json', 'scribble');
    await expect(open().returnExecutions?.([stopOutcome('P1', '1', 'E')])).rejects.toThrow('P1.json');
  });
});
