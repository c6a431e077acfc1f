import { describe, expect, it } from 'vitest';
import { createRetryBudget } from '../../src/core/retry/retry-budget.ts';

const takeAll = (budget: ReturnType<typeof createRetryBudget>): number => {
  let taken = 0;
  while (taken < 100 && budget.take()) taken += 1;
  return taken;
};

describe('the retry budget', () => {
  it('has twenty retries in reserve, then one for every five requests', () => {
    const budget = createRetryBudget();
    expect(takeAll(budget)).toBe(20);
    for (let i = 0; i < 4; i++) budget.earn();
    expect(budget.take()).toBe(false);
    budget.earn();
    expect(takeAll(budget)).toBe(1);
  });

  it('saves up no more than the reserve', () => {
    const budget = createRetryBudget();
    for (let i = 0; i < 1_000; i++) budget.earn();
    expect(takeAll(budget)).toBe(20);
  });
});
