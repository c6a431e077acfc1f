// What a listing of the service proves about what is there, record by record.
import { describe, expect, it } from 'vitest';
import { fieldText, seenRecords } from '../../src/sync/push/push-listing.ts';

const keyOf = ({ code }: { code?: unknown }) => fieldText(code);

describe('a listing', () => {
  it.each<[unknown, number]>([
    [7, 7],
    ['7', 7],
    ['120', 120],
    [0, 0],
  ])('shows a record by its identifier %j', (id, number) => {
    const record = { id, code: 'P1', status: 'done' };
    expect(seenRecords([record], keyOf)).toEqual([{ id: number, key: 'P1', status: 'done', record }]);
  });

  it.each([
    undefined,
    null,
    '',
    'x',
    '7x',
    'x7',
    ' 7',
    '1.5',
    '7e3',
    '0x10',
    1.5,
    true,
    [7],
    '9007199254740993',
  ])('with a record whose identifier is %j is none', (id) => {
    const listing = [
      { id: 1, code: 'P0' },
      { id, code: 'P1' },
    ];
    expect(() => seenRecords(listing, keyOf)).toThrow(expect.objectContaining({ code: 'bad_answer' }));
  });

  it('with something that is no record is none', () => {
    for (const one of [null, 'text', 7, []])
      expect(() => seenRecords([one], keyOf)).toThrow(expect.objectContaining({ code: 'bad_answer' }));
  });

  it('tells no key and no status where the service tells none in words', () => {
    expect(seenRecords([{ id: 1 }, { id: 2, code: {}, status: 5 }], keyOf)).toMatchObject([
      { id: 1, key: '', status: null },
      { id: 2, key: '', status: null },
    ]);
  });

  it('tells a record once, as it was listed last', () => {
    const listed = [
      { id: 1, code: 'P1', status: 'planned' },
      { id: '1', code: 'P1', status: 'done' },
    ];
    expect(seenRecords(listed, keyOf)).toMatchObject([{ id: 1, status: 'done' }]);
  });

  it('has a code that is a number as its text', () => {
    expect([fieldText('7'), fieldText(7), fieldText(null), fieldText({}), fieldText(true)]).toEqual([
      '7',
      '7',
      undefined,
      undefined,
      undefined,
    ]);
  });
});
