// Batches of a feed come out of the spool as they went in, whatever their texts contain.
import { expect, test } from 'vitest';
import { createSpool } from '../../../src/sync/push/spool.ts';

test('parts come back in order, also with every kind of line end in their texts', async () => {
  const spool = createSpool<{ text: string }>();
  const parts = ['first', 'a\nb', 'a\r\nb', 'a\u2028b', 'a\u2029b', 'a\u0085b', '"\\u2028"'].map((text) => ({ text }));
  for (const part of parts) await spool.add(part);
  const drained: unknown[] = [];
  for await (const part of spool.drain()) drained.push(part);
  expect(drained).toEqual(parts);
});
