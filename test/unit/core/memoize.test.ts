import { expect, test } from 'vitest';
import { memoize } from '../../../src/core/memoize.ts';

test('a memoized function computes each argument once, and only as many results stay as the limit says', () => {
  const computed: string[] = [];
  const upper = memoize(2, (text: string) => {
    computed.push(text);
    return text.toUpperCase();
  });
  expect(['a', 'b', 'a', 'c', 'a'].map((text) => upper(text))).toEqual(['A', 'B', 'A', 'C', 'A']);
  expect(computed).toEqual(['a', 'b', 'c', 'a']);
});

test('a memoized function that `map` calls ignores the index and the list', () => {
  let computed = 0;
  const lengthOf = memoize(10, (text: string) => {
    computed += 1;
    return text.length;
  });
  expect(['ab', 'ab', 'abc'].map(lengthOf)).toEqual([2, 2, 3]);
  expect(computed).toBe(2);
});
