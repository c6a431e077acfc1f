// A code may occur once in a read: a repeated code is a read error, which invalidates the items that it names.
import { describe, expect, test } from 'vitest';
import { inBatches } from '../../../src/erp/batches.ts';
import type { ParsedItem } from '../../../src/erp/items/item.ts';
import type { ErpBatch } from '../../../src/erp/source.ts';
import { turnsDuring } from '../../support/measure/turns.ts';

const item = (externalCode: string, startDay: string, origin = 'row'): ParsedItem => ({
  item: { externalCode, startDay, data: {}, origin },
});
const readError = (externalCode: string, startDay?: string): ParsedItem => ({
  readError: { externalCode, ...(startDay !== undefined && { startDay }), origin: 'row', reason: 'bad cell' },
});

async function batchesOf(parsedItems: readonly ParsedItem[], reuseCodes = false): Promise<ErpBatch[]> {
  const batches: ErpBatch[] = [];
  for await (const batch of inBatches('feed', parsedItems, { reuseCodes })) batches.push(batch);
  return batches;
}

async function read(parsedItems: readonly ParsedItem[], reuseCodes: boolean): Promise<ErpBatch> {
  const batches = await batchesOf(parsedItems, reuseCodes);
  expect(batches).toHaveLength(1);
  return batches[0] as ErpBatch;
}

const itemsIn = ({ items }: ErpBatch) => items.map(({ externalCode, startDay }) => [externalCode, startDay]);
const errorsIn = ({ readErrors }: ErpBatch) => readErrors.map(({ externalCode, startDay }) => [externalCode, startDay]);

const other = item('R8', '18');

describe('where codes are not reused', () => {
  test.each<[string, ParsedItem[], (string | undefined)[]]>([
    ['on the same day', [item('R7', '18'), item('R7', '18')], ['18']],
    ['on another day', [item('R7', '18'), item('R7', '19')], [undefined]],
    ['after a read error of another day', [readError('R7', '18'), item('R7', '19')], ['18', undefined]],
    ['as a read error of another day', [item('R7', '18'), readError('R7', '19')], [undefined]],
    ['as several read errors of one day', [readError('R7', '18'), readError('R7', '18')], ['18', '18']],
  ])('a code that is repeated %s gives no item', async (_when, parsedItems, days) => {
    const batch = await read([...parsedItems, other], false);
    expect(itemsIn(batch)).toEqual([['R8', '18']]);
    expect(errorsIn(batch)).toEqual(days.map((day) => ['R7', day]));
  });

  test('the reason names the first place and the setting', async () => {
    const { readErrors } = await read([item('R7', '18', 'row 2'), item('R7', '19', 'row 9')], false);
    expect(readErrors).toMatchObject([{ origin: 'row 9' }]);
    expect(readErrors[0]?.reason).toMatch(/already read at row 2; .*use each code once; .*reuse_codes/);
  });
});

describe('where codes are reused', () => {
  test('items of one code on different days are different items', async () => {
    const batch = await read([item('R7', '18'), item('R7', '19'), other], true);
    expect(itemsIn(batch)).toEqual([
      ['R7', '18'],
      ['R7', '19'],
      ['R8', '18'],
    ]);
    expect(batch.readErrors).toEqual([]);
  });

  test.each<[string, ParsedItem[], string[], (string | undefined)[]]>([
    ['of its own day', [item('R7', '18'), item('R7', '19'), item('R7', '18')], ['19'], ['18']],
    [
      'that cannot be read, of its own day',
      [item('R7', '18'), item('R7', '19'), readError('R7', '18')],
      ['19'],
      ['18'],
    ],
    [
      'that could not be read before',
      [readError('R7', '18'), item('R7', '18'), item('R7', '19')],
      ['19'],
      ['18', '18'],
    ],
    [
      'of an unknown day: it may be any of them',
      [item('R7', '18'), item('R7', '19'), readError('R7')],
      [],
      [undefined],
    ],
    ['whose start cannot be read', [item('R7', '18'), item('R7', ''), item('R7', '19')], [], [undefined, undefined]],
    ['whose start could not be read before', [readError('R7'), item('R7', '18')], [], [undefined, undefined]],
  ])('an item is invalidated by another %s', async (_what, parsedItems, left, days) => {
    const batch = await read([...parsedItems, other], true);
    expect(itemsIn(batch)).toEqual([...left.map((day) => ['R7', day]), ['R8', '18']]);
    expect(errorsIn(batch)).toEqual(days.map((day) => ['R7', day]));
  });

  test('kinds without a period have each code once', async () => {
    const batch = await read([item('A1', ''), item('A1', '')], true);
    expect([itemsIn(batch), errorsIn(batch)]).toEqual([[], [['A1', undefined]]]);
  });
});

describe('a long read', () => {
  const MEGABYTE = 1024 * 1024;
  const large = (code: string, characters: number): ParsedItem => ({
    item: { externalCode: code, startDay: '', data: { notes: 'x'.repeat(characters) }, origin: 'row' },
  });

  test('of large items gives batches of at most 8 MB, and no empty one', async () => {
    const sizes = [1, 1, 3.9, 3.9, 3.9, 0.1, 3.9, ...Array.from({ length: 20 }, () => 1)];
    const parsedItems = sizes.map((size, i) => large(`R${i}`, size * MEGABYTE));
    const batches = await batchesOf(parsedItems);
    for (const { items } of batches) {
      expect(items.length).toBeGreaterThan(0);
      expect(JSON.stringify(items).length).toBeLessThanOrEqual(8 * MEGABYTE);
    }
    expect(batches.map(({ part }) => part)).toEqual(batches.map((_, i) => i + 1));
    expect(batches.flatMap(itemsIn)).toEqual(sizes.map((_, i) => [`R${i}`, '']));
  });

  test('gives no item that is too large, and gives the others', async () => {
    const batches = await batchesOf([large('R1', 20 * MEGABYTE), large('R2', MEGABYTE)]);
    expect(batches.map(itemsIn)).toEqual([[['R2', '']]]);
    expect(batches[0]?.readErrors).toEqual([
      { origin: 'row', externalCode: 'R1', reason: 'is larger than 4 MB; split it' },
    ]);
  });

  const TOO_MANY = {
    origin: 'feed',
    reason: 'has more than 500,000 items, or codes of more than 64 MB; split it; no item of it was read',
  };

  test.each<[string, number, (i: number) => ParsedItem]>([
    ['items', 500_000, (i) => item(`R${i}`, '')],
    ['long codes', 64, (i) => readError(`${i}`.padEnd(MEGABYTE, 'x'))],
  ])('of too many %s ends with one read error in place of all parts', async (_what, most, nth) => {
    let given = 0;
    const parsedItems = (function* () {
      while (given < 2 * most) yield nth(given++);
    })();
    let last: ErpBatch | undefined;
    for await (const batch of inBatches('feed', parsedItems, { reuseCodes: true })) last = batch;
    expect(last).toEqual({ name: 'feed', part: 1, last: true, items: [], readErrors: [TOO_MANY] });
    expect(given).toBe(most + 1);
  });

  test('lists one error of each item after 10,000 errors', async () => {
    const many = (code: string) => Array.from({ length: 200 }, () => readError(code));
    const codes = Array.from({ length: 200 }, (_, i) => `R${i}`);
    const readErrors = (await batchesOf(codes.flatMap(many))).flatMap((batch) => batch.readErrors);
    const counts = codes.map((code) => readErrors.filter(({ externalCode }) => externalCode === code).length);
    expect(counts).toEqual([...Array(100).fill(100), ...Array(100).fill(1)]);
    expect(readErrors.at(-1)).toEqual({ origin: 'feed', reason: '29900 more errors are not listed' });
  });

  test('yields to the event loop', async () => {
    const parsedItems = Array.from({ length: 10_000 }, (_, i) => item(`R${i}`, ''));
    expect(await turnsDuring(inBatches('feed', parsedItems, { reuseCodes: false }))).toBeGreaterThanOrEqual(20);
  });

  test('lists the first errors without an item, and counts the others', async () => {
    const error: ParsedItem = { readError: { origin: 'row', reason: 'is not an object' } };
    const batches = await batchesOf([...Array.from({ length: 3_000 }, () => error), other]);
    const readErrors = batches.flatMap((batch) => batch.readErrors);
    expect(readErrors).toHaveLength(1_001);
    expect(readErrors.at(-1)).toEqual({ origin: 'feed', reason: '2000 more errors are not listed' });
    expect(batches.flatMap(itemsIn)).toEqual([['R8', '18']]);
  });

  test('lists the first errors of each item and day, and every item that has one', async () => {
    const many = (code: string, day: string) => Array.from({ length: 300 }, () => readError(code, day));
    const batches = await batchesOf([item('R7', '18'), ...many('R7', '19'), ...many('R7', '18'), other], true);
    const readErrors = batches.flatMap((batch) => batch.readErrors);
    const ofDay = (day: string) => readErrors.filter(({ startDay }) => startDay === day);
    expect([ofDay('18').length, ofDay('19').length]).toEqual([100, 100]);
    expect(readErrors.at(-1)).toEqual({ origin: 'feed', reason: '400 more errors are not listed' });
    expect(batches.flatMap(itemsIn)).toEqual([['R8', '18']]);
  });
});
