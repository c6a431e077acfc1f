// Bounds the retries of all calls of a run: a small reserve, then one retry for every five requests. When the service is
// down, retries stay a fraction of the traffic instead of multiplying it. Each run has its own budget, so that a run in an
// outage does not use up the retries of the next one.

/** Retries available at the start, which is the largest balance, and the fraction of a retry that one request adds. */
export const RETRY_BUDGET = { reserve: 20, perRequest: 0.2 };

/** Budgets of older runs are forgotten. */
const MOST_RUNS = 100;

export function createRetryBudgets(): (runId: string) => RetryBudget {
  const budgets = new Map<string, RetryBudget>();
  return (runId) => {
    const budget = budgets.get(runId) ?? createRetryBudget();
    // A map keeps insertion order: the run that was asked for last becomes the newest.
    budgets.delete(runId);
    budgets.set(runId, budget);
    const [oldest = runId] = budgets.keys();
    if (budgets.size > MOST_RUNS) budgets.delete(oldest);
    return budget;
  };
}

export type RetryBudget = ReturnType<typeof createRetryBudget>;

export function createRetryBudget() {
  const { reserve, perRequest } = RETRY_BUDGET;
  let balance = reserve;
  return {
    /** Call once for each request: it earns a fraction of a retry. */
    earn(): void {
      balance = Math.min(reserve, balance + perRequest);
    },
    /** Takes one retry from the budget; false if none is left. */
    take(): boolean {
      // Rounding: five times 0.2 may be slightly less than 1.
      if (balance < 1 - 1e-9) return false;
      balance -= 1;
      return true;
    },
  };
}
