// The result of a dropped file with many items: written in chunks, and the same as if it were written at once.
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { resultOf, resultTable, resultText } from '../../../src/erp/files/result.ts';
import type { FileContent, ItemOutcome } from '../../../src/erp/source.ts';

const OUTCOMES = Array.from(
  { length: 5_000 },
  (_, i): ItemOutcome => ({
    externalCode: `P${i}`,
    periodStart: null,
    state: 'rejected',
    remoteId: null,
    message: null,
    reasons: ['name: is missing', '=1+1'],
  }),
);
const CONTENT: FileContent = {
  items: OUTCOMES.map((_, i) => ({ row: i + 2 })) as unknown as FileContent['items'],
  readErrors: [{ origin: 'a.csv row 9', reason: 'cut off' }],
};
const INSTANTS = { read_at: '2026-05-04T12:00:00.000Z', finished_at: '2026-05-04T12:01:00.000Z' };

/** The text, and the turns that the event loop had meanwhile. */
async function written(chunks: AsyncIterable<string>): Promise<{ whole: string; turns: number }> {
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const whole = await text(chunks);
  isOver = true;
  return { whole, turns };
}

it('is the JSON of the whole, and the event loop goes on meanwhile', async () => {
  const result = resultOf('a.csv', CONTENT, OUTCOMES, INSTANTS);
  const { whole, turns } = await written(resultText(result));
  expect(whole).toBe(`${JSON.stringify(result, undefined, 2)}\n`);
  expect(turns).toBeGreaterThanOrEqual(10);
  const empty = resultOf('a.csv', { items: [], readErrors: [] }, [], INSTANTS);
  expect(await text(resultText(empty))).toBe(`${JSON.stringify(empty, undefined, 2)}\n`);
});

it('is a table with a line for each reason and one head, and the event loop goes on meanwhile', async () => {
  const table = resultTable('a.csv', CONTENT, OUTCOMES, { language: 'en', places: () => undefined });
  const { whole, turns } = await written(table);
  const lines = whole.split('\r\n');
  expect(lines).toHaveLength(1 + 2 * OUTCOMES.length + 1 + 1);
  expect(lines[0]).toMatch(/^\ufeffrow,code,/);
  expect(lines.slice(1, 3)).toEqual(['2,P0,rejected,name: is missing,,', "2,P0,rejected,'=1+1,,"]);
  expect(lines.filter((line) => line.includes('\ufeff') || line.includes('code,'))).toHaveLength(1);
  expect(turns).toBeGreaterThanOrEqual(10);
});
