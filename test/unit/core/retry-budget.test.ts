import { describe, expect, it } from 'vitest';
import { createRetryBudget, createRetryBudgets } from '../../../src/core/retry/retry-budget.ts';

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

describe('the budgets of runs', () => {
  it('are one for each run', () => {
    const budgetOf = createRetryBudgets();
    expect(takeAll(budgetOf('a'))).toBe(20);
    expect(takeAll(budgetOf('a'))).toBe(0);
    expect(takeAll(budgetOf('b'))).toBe(20);
  });

  it('are kept of the hundred runs that asked last', () => {
    const budgetOf = createRetryBudgets();
    for (let run = 1; run <= 100; run++) budgetOf(`${run}`).take();
    expect(takeAll(budgetOf('1'))).toBe(19);
    budgetOf('101');
    expect(takeAll(budgetOf('1'))).toBe(0);
    expect(takeAll(budgetOf('3'))).toBe(19);
    expect(takeAll(budgetOf('2'))).toBe(20);
  });
});
