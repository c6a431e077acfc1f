// A sample of test/prove/push-many.ts: plans of one file, the process killed with -9 while they are sent.
import { expect, it } from 'vitest';
import { pushManyKilled } from '../support/push/push-many.ts';

const PLANS = 200;

it('all plans of a large file are sent once, although the push is killed half-way', async () => {
  const kill = { at: 100, step: 'answer arrived', where: 'after an answer, before it is stored' };
  const { arrived, ...rest } = await pushManyKilled(PLANS, [kill]);
  expect(rest).toEqual({ twice: 0, lost: 0, open: 0 });
  expect(arrived).toHaveLength(1);
  expect(arrived[0]).toBeGreaterThan(10);
  expect(arrived[0]).toBeLessThan(PLANS);
});
